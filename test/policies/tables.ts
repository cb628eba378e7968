import {
  email,
  externalIdentifier,
  hash,
  keptAnswers,
  keptKey,
  sessionId,
  throttles,
  timeZones,
  webhookId,
} from './insertWorld.ts';
import type { Claims, Principal, Role } from './principals.ts';
import { ancestors, assignmentKey, keyOf, type World } from './world.ts';

/** A row as the oracle knows it: what it is called in its organization, and whose it is. */
export type Row = {
  organization: string;
  key: string;
  application?: string;
  user?: string | null;
  unit?: string;
  card?: string;
  role?: Role;
};

type Sees = (row: Row, claims: Claims, world: World) => boolean;

export type Table = {
  view?: true;
  /** An SQL expression that makes a row's `key`. */
  key: string;
  /** For rows of no organization: the SQL expression that stands for it. */
  organization?: string;
  rows(world: World): Row[];
  /** Which rows each role sees. A role that is absent here is refused. */
  sees: Partial<Record<Role, Sees>>;
  /** How each role changes the rows that it sees. A role or command that is absent here is refused. */
  changes?: Partial<Record<Role, Changes>>;
};

export type Changes = {
  /** An assignment that is allowed, of a constant: then nothing but the policy of updates chooses the rows. */
  update?: string;
  /** Whether organization_id may be set, too; then the policy alone keeps a row where it is. */
  movable?: true;
  delete?: true;
  /** Whether others refer to a row and do not go along when it alone is deleted. */
  keeps?: (row: Row, world: World) => boolean;
  insert?: Insert;
};

/** A new row, for the `number`th person or grant of an organization; when it is not `fresh`, its key may be taken. */
export type Insert = {
  /** With the organization as $1. */
  into: string;
  /** The constraint that reports that its key is taken; the primary key unless given. */
  key?: string;
  values(world: World, organization: string, number: number, fresh: boolean): string[];
  exists(world: World, organization: string, number: number, principal: Principal): boolean;
  /** Whether its key follows from the rows that it points to, so that a fresh one may be taken, too. */
  isPair?: true;
  /** The SQLSTATE without claims, where a trigger refuses the row before the policy does. */
  refusedWithoutClaims?: string;
  /** Whether the organization has everything that it points to. */
  complete(world: World, organization: string, number: number, principal: Principal): boolean;
  /** Whether the policy refuses it although the organization is the claim's. */
  refuses?(claims: Claims): boolean;
};

const organization: Sees = (row, claims) => row.organization === claims.organization;
const own: Sees = (row, claims) => row.organization === claims.organization && row.user === claims.user;
const itself: Sees = (row, claims) =>
  row.organization === claims.organization && row.application === claims.application;
const kept =
  (role: Role): Sees =>
  (row, claims) =>
    row.organization === claims.organization &&
    row.application === claims.application &&
    (row.user ?? '') === claims.user &&
    row.role === role;
const none: Sees = () => false;
const granted: Sees = (row, claims, world) =>
  world.access.some(
    (access) =>
      access.organization === row.organization &&
      access.unit === row.unit &&
      own({ ...access, key: '' }, claims, world),
  );
const accessible: Sees = (row, claims, world) =>
  ancestors(world, row.organization, row.unit ?? '').some((unit) => granted({ ...row, unit }, claims, world));
const assigned: Sees = (row, claims, world) =>
  world.assignments.some(
    (assignment) =>
      assignment.organization === row.organization &&
      assignment.card === row.card &&
      own({ ...assignment, key: '' }, claims, world),
  );

const webhooks = (world: World) => world.organizations.map((organization) => ({ organization, key: webhookId }));
const users = (world: World) => world.users.map((row) => ({ ...row, key: row.user }));
const applications = (world: World) => world.applications.map((row) => ({ ...row, key: row.application }));
const hashes = (what: string) => (world: World) =>
  world.grants.map((row) => ({ ...row, key: hash(what, row.organization, row.grant) }));

/** Whether the organization has a row of the objects with this number. */
const has = <Kind extends 'user' | 'unit' | 'card'>(
  world: World,
  rows: 'units' | 'cards' | 'access' | 'assignments',
  organization: string,
  kinds: readonly Kind[],
  number: number,
) =>
  (world[rows] as readonly ({ organization: string } & Record<Kind, string>)[]).some(
    (row) =>
      row.organization === organization &&
      kinds.every((kind) => row[kind] === keyOf(world, kind, organization, number)),
  );
const hasUser = (world: World, organization: string, number: number) =>
  world.users.some(
    (row) => row.organization === organization && row.user === keyOf(world, 'user', organization, number),
  );
const hasGrant = (world: World, organization: string, number: number) =>
  world.grants.some(
    (row) => row.organization === organization && row.grant === keyOf(world, 'grant', organization, number),
  );

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

