import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Claims, createRequests, type Outcome, type RequestRole, requestRoles } from './support.ts';
import { claimsOf, idOf, insertTwoOrganizations } from './twoOrganizations.ts';

/** What a role sees of a table: all rows, its organization's, the own ones, none, or that it may not look at all. */
type Sight = 'everything' | 'organization' | 'own' | 'none' | 'refused';

type Expected = {
  /** The column that ends in the number of the person whom a row belongs to; null where rows belong to nobody. */
  person: string | null;
  /** What begins with the letter of the organization whom a row belongs to. */
  organization?: string;
  sees: Partial<Record<RequestRole, Sight>>;
  /** Who changes rows: always those that the role sees. Nobody else changes any. */
  changes?: Partial<Record<RequestRole, { update?: string; delete?: true; insert?: string }>>;
};

/** Absent roles are refused. */
const expectations: Record<string, Expected> = {
  'app_hidden.organizations': { person: null, sees: {} },
  'app_hidden.time_zones': { person: null, sees: {} },
  'app_hidden.unit_access': { person: 'user_id', sees: { graph_user: 'own' } },
  'app_hidden.unit_ancestors': { person: 'unit_id', sees: { graph_user: 'own' } },
  'app_public.app': { person: 'id', sees: { graph_app: 'own' } },
  'app_public.card_assignments': {
    person: 'user_id',
    sees: { graph_app: 'organization', graph_user: 'own', graph_basic: 'none' },
  },
  'app_public.cards': { person: 'id', sees: { graph_app: 'organization', graph_user: 'own', graph_basic: 'none' } },
  'app_public.units': { person: 'id', sees: { graph_app: 'organization', graph_user: 'own', graph_basic: 'none' } },
  'app_public.users': {
    person: 'id',
    sees: { graph_app: 'organization', graph_user: 'own', graph_basic: 'none', graph_oauth: 'organization' },
    changes: {
      graph_app: {
        update: 'full_name',
        delete: true,
        insert: `insert into app_public.users (organization_id, full_name, email) values ($1, 'New', 'new@test')`,
      },
    },
  },
  'app_public.viewer': { person: 'id', sees: { graph_user: 'own' } },
  'oauth.access_tokens': {
    person: 'grant_id',
    sees: { graph_oauth: 'organization' },
    changes: {
      graph_oauth: {
        update: 'expires_at',
        delete: true,
        insert: `insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
                 values ($1, sha256('new'), $2, '{me}', now(), now())`,
      },
    },
  },
  'oauth.application_secrets': { person: 'application_id', sees: {} },
  'oauth.applications': { person: 'id', sees: { graph_app: 'own', graph_oauth: 'organization' } },
  'oauth.authorization_codes': {
    person: 'user_id',
    sees: { graph_oauth: 'organization' },
    changes: {
      graph_oauth: {
        update: 'used_at',
        delete: true,
        insert: `insert into oauth.authorization_codes (
                   organization_id, code_hash, application_id, user_id, scopes, redirect_uri, code_challenge, expires_at)
                 values ($1, sha256('new'), $2, $2, '{me}', 'http://127.0.0.1/', repeat('x', 43), now())`,
      },
    },
  },
  'oauth.consents': {
    person: 'sid',
    sees: { graph_oauth: 'organization' },
    changes: {
      graph_oauth: {
        delete: true,
        insert: `insert into oauth.consents (organization_id, consent_hash, sid, request_hash, expires_at)
                 values ($1, sha256('new'), lpad($2::text, 43, '0'), sha256('new'), now())`,
      },
    },
  },
  'oauth.credentials': {
    person: 'user_id',
    sees: { graph_oauth: 'organization' },
    changes: { graph_oauth: { update: 'password_hash' } },
  },
  'oauth.grants': {
    person: 'user_id',
    sees: { graph_oauth: 'organization' },
    changes: {
      graph_oauth: {
        update: 'scopes',
        delete: true,
        insert: `insert into oauth.grants (organization_id, application_id, user_id, grant_type, scopes, client_authentication)
                 values ($1, $2, $2, 'password', '{me}', 'none')`,
      },
    },
  },
  'oauth.refresh_tokens': {
    person: 'grant_id',
    sees: { graph_oauth: 'organization' },
    changes: {
      graph_oauth: {
        update: 'expires_at',
        delete: true,
        insert: `insert into oauth.refresh_tokens (
                   organization_id, token_hash, grant_id, scopes, created_at, expires_at, absolute_expires_at)
                 values ($1, sha256('new'), $2, '{me}', now(), now(), now())`,
      },
    },
  },
  'oauth.sessions': {
    person: 'sid',
    sees: { graph_oauth: 'organization' },
    changes: {
      graph_oauth: {
        update: 'expire',
        delete: true,
        insert: `insert into oauth.sessions (organization_id, sid, sess, expire)
                 values ($1, repeat('n', 43), jsonb_build_object('userId', $2::text), now())`,
      },
    },
  },
  // Counts tries before anybody has said where they belong.
  'oauth.throttles': {
    person: 'key',
    organization: 'key',
    sees: { graph_oauth: 'everything' },
    changes: {
      graph_oauth: {
        update: 'points',
        insert: `insert into oauth.throttles values (left($1, 1) || 'new:' || repeat('0', 43), 1, 1)`,
      },
    },
  },
};

