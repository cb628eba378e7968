import { purgeExpired, type RunQuery } from '../../../src/oauth/purge.ts';
import { createEmptiedDatabase, type EmptiedDatabase } from '../../support/emptiedDatabase.ts';
import { countIn, nothing } from './support.ts';

let database: EmptiedDatabase;
let query: RunQuery;
beforeAll(async () => {
  database = await createEmptiedDatabase();
  query = (statement) => database.owner.query(statement);
});
afterEach(() => database.empty());
afterAll(() => database.drop());

/** Two organizations, each with an application, a person and a session of hers. */
async function insertOwners(): Promise<void> {
  for (const name of ['a', 'b']) {
    await database.owner.query(
      `with o as (insert into app_hidden.organizations (name) values ('${name}') returning id),
        u as (insert into app_public.users (organization_id, id, full_name, email)
              select id, id, 'Ada', 'ada@test' from o)
       insert into oauth.applications (organization_id, id, name, client_id, scopes)
       select id, id, '${name}', '${name}', '{me}' from o`,
    );
  }
}

/** In both organizations, a grant of each name; its tokens are what expires when (in hours). */
async function insertGrant(name: string, tokens: { access?: number; refresh?: number; used?: boolean }): Promise<void> {
  await database.owner.query(
    `insert into oauth.grants (organization_id, id, application_id, user_id, grant_type, scopes, client_authentication)
     select id, md5($1 || id)::uuid, id, id, 'password', '{me}', 'none' from app_hidden.organizations`,
    [name],
  );
  if (tokens.access !== undefined) {
    await database.owner.query(
      `insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
       select id, sha256(('access ' || $1 || id)::bytea), md5($1 || id)::uuid, '{me}', now() - interval '1 day',
         now() + make_interval(hours => $2)
       from app_hidden.organizations`,
      [name, tokens.access],
    );
  }
  if (tokens.refresh !== undefined) {
    await database.owner.query(
      `insert into oauth.refresh_tokens (
         organization_id, token_hash, grant_id, scopes, created_at, expires_at, absolute_expires_at, used_at, successor_hash)
       select id, sha256(('refresh ' || $1 || id)::bytea), md5($1 || id)::uuid, '{me}', now() - interval '1 day',
         now() + make_interval(hours => $2), now() + interval '90 days',
         case when $3 then now() - interval '20 hours' end, case when $3 then sha256('successor') end
       from app_hidden.organizations`,
      [name, tokens.refresh, tokens.used ?? false],
    );
  }
}

async function insertCode(name: string, hours: number, grant?: string): Promise<void> {
  await database.owner.query(
    `insert into oauth.authorization_codes (
       organization_id, code_hash, application_id, user_id, scopes, redirect_uri, code_challenge, expires_at, grant_id)
     select id, sha256(($1 || id)::bytea), id, id, '{me}', 'http://127.0.0.1/', repeat('x', 43),
       now() + make_interval(hours => $2), md5($3 || id)::uuid
     from app_hidden.organizations`,
    [name, hours, grant],
  );
}

/** Of each person one, that expires in so many hours. */
const insertSessions = (...hours: number[]) =>
  database.owner.query(
    `insert into oauth.sessions (organization_id, sid, sess, expire)
     select o.id, translate(md5(o.id || hours::text) || repeat('0', 11), '=', ''), jsonb_build_object('userId', o.id),
       now() + make_interval(hours => hours)
     from app_hidden.organizations o, unnest($1::int[]) as hours`,
    [hours],
  );

const count = (table: string) => countIn(database, table);

test('deletes what has expired of every organization, and nothing else', async () => {
  await insertOwners();
  await insertGrant('live', { access: 1, refresh: 24 });
  await insertGrant('half', { access: -1, refresh: 24 });
  await insertGrant('used', { access: -1, refresh: 24, used: true });
  await insertGrant('gone', { access: -20, refresh: -1 });
  await insertCode('of the gone', -2, 'gone');
  await insertCode('of the live', -2, 'live');
  await insertCode('old', -25);
  await insertCode('new', 1);
  await insertSessions(-1, 1);
  await database.owner.query(
    `insert into oauth.throttles (key, points, expire)
     select 'test:' || repeat(number::text, 43), 1, extract(epoch from now()) * 1000 + case number when 1 then -1000 else 60000 end
     from unnest(array[1, 2]) as number`,
  );

  const purged = await purgeExpired(query);

  expect(purged).toEqual({
    accessTokens: 6,
    refreshTokens: 2,
    grants: 2,
    // Those of the grants that are gone went with them.
    authorizationCodes: 2,
    sessions: 2,
    throttles: 1,
    idempotencyKeys: 0,
    changes: 0,
    months: 0,
    newMonths: 0,
    feedDays: 0,
    newFeedDays: 0,
    deliveries: 0,
  });
  const left = [
    ...['access_tokens', 'refresh_tokens', 'grants', 'authorization_codes', 'sessions', 'throttles'].map(count),
  ];
  expect(await Promise.all(left)).toEqual([2, 6, 6, 4, 2, 1]);
  expect(await purgeExpired(query)).toEqual(nothing);
});

