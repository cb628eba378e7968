import { email, externalIdentifier, webhookId } from './insertWorld.ts';
import {
  accessible,
  applications,
  assigned,
  has,
  hasUser,
  itself,
  none,
  organization,
  own,
  users,
  webhooks,
} from './rows.ts';
import type { Table } from './table.ts';
import { assignmentKey, keyOf } from './world.ts';

/** Tables and views of app_public, which the graph shows. */
export const publicTables: Record<string, Table> = {
  'app_public.access_grants': {
    view: true,
    key: `user_id || '/' || unit_id`,
    rows: (world) => world.access.map((row) => ({ ...row, key: `${row.user}/${row.unit}` })),
    sees: { graph_app: organization, graph_user: own, graph_basic: none },
  },
  'app_public.app': { view: true, key: 'id', rows: applications, sees: { graph_app: itself } },
  'app_public.card_assignments': {
    key: 'id',
    rows: (world) => world.assignments.map((row) => ({ ...row, key: assignmentKey(row.user, row.card) })),
    sees: { graph_app: organization, graph_user: own, graph_basic: none },
    changes: {
      graph_app: {
        delete: true,
        insert: {
          into: 'app_public.card_assignments (organization_id, user_id, card_id) values ($1, $2, $3)',
          key: 'card_assignments_card_id_user_id_key',
          values: (world, organization, number) => [
            keyOf(world, 'user', organization, number),
            keyOf(world, 'card', organization, number),
          ],
          isPair: true,
          exists: (world, organization, number) => has(world, 'assignments', organization, ['user', 'card'], number),
          complete: (world, organization, number) =>
            hasUser(world, organization, number) && has(world, 'cards', organization, ['card'], number),
        },
      },
    },
  },
  'app_public.cards': {
    key: 'id',
    rows: (world) => world.cards.map((row) => ({ ...row, key: row.card })),
    sees: { graph_app: organization, graph_user: assigned, graph_basic: none },
    changes: {
      graph_app: {
        update: `name = 'x'`,
        delete: true,
        insert: {
          into: `app_public.cards (organization_id, type, external_identifier, name) values ($1, 'IdentificationCode', $2, $2)`,
          key: 'cards_external_identifier_key',
          values: (world, organization, number, fresh) => [
            externalIdentifier(keyOf(world, 'card', organization, fresh ? number + 50 : number)),
          ],
          exists: (world, organization, number) => has(world, 'cards', organization, ['card'], number),
          complete: (world, organization) => world.organizations.includes(organization),
        },
      },
    },
  },
  'app_public.units': {
    key: 'id',
    rows: (world) => world.units.map((row) => ({ ...row, key: row.unit })),
    sees: { graph_app: organization, graph_user: accessible, graph_basic: none },
    changes: {
      graph_app: {
        update: `name = 'x'`,
        delete: true,
        keeps: ({ organization, key }, world) =>
          world.units.some((row) => row.organization === organization && row.parent === key),
        insert: {
          into: 'app_public.units (organization_id, external_identifier, name) values ($1, $2, $2)',
          key: 'units_external_identifier_key',
          values: (world, organization, number, fresh) => [
            externalIdentifier(keyOf(world, 'unit', organization, fresh ? number + 50 : number)),
          ],
          exists: (world, organization, number) => has(world, 'units', organization, ['unit'], number),
          complete: (world, organization) => world.organizations.includes(organization),
        },
      },
    },
  },
  'app_public.users': {
    key: 'id',
    rows: users,
    sees: { graph_app: organization, graph_user: own, graph_basic: none, graph_oauth: organization },
    changes: {
      graph_app: {
        update: `full_name = 'x'`,
        delete: true,
        insert: {
          into: 'app_public.users (organization_id, id, external_identifier, full_name, email) values ($1, $2, $3, $4, $4)',
          // Without claims no time zone is seen.
          refusedWithoutClaims: '23514',
          values: (world, organization, number, fresh) => {
            const user = keyOf(world, 'user', organization, fresh ? number + 50 : number);
            return [user, externalIdentifier(user), email(user)];
          },
          exists: hasUser,
          complete: (world, organization) => world.organizations.includes(organization),
        },
      },
    },
  },
  'app_public.webhook_deliveries': {
    key: 'id',
    rows: webhooks,
    sees: { graph_app: organization, graph_user: none, graph_basic: none },
    changes: { graph_app: { update: 'attempts = 0' } },
  },
  'app_public.webhooks': {
    key: 'id',
    rows: webhooks,
    sees: { graph_app: organization, graph_user: none, graph_basic: none },
    changes: {
      graph_app: {
        update: 'enabled = false',
        delete: true,
        insert: {
          into: `app_public.webhooks (organization_id, id, url, secret_ciphertext)
                 values ($1, $2, 'https://example.com', sha256('x'))`,
          values: (world, organization, number, fresh) => [
            fresh ? keyOf(world, 'user', organization, number + 50) : webhookId,
          ],
          exists: (world, organization) => world.organizations.includes(organization),
          complete: (world, organization) => world.organizations.includes(organization),
        },
      },
    },
  },
};