const viewpoints: Record<string, Claims> = {
  A1: claimsOf('A1'),
  A2: claimsOf('A2'),
  B1: claimsOf('B1'),
  nobody: {},
  // Claims that no token makes: the organization must still bound whatever the rest says.
  'B1 in A': { ...claimsOf('B1'), organization: idOf('a', 0) },
};

describe('every table from every point of view', () => {
  let database: TestDatabase;
  let requests: ReturnType<typeof createRequests>;

  beforeAll(async () => {
    database = await createTestDatabase();
    await insertTwoOrganizations(database.owner);
    requests = createRequests(database.authUrl);
  });

  afterAll(async () => {
    await requests.end();
    await database.drop();
  });

  it('is described here', async () => {
    const { rows } = await database.owner.query<{ name: string }>(
      `select n.nspname || '.' || c.relname as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind not in ('i', 'I', 't', 'c') and n.nspname !~ '^(pg_|information_schema|graphile_|audit$)'`,
    );

    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(expectations).sort());
  });

  const tables = Object.entries(expectations).filter(
    ([name]) => !['app_public.viewer', 'app_public.app'].includes(name),
  );
  it.each(tables)('%s has rows of everybody, as its owner sees', async (table, expected) => {
    const { person } = expected;
    const { rows } = await database.owner.query(`select ${owners(expected) ?? '1'} from ${table}`);

    if (person) expect(labels(rows)).toEqual(everybody);
    else expect(rows.length).toBeGreaterThan(1);
  });

  const cases = Object.entries(expectations).flatMap(([table, expected]) =>
    requestRoles.map((role) => ({ table, role, ...expected, sight: expected.sees[role] ?? ('refused' as const) })),
  );

  it.each(cases)('$table: $role sees ($sight)', async ({ table, role, sight, ...expected }) => {
    const seen: Record<string, unknown> = {};
    for (const [name, claims] of Object.entries(viewpoints)) {
      seen[name] = labelsOf(await requests.attempt(role, claims, `select ${owners(expected) ?? '1'} from ${table}`));
    }

    expect(seen).toEqual(
      {
        everything: { A1: everybody, A2: everybody, B1: everybody, nobody: everybody, 'B1 in A': everybody },
        organization: { A1: ['A1', 'A2'], A2: ['A1', 'A2'], B1: ['B1', 'B2'], nobody: [], 'B1 in A': ['A1', 'A2'] },
        own: { A1: ['A1'], A2: ['A2'], B1: ['B1'], nobody: [], 'B1 in A': [] },
        none: { A1: [], A2: [], B1: [], nobody: [], 'B1 in A': [] },
        refused: { A1: refused, A2: refused, B1: refused, nobody: refused, 'B1 in A': refused },
      }[sight],
    );
  });

  it.each(cases)('$table: $role changes what it may and nothing else', async ({ table, role, sight, ...expected }) => {
    const { update, delete: deletes, insert } = expected.changes?.[role] ?? {};
    const column = update ?? expected.person ?? 'name';
    const returning = update || deletes ? `returning ${owners(expected)}` : '';
    const anywhere = sight === 'everything';
    const organization = anywhere ? { A1: everybody, nobody: everybody } : { A1: ['A1', 'A2'], nobody: [] };

    for (const name of ['A1', 'nobody'] as const) {
      const attempt = async (statement: string, values?: unknown[]) =>
        labelsOf(await requests.attempt(role, viewpoints[name] ?? {}, statement, values));

      const updated = await attempt(`update ${table} set ${column} = ${column} ${returning}`);
      expect({ updated }).toEqual({ updated: update ? organization[name] : refused });
      const deleted = await attempt(`delete from ${table} ${deletes ? returning : ''}`);
      expect({ deleted }).toEqual({ deleted: deletes ? organization[name] : refused });
      for (const letter of ['a', 'b']) {
        const inserted = insert
          ? await attempt(insert, [idOf(letter, 0), idOf(letter, 1)].slice(0, insert.includes('$2') ? 2 : 1))
          : await attempt(`insert into ${table} default values`);
        const allowed = insert && (anywhere || (name === 'A1' && letter === 'a'));
        expect({ letter, inserted }).toEqual({ letter, inserted: allowed ? [] : refused });
      }
      if (!update) continue;
      // By the check of the new row, or because the column is not granted; without claims there may be no row to move.
      const moved = await attempt(
        `update ${table} set ${expected.organization ?? 'organization_id'} = '${idOf('b', 0)}'`,
      );
      expect([refused, ...(name === 'nobody' ? [[]] : [])]).toContainEqual(moved);
    }
  });
});

const refused = { refused: '42501' };

const everybody = ['A1', 'A2', 'B1', 'B2'];

/** The columns that say whose a row is; null where rows are nobody's. */
const owners = ({ person, organization = 'organization_id' }: Expected): string | null =>
  person && `${organization} as organization_id, ${person} as person`;

const labelsOf = (outcome: Outcome) => ('refused' in outcome ? outcome : labels(outcome.rows));

/** `A1` for a row of organization A and its person 1. */
function labels(rows: Record<string, unknown>[]): string[] {
  return rows
    .map(({ organization_id, person }) => `${String(organization_id)[0]}${String(person).at(-1)}`.toUpperCase())
    .sort();
}
