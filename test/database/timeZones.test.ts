import { blocksOf } from '../docs/pages.ts';
import { ask, createTenant, type OwnGraphTest, startGraphTest, type Tenant } from '../graphql/support.ts';
import { syncUsers } from '../graphql/sync.ts';

// Which time zones are known, and where from: those of an IANA release, whatever the server's system has.

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest();
  tenant = await createTenant(graph);
});
afterAll(() => graph.stop());

const listed = async () =>
  (await tenant.owner.query<{ name: string }>('select name from app_hidden.time_zones')).rows.map(({ name }) => name);

const isAccepted = async (timeZone: string) => {
  const query =
    'mutation ($timeZone: String!, $email: String!) { userCreate(fullName: "Ada", email: $email, timeZone: $timeZone) { user { timeZone } } }';
  const { body } = await ask(graph, tenant.app, query, { timeZone, email: `${Math.random()}@x.test` });
  return body.errors === undefined;
};

test('every name that PostgreSQL or Node.js has is in the list', async () => {
  const { rows } = await tenant.owner.query<{ name: string }>(
    `select name from pg_timezone_names where name !~ '^(posix|right)/' and name not in ('Factory', 'localtime', 'posixrules')`,
  );
  const known = [...rows.map(({ name }) => name), ...Intl.supportedValuesOf('timeZone')];

  const names = await listed();

  expect(known.length).toBeGreaterThan(900);
  expect(known.filter((name) => !names.includes(name))).toEqual([]);
  expect(names).not.toContain('Factory');
});

test('the list does not come from the server, nor does anything ask it about the zone of a user', async () => {
  const { rows } = await tenant.owner.query(
    `select oid::regprocedure from pg_proc
     where pronamespace::regnamespace::text in ('app_public', 'app_hidden') and prosrc ~* 'pg_timezone|at time zone \\w*\\.?time_zone'`,
  );

  expect(rows).toEqual([]);
  for (const link of ['US/Eastern', 'GB', 'Asia/Calcutta', 'Calcutta', 'EST5EDT', 'Etc/GMT+12', 'Pacific/Kanton'])
    expect([link, await isAccepted(link)]).toEqual([link, true]);
  expect(await isAccepted('US/Easterly')).toBe(false);
});

test('a name of a later release comes in as the operating guide says, with its city', async () => {
  expect([await isAccepted('Europe/Atlantis'), await isAccepted('New Atlantis')]).toEqual([false, false]);
  const [block] = (await blocksOf('docs/operating.md')).filter(({ heading }) => heading === 'Time zones');

  for (let time = 0; time < 2; time++) await tenant.owner.query(block?.text ?? '');

  expect([await isAccepted('Europe/New_Atlantis'), await isAccepted('new atlantis')]).toEqual([true, true]);
});

// To look for the nearest of each took 46 s, which the statement's limit ended: no row had an answer.
test('of 1,000 unknown names all are refused, ten with the nearest', async () => {
  const users = Array.from({ length: 1000 }, (_, index) => ({
    externalIdentifier: `u-${index}`,
    fullName: 'Ada',
    email: `u-${index}@zone.test`,
    timeZone: `America/Argentina/Buenos Aires/Europe/Berlin-${index}`,
  }));

  const results = await syncUsers(graph, tenant, users, true, 'id');

  expect(results.filter(({ error }) => error?.argument === 'timeZone')).toHaveLength(1000);
  expect(
    results.filter(({ error }) => error?.message.includes('did you mean "America/Argentina/Buenos_Aires"')),
  ).toHaveLength(10);
  const [known] = await syncUsers(graph, tenant, [{ ...users[0], timeZone: 'Berlin' }], true, 'id');
  expect(known?.outcome).toBe('CREATED');
});
