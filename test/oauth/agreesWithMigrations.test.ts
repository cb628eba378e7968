import { requestRoles } from '../../src/database/roles/roles.ts';
import { grants, grantTypes, mobileAppGrants } from '../../src/oauth/grants/grants.ts';
import { lifetimes } from '../../src/oauth/lifetimes.ts';
import { defaultScopes, scopeNames, scopes, scopesOf } from '../../src/token/scopes.ts';
import { type OauthTest, shareOauthTest } from './support.ts';

let oauth: OauthTest;
beforeAll(async () => {
  oauth = await shareOauthTest();
});

const read = async (sql: string, ...values: unknown[]): Promise<string> =>
  (await oauth.database.owner.query(`select (${sql})::text as text`, values)).rows[0].text;

const constraint = (table: string, name: string) =>
  read(
    'select pg_get_constraintdef(oid) from pg_constraint where conrelid = $1::regclass and conname = $2',
    table,
    name,
  );

const words = (definition: string) => [...definition.matchAll(/'([^']+)'::text/g)].map(([, word]) => word);

test('the scopes, and those of public applications, are the ones of the table', async () => {
  const known = await constraint('oauth.applications', 'applications_scopes_known');
  const ofPublic = await constraint('oauth.applications', 'applications_scopes_confidential');
  const initial = await read(
    `select column_default from information_schema.columns
     where table_schema = 'oauth' and table_name = 'applications' and column_name = 'scopes'`,
  );

  expect(known).toContain(`'{${scopeNames}}'`);
  expect(ofPublic).toContain(`'{${scopesOf('user')}}'`);
  expect(initial).toBe(`'{${defaultScopes.application}}'::text[]`);
});

test('each table knows the scopes that its rows can have', async () => {
  const { rows } = await oauth.database.owner.query<{ name: string; definition: string }>(
    `select conname::text as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where conname like '%\\_scopes\\_known' order by conname`,
  );

  expect(rows).toEqual(
    [
      ['access_tokens', scopeNames],
      ['applications', scopeNames],
      // The codes are for persons.
      ['authorization_codes', scopesOf('user')],
      ['grants', scopeNames],
      ['refresh_tokens', scopeNames],
    ].map(([table, known]) => ({
      name: `${table}_scopes_known`,
      definition: expect.stringContaining(`(scopes <@ '{${known}}'::text[])`),
    })),
  );
});

test('the role of each scope is one that a request can have', async () => {
  const roles = Object.values(scopes).map(({ role }) => role);

  expect(await read('select count(*) from pg_roles where rolname = any ($1)', roles)).toBe(String(roles.length));
  expect(
    await read(
      `select array_agg(role) <@ $1 and $1 <@ array_agg(role) from audit.request_roles where kind = 'token'`,
      roles,
    ),
  ).toBe('true');
});

test('what the server may become is what the database lists', async () => {
  expect((await read('select array_agg(role order by role) from audit.request_roles')).slice(1, -1).split(',')).toEqual(
    requestRoles.toSorted(),
  );
  expect(await read(`select bool_and(pg_has_role(current_user, role_id, 'member')) from audit.request_roles`)).toBe(
    'true',
  );
});

// As PostgreSQL has them: two roles in one of them are a list. Where two roles have the same policy, each has one.
test('what lists the roles of requests lists those of all scopes', async () => {
  const roles = Object.values(scopes).map(({ role }) => role);
  const { rows } = await oauth.database.owner.query<{ name: string; text: string }>(
    `with own as (select oid from pg_namespace where nspname in ('app_hidden', 'app_public', 'audit', 'feed', 'oauth'))
     select oid::regclass::text as name, pg_get_viewdef(oid) as text
     from pg_class where relkind in ('v', 'm') and relnamespace in (table own)
     union all
     select oid::regprocedure::text, prosrc from pg_proc where pronamespace in (table own)
     union all
     select conname || ' of ' || conrelid::regclass, pg_get_constraintdef(oid) from pg_constraint where connamespace in (table own)
     union all
     select 'a default of ' || adrelid::regclass, pg_get_expr(adbin, adrelid)
     from pg_attrdef join pg_class c on c.oid = adrelid where relnamespace in (table own)
     union all
     select 'the policies of ' || polrelid::regclass, (
       select string_agg(role::regrole::text, ' ') from pg_policy p cross join unnest(p.polroles) as role where p.polrelid = same.polrelid)
     from pg_policy same cross join unnest(polroles) as role
     where role::regrole::text = any ($1)
     group by polrelid, polcmd, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)
     having count(*) > 1`,
    [roles],
  );
  const lists = (text: string, role: string) => new RegExp(`\\b${role}\\b`).test(text);
  const listing = rows.filter(({ text }) => roles.filter((role) => lists(text, role)).length > 1);
  const missing = listing.flatMap(({ name, text }) =>
    roles
      .filter((role) => !lists(text, role))
      .map((role) => `${name} does not list ${role}: a migration has to make it anew, with this role`),
  );

  expect(listing.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      ...['audit.principals', 'audit.request_roles'],
      ...['idempotency_keys_role_known of app_hidden.idempotency_keys', 'the policies of app_hidden.idempotency_keys'],
    ]),
  );
  expect(missing).toEqual([]);
});

test('the grants, and those of mobile apps, are the ones of the list', async () => {
  const known = words(await constraint('oauth.grants', 'grants_grant_type_known'));
  const mobile = words(await constraint('oauth.applications', 'applications_mobile_app_authentication_type_known'));

  // A refresh token renews tokens of the other grant types.
  expect(known.toSorted()).toEqual(grantTypes.filter((type) => type !== 'refresh_token').toSorted());
  expect(mobile).toEqual(mobileAppGrants);
});

test('each grant has a name and each request one grant', () => {
  expect(new Set(grants.map(({ name }) => name)).size).toBe(grants.length);
  const asked = grants.map(({ type, parameters }) => ({
    ...Object.fromEntries(Object.keys(parameters).map((name) => [name, 'x'])),
    grant_type: type,
  }));
  const meant = asked.map((parameters) =>
    grants.filter(({ type, isMeant }) => type === parameters.grant_type && (isMeant?.(parameters) ?? true)),
  );

  expect(meant).toEqual(grants.map((grant) => [grant]));
});

test('a used code is kept for as long as the lifetimes say', async () => {
  const policy = await read(
    `select qual from pg_policies
     where tablename = 'authorization_codes' and policyname = 'delete_graph_purger'`,
  );
  const purge = await read(`select prosrc from pg_proc where oid = 'oauth.purge_rows(text, int)'::regprocedure`);

  expect(lifetimes.codeReplayDays).toBe(1);
  expect(policy).toContain(`'1 day'::interval`);
  expect(purge).toContain(`interval '1 day'`);
});