test('of two at a time one does it', async () => {
  await insertOwners();
  await insertGrant('gone', { access: -1 });
  const other = await database.owner.connect();
  await other.query(`begin; select pg_advisory_xact_lock(hashtextextended('oauth.purge', 0))`);

  expect(await purgeExpired(query)).toBeNull();

  await other.query('commit');
  other.release();
  expect(await purgeExpired(query)).toEqual({ ...nothing, accessTokens: 2, grants: 2 });
});

test('leaves a grant that a token is being issued for', async () => {
  await insertOwners();
  await insertGrant('gone', { access: -1 });
  const issuing = await database.owner.connect();
  await issuing.query('begin');
  const { rows } = await issuing.query('select organization_id, id from oauth.grants limit 1 for key share');
  await issuing.query(
    `insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
     values ($1, sha256('new'), $2, '{me}', now(), now() + interval '1 hour')`,
    [rows[0].organization_id, rows[0].id],
  );

  expect(await purgeExpired(query)).toEqual({ ...nothing, accessTokens: 1, grants: 1 });
  await issuing.query('commit');
  issuing.release();

  expect(await purgeExpired(query)).toEqual({ ...nothing, accessTokens: 1 });
  expect(await count('grants')).toBe(1);
});

test('waits for no code or session that a deletion of its person holds', async () => {
  await insertOwners();
  await insertCode('old', -48);
  await insertSessions(-1);
  const deleting = await database.owner.connect();
  await deleting.query('begin');
  await deleting.query('delete from app_public.users where id = (select min(id::text)::uuid from app_public.users)');

  expect(await purgeExpired(query)).toEqual({ ...nothing, authorizationCodes: 1, sessions: 1 });
  await deleting.query('rollback');
  deleting.release();

  expect(await purgeExpired(query)).toEqual({ ...nothing, authorizationCodes: 1, sessions: 1 });
});

test('has rights over nothing that is alive', async () => {
  await insertOwners();
  await insertGrant('live', { access: 1, refresh: 24 });
  await insertGrant('gone', { access: -1, refresh: -1 });
  const purger = await database.owner.connect();
  await purger.query('begin; set local role graph_purger');

  const deleted: (number | null)[] = [];
  for (const table of ['access_tokens', 'refresh_tokens', 'grants']) {
    deleted.push((await purger.query(`delete from oauth.${table}`)).rowCount);
  }
  const change = purger.query(`update oauth.grants set id = gen_random_uuid()`);

  await expect(change).rejects.toMatchObject({ code: '42501' });
  expect(deleted).toEqual([2, 2, 2]);
  await purger.query('rollback');
  purger.release();
});

test.each(['copying', 'moved', 'arriving'])(
  'deletes nothing of an organization that is %s, and all that has expired of others',
  async (state) => {
    await insertOwners();
    await insertGrant('gone', { access: -20, refresh: -1 });
    await insertCode('old', -25);
    await database.owner.query(
      `insert into oauth.sessions (organization_id, sid, sess, expire)
     select id, translate(md5(id::text) || repeat('0', 11), '=', ''), jsonb_build_object('userId', id), now() - interval '1 hour'
     from app_hidden.organizations`,
    );
    await database.owner.query(
      `insert into app_hidden.organization_moves (organization_id, move_id, state, peer)
     select id, gen_random_uuid(), $1, 'other' from app_hidden.organizations where name = 'a'`,
      [state],
    );
    const tables = ['access_tokens', 'refresh_tokens', 'grants', 'authorization_codes', 'sessions'];

    expect(await purgeExpired(query)).toMatchObject({
      accessTokens: 1,
      refreshTokens: 1,
      grants: 1,
      authorizationCodes: 1,
      sessions: 1,
    });
    expect(await Promise.all(tables.map(count))).toEqual([1, 1, 1, 1, 1]);

    await database.owner.query("update app_hidden.organization_moves set state = 'arrived', arrived_at = now()");
    await purgeExpired(query);
    expect(await Promise.all(tables.map(count))).toEqual([0, 0, 0, 0, 0]);
  },
);