/** Every table and view of the database: what its rows are, and who sees and changes which. */
export const tables: Record<string, Table> = {
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
  'feed.changes': {
    key: 'organization_id',
    rows: (world) => world.organizations.map((organization) => ({ organization, key: organization })),
    sees: { graph_app: organization },
  },
  'oauth.access_tokens': {
    key: 'token_hash',
    rows: hashes('access'),
    sees: { graph_oauth: organization },
    changes: {
      graph_oauth: {
        update: `expires_at = 'now'`,
        movable: true,
        delete: true,
        insert: {
          into: `oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
                 values ($1, $2, $3, '{me}', 'now', 'tomorrow')`,
          values: (world, organization, number, fresh) => {
            const grant = keyOf(world, 'grant', organization, number);
            return [hash(fresh ? 'new' : 'access', organization, grant), grant];
          },
          exists: hasGrant,
          complete: hasGrant,
        },
      },
    },
  },
  'oauth.application_secrets': { key: 'application_id', rows: applications, sees: {} },
  'oauth.applications': { key: 'id', rows: applications, sees: { graph_app: itself, graph_oauth: organization } },
  'oauth.authorization_codes': {
    key: 'code_hash',
    rows: (world) => hashes('code')(world).filter(({ user }) => user !== null),
    sees: { graph_oauth: organization },
    changes: {
      graph_oauth: {
        update: `used_at = 'now'`,
        movable: true,
        delete: true,
        insert: {
          into: `oauth.authorization_codes (
                   organization_id, code_hash, user_id, application_id, scopes, redirect_uri, code_challenge, expires_at)
                 values ($1, $2, $3, $4, '{me}', 'http://127.0.0.1/', repeat('x', 43), 'tomorrow')`,
          values: (world, organization, number, fresh) => [
            hash(fresh ? 'new' : 'code', organization, keyOf(world, 'grant', organization, number)),
            keyOf(world, 'user', organization, number),
            keyOf(world, 'application', organization, 0),
          ],
          exists: (world, organization, number) => number > 0 && hasGrant(world, organization, number),
          complete: hasUser,
        },
      },
    },
  },
  'oauth.consents': {
    key: 'consent_hash',
    rows: (world) => world.users.map((row) => ({ ...row, key: hash('consent', row.organization, row.user) })),
    sees: { graph_oauth: organization },
    changes: {
      graph_oauth: {
        delete: true,
        insert: {
          into: `oauth.consents (organization_id, consent_hash, sid, request_hash, expires_at)
                 values ($1, $2, $3, $2, 'tomorrow')`,
          values: (world, organization, number, fresh) => {
            const user = keyOf(world, 'user', organization, number);
            return [hash(fresh ? 'new' : 'consent', organization, user), sessionId({ organization, user })];
          },
          exists: hasUser,
          complete: hasUser,
        },
      },
    },
  },
  'oauth.credentials': {
    key: 'user_id',
    rows: users,
    sees: { graph_oauth: organization },
    changes: { graph_oauth: { update: `password_hash = '$argon2id$x'` } },
  },
  'oauth.grants': {
    key: 'id',
    rows: (world) => world.grants.map((row) => ({ ...row, key: row.grant })),
    sees: { graph_oauth: organization },
    changes: {
      graph_oauth: {
        update: `client_authentication = 'secret'`,
        movable: true,
        delete: true,
        insert: {
          into: `oauth.grants (organization_id, id, user_id, application_id, grant_type, scopes, client_authentication)
                 values ($1, $2, $3, $4, 'password', '{me}', 'none')`,
          values: (world, organization, number, fresh) => [
            keyOf(world, 'grant', organization, fresh ? number + 50 : number),
            keyOf(world, 'user', organization, number),
            keyOf(world, 'application', organization, 0),
          ],
          exists: hasGrant,
          complete: hasUser,
        },
      },
    },
  },
  'oauth.refresh_tokens': {
    key: 'token_hash',
    rows: hashes('refresh'),
    sees: { graph_oauth: organization },
    changes: {
      graph_oauth: {
        update: `expires_at = 'now'`,
        movable: true,
        delete: true,
        insert: {
          into: `oauth.refresh_tokens (
                   organization_id, token_hash, grant_id, scopes, created_at, expires_at, absolute_expires_at)
                 values ($1, $2, $3, '{me}', 'now', 'now', 'now')`,
          values: (world, organization, number, fresh) => {
            const grant = keyOf(world, 'grant', organization, number);
            return [hash(fresh ? 'new' : 'refresh', organization, grant), grant];
          },
          exists: hasGrant,
          complete: hasGrant,
        },
      },
    },
  },
  'oauth.sessions': {
    key: 'sid',
    rows: (world) => world.users.map((row) => ({ ...row, key: sessionId(row) })),
    sees: { graph_oauth: organization },
    changes: {
      graph_oauth: {
        update: `expire = 'tomorrow'`,
        delete: true,
        insert: {
          into: `oauth.sessions (organization_id, sid, sess, expire)
                 values ($1, $2, jsonb_build_object('userId', $3::text), 'tomorrow')`,
          values: (world, organization, number, fresh) => {
            const user = keyOf(world, 'user', organization, number);
            return [fresh ? 'n'.repeat(43) : sessionId({ organization, user }), user];
          },
          exists: hasUser,
          complete: hasUser,
        },
      },
    },
  },
  // Tries are counted before anybody has said where they belong.
  'oauth.throttles': {
    key: 'key',
    organization: `''`,
    rows: () => throttles.map((key) => ({ organization: '', key })),
    sees: { graph_oauth: () => true },
    changes: {
      graph_oauth: {
        update: 'points = 2',
        insert: {
          into: 'oauth.throttles (key, points, expire) values (coalesce($2, $1), 1, 1)',
          values: (_world, _organization, _number, fresh) => [fresh ? throttles[0].replace('0', '1') : throttles[0]],
          exists: () => true,
          complete: () => true,
        },
      },
    },
  },
};
