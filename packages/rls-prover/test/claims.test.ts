import type { Options } from 'rls-prover';
import { openOf, startProving } from './support.ts';

// Claims as servers set them: in JSON, in several settings, and with what the server sees to.

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

const jwt = { name: 'jwt', setting: 'request.jwt.claims', type: 'jsonb' };
const legacy = { name: 'legacy', setting: 'request.jwt.claim.sub', type: 'text' };
const asked: Partial<Options> = {
  // None is known to have these claims.
  examples: { insert: async () => undefined, rows: 'none', principals: [] },
  claims: [jwt, legacy],
  isAsked: ({ relation, command }) => relation === 'app.users' && command === 'select',
  invariants: [{ name: 'tenant', relation: 'app.users', expression: `old.tenant_id = (claims.jwt ->> 'sub')::uuid` }],
};

/** The open judgements of a policy. */
const openBy = async (using: string, claims: readonly string[] = [], statements = '') =>
  openOf(
    await proving.judgeAfter(`${statements}; alter policy users_of_tenant on app.users using (${using})`, {
      ...asked,
      assumptions: { claims },
    }),
  );

const open = [expect.stringMatching(/^tenant: select on app.users/)];
const sub = `current_setting('request.jwt.claims', true)::jsonb ->> 'sub'`;
const uid = `create function app.uid() returns uuid language sql stable as
  $$ select coalesce(nullif(current_setting('request.jwt.claim.sub', true), ''), nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid $$;
  grant execute on function app.uid() to member`;
const isSet = `claims.legacy is null or claims.legacy = claims.jwt ->> 'sub'`;

test.each([
  ['a key of JSON', `tenant_id = (${sub})::uuid`],
  ['it as a text', `tenant_id::text::uuid = (${sub})::uuid and tenant_id = (${sub})::uuid`],
  [
    'an empty setting, of which a cast fails',
    `tenant_id = (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')::uuid`,
  ],
])('%s is what the invariant reads', async (_what, using) => {
  expect(await openBy(using)).toEqual([]);
});

test.each([
  ['another key', `tenant_id = (${sub.replace('sub', 'org')})::uuid`],
  ['another setting', `tenant_id = current_setting('request.jwt.claim.sub', true)::uuid`],
  ['an empty text that is no cast', `tenant_id::text = coalesce(${sub}, '') or (${sub}) = ''`],
])('%s is something else', async (_what, using) => {
  expect(await openBy(using)).toEqual(open);
});

test('an assumption says that two settings say the same', async () => {
  expect(await openBy('tenant_id = app.uid()', [], uid)).toEqual(open);
  expect(await openBy('tenant_id = app.uid()', [isSet], uid)).toEqual([]);
});

test('an assumption is about each role by itself', async () => {
  const of = (role: string) => [`claims.role <> '${role}' or claims.jwt ->> 'sub' is null`];

  expect(await openBy(`(${sub}) is not null`, of(proving.member))).toEqual([]);
  expect(await openBy(`(${sub}) is not null`, of('somebody_else'))).toEqual(open);
});

test('assumptions that contradict each other are an error, of which everything could be proven', async () => {
  await expect(openBy('true', [isSet, 'claims.legacy is not null', 'claims.jwt is null'])).rejects.toThrow(
    /^No claims of member_\w+ satisfy the assumptions: /,
  );
});

test('an assumption with what is not understood is an error', async () => {
  await expect(openBy('true', ['app.nothing(claims.legacy)'])).rejects.toThrow(/^No claims of member_/);
});

test("a function with its owner's rights is judged for any argument, also by its name", async () => {
  const count = (condition: string) => `
    create function app.how_many(wanted uuid) returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp
      as $$ select count(*) from app.users u where u.tenant_id = wanted and ${condition} $$;
    grant execute on function app.how_many(uuid) to member`;
  const judged = async (condition: string) =>
    openOf(await proving.judgeAfter(count(condition), { ...asked, isAsked: () => false, claims: [jwt] }));

  expect(await judged(`u.tenant_id = (${sub})::uuid`)).toEqual([]);
  expect(await judged(`wanted = (${sub})::uuid`)).toEqual([]);
  expect(await judged('true')).toEqual(['definer: call on app.how_many(uuid): unproven']);
});
