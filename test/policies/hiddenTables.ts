import { hash, keptAnswers, keptKey, timeZones, webhookId } from './insertWorld.ts';
import { granted, has, hasUser, kept, none, organization, own, webhooks } from './rows.ts';
import type { Changes, Table } from './table.ts';
import { ancestors, keyOf } from './world.ts';

const keepsAnswers: Changes = {
  delete: true,
  insert: {
    into: `app_hidden.idempotency_keys (organization_id, application_id, principal_id, role, key_hash, answer_ciphertext)
           select $1, own, coalesce(app_hidden.current_user_id(), own), current_user, $2, $2
           from app_hidden.current_application_id() as own`,
    values: (_world, _organization, _number, fresh) => [fresh ? hash('new', '', '') : keptKey],
    exists: (world, _organization, _number, { role, claims }) =>
      keptAnswers(world).some((row) => kept(role)({ ...row, key: '' }, claims, world)),
    complete: (world, organization, _number, { claims: { application } }) =>
      world.applications.some((row) => row.organization === organization && row.application === application),
    refuses: ({ application }) => application === '',
  },
};

/** Tables of app_hidden, which the graph does not show. */
export const hiddenTables: Record<string, Table> = {
  'app_hidden.idempotency_keys': {
    key: `role || ' ' || application_id || ' ' || principal_id`,
    rows: (world) =>
      keptAnswers(world).map((row) => ({
        ...row,
        key: `${row.role} ${row.application} ${row.user ?? row.application}`,
      })),
    sees: { graph_app: kept('graph_app'), graph_user: kept('graph_user'), graph_basic: kept('graph_basic') },
    changes: { graph_app: keepsAnswers, graph_user: keepsAnswers, graph_basic: keepsAnswers },
  },
  'app_hidden.idempotency_usage': {
    key: 'slot',
    // By the first byte of the hash, which is the same everywhere.
    rows: (world) => world.organizations.map((organization) => ({ organization, key: '3' })),
    sees: { graph_app: organization, graph_user: organization, graph_basic: organization },
  },
  'app_hidden.organizations': {
    key: 'id',
    organization: 'id',
    rows: (world) => world.organizations.map((organization) => ({ organization, key: organization })),
    sees: {},
  },
  'app_hidden.time_zones': {
    key: 'name',
    organization: `''`,
    rows: () => timeZones.map((key) => ({ organization: '', key })),
    sees: { graph_app: (_row, claims) => claims.organization !== '' },
  },
  'app_hidden.unit_access': {
    key: `user_id || '/' || unit_id`,
    rows: (world) => world.access.map((row) => ({ ...row, key: `${row.user}/${row.unit}` })),
    sees: { graph_app: organization, graph_user: own, graph_basic: none },
    changes: {
      graph_app: {
        update: 'valid_until = null',
        delete: true,
        insert: {
          into: 'app_hidden.unit_access (organization_id, user_id, unit_id) values ($1, $2, $3)',
          key: 'unit_access_user_id_unit_id_source_key',
          values: (world, organization, number) => [
            keyOf(world, 'user', organization, number),
            keyOf(world, 'unit', organization, number),
          ],
          isPair: true,
          exists: (world, organization, number) => has(world, 'access', organization, ['user', 'unit'], number),
          complete: (world, organization, number) =>
            hasUser(world, organization, number) && has(world, 'units', organization, ['unit'], number),
        },
      },
    },
  },
  'app_hidden.unit_ancestors': {
    key: `ancestor_id || '/' || unit_id`,
    rows: (world) =>
      world.units.flatMap(({ organization, unit }) =>
        ancestors(world, organization, unit).map((ancestor) => ({
          organization,
          unit: ancestor,
          key: `${ancestor}/${unit}`,
        })),
      ),
    sees: { graph_app: organization, graph_user: granted },
  },
  'app_hidden.webhook_positions': {
    key: 'webhook_id',
    rows: webhooks,
    sees: { graph_app: organization },
    changes: {
      graph_app: {
        insert: {
          into: `app_hidden.webhook_positions (organization_id, webhook_id, origin, horizon, change_id, at)
                 values ($1, $2, 0, '0', 0, 'now')`,
          values: () => [webhookId],
          isPair: true,
          exists: (world, organization) => world.organizations.includes(organization),
          complete: () => false,
        },
      },
    },
  },
};
