import { startTestService, type TestService } from '../support/service.ts';
import { shareService } from '../support/sharedService.ts';
import { until } from '../support/until.ts';
import { ask, createTenant, createUser, type GraphTest, read, type Tenant } from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

const unavailable = (field: string) => ({
  status: 503,
  body: { data: { [field]: null }, errors: [{ path: [field], extensions: { code: 'UNAVAILABLE' } }] },
});

const waitingForLocks = async () => {
  const { rows } = await graph.database.owner.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
};

/** Many writers of one row, which another transaction holds. */
describe.each([
  { poolSize: 3, writers: 2 },
  { poolSize: 8, writers: 3 },
])('a hot row, with $poolSize connections', ({ poolSize, writers }) => {
  let service: TestService;
  let neighbour: Tenant;
  beforeAll(async () => {
    service = await startTestService(graph.database, { DATABASE_POOL_SIZE: String(poolSize) });
    neighbour = await createTenant(graph);
  });
  afterAll(() => service.stop());

  it(`lets ${writers} writers of a tenant wait in PostgreSQL, for two seconds in two tries, and keeps no other tenant waiting`, async () => {
    const user = await createUser(tenant);
    const rename = (fullName: string) =>
      ask(
        service,
        tenant.app,
        `mutation { userUpdate(id: "${user.id}", fullName: "${fullName}") { user { fullName } } }`,
      );
    const holder = await graph.database.owner.connect();
    await holder.query('begin');
    await holder.query('select from app_public.users where id = $1 for update', [user.uuid]);
    const since = performance.now();

    const writing = Array.from({ length: 8 }, (_, index) => rename(`Grace ${index}`));
    await until(async () => (await waitingForLocks()) === writers);
    expect(await read(service, neighbour.app, '{ app { name } }')).toEqual({ app: { name: 'Acme Backend' } });
    expect(await waitingForLocks()).toBe(writers);

    const [first] = await Promise.race(writing.map(async (answer) => [await answer]));
    if (!first) throw new Error('There is no answer.');
    expect(first).toMatchObject(unavailable('userUpdate'));
    expect(performance.now() - since).toBeGreaterThan(1900);
    await holder.query('rollback');
    holder.release();
    const answers = await Promise.all(writing);

    // A request that waited meanwhile has succeeded, or got 503.
    for (const { status, body } of answers) {
      const { errors } = body as { errors?: { extensions: { code: string } }[] };
      expect(['200 done', '503 UNAVAILABLE']).toContain(`${status} ${errors?.[0]?.extensions.code ?? 'done'}`);
    }
    expect(await rename('Grace Hopper')).toMatchObject({
      body: { data: { userUpdate: { user: { fullName: 'Grace Hopper' } } } },
    });
  });
});

test('PostgreSQL bounds how long a mutation waits for a lock, and no query, which may wait for a migration', async () => {
  const user = await createUser(tenant);
  const migration = await graph.database.owner.connect();
  await migration.query('begin');
  await migration.query('lock table app_public.users in access exclusive mode');

  let isRead = false;
  const reading = read(graph, tenant.app, `{ node(id: "${user.id}") { id } }`).finally(() => {
    isRead = true;
  });
  await until(async () => (await waitingForLocks()) === 1);
  const refused = await ask(graph, tenant.app, `mutation { userDelete(id: "${user.id}") { user { id } } }`);
  expect(refused).toMatchObject(unavailable('userDelete'));
  expect(isRead).toBe(false);
  await migration.query('rollback');
  migration.release();

  expect(await reading).toEqual({ node: { id: user.id } });
});
