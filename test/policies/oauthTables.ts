import { hash, sessionId, throttles } from './insertWorld.ts';
import { applications, hasGrant, hashes, hasUser, itself, organization, users } from './rows.ts';
import type { Table } from './table.ts';
import { keyOf } from './world.ts';

/** Tables of the OAuth server. */
export const oauthTables: Record<string, Table> = {
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
