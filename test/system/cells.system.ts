/** Two cells: an organization moves between them under load, and the command is killed and aborted at drawn points. */
import { setTimeout as delay } from 'node:timers/promises';
import { createTenant } from '../graphql/support.ts';
import { leftOver, moved, percentile, type SystemCell, startCell, startMove, watch } from './support/cells.ts';
import { startPostgresServer } from './support/postgresServer.ts';
import { createTenantWithSecret, type TenantWithSecret } from './support/tenant.ts';
import { startWriters } from './support/writers.ts';

const people = Number(process.env.CELLS_PEOPLE ?? 100_000);
const rounds = Number(process.env.CELLS_ROUNDS ?? 20);

let one: SystemCell;
let other: SystemCell;
beforeAll(async () => {
  one = await startCell();
  other = await startCell();
});
afterAll(async () => {
  await one.remove();
  await other.remove();
});

/** An organization with so many people, each with a grant, and its name. */
async function createOrganization({ owner }: SystemCell, count: number): Promise<TenantWithSecret & { name: string }> {
  const tenant = await createTenantWithSecret(owner);
  await owner.query(
    `insert into app_public.units (organization_id, name, external_identifier) values ($1, 'Headquarters', 'hq')`,
    [tenant.organizationId],
  );
  await owner.query(
    `insert into app_public.users (organization_id, full_name, email, external_identifier)
     select $1, 'person-' || number, 'person-' || number || '@writers.test', 'person-' || number from generate_series(1, $2::int) as number`,
    [tenant.organizationId, count],
  );
  await owner.query(
    `insert into app_hidden.unit_access (organization_id, user_id, unit_id)
     select u.organization_id, u.id, h.id from app_public.users u join app_public.units h using (organization_id) where u.organization_id = $1`,
    [tenant.organizationId],
  );
  await owner.query('vacuum analyze');
  const { rows } = await owner.query('select name from app_hidden.organizations where id = $1', [
    tenant.organizationId,
  ]);
  return { ...tenant, name: rows[0].name };
}

const post = (cell: SystemCell, token: string, query: string) =>
  fetch(`${cell.service.url}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });

const countUsers = async ({ owner }: SystemCell, organizationId: string): Promise<number> =>
  (
    await owner.query('select count(*)::int as count from app_public.users where organization_id = $1', [
      organizationId,
    ])
  ).rows[0].count;

test('there and back under load: nothing acknowledged is lost, and other organizations notice nothing', async () => {
  const tenant = await createOrganization(one, people);
  const neighbours = [await createTenant({ database: one }), await createTenant({ database: other })];
  const tokens = neighbours.map(({ app }) => app);
  let serving = one;
  const writers = startWriters(() => serving.service.url, tenant, 4);
  const own = watch(() => post(serving, tenant.app, '{ app { users(first: 20) { nodes { fullName } } } }'), 4);
  const [here, there] = [one, other].map((cell, index) =>
    watch(() => post(cell, tokens[index] ?? '', '{ app { users(first: 20) { nodes { id } } } }'), 2),
  ) as [ReturnType<typeof watch>, ReturnType<typeof watch>];
  const neighboursSince = (): { p99: number; refused: number } => {
    const seen = [here.take(), there.take()];
    const refused = seen.flatMap(({ statuses }) => [...statuses]).filter(([status]) => status !== 200);
    return {
      p99: Math.round(
        percentile(
          seen.flatMap(({ latencies }) => latencies),
          0.99,
        ),
      ),
      refused: refused.length,
    };
  };
  await delay(5000);
  const before = neighboursSince();

  const figures = [];
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const startedAt = performance.now();
    await moved(startMove(from, to, tenant.name));
    const copiedMs = performance.now() - startedAt;
    expect([...own.take().statuses.keys()]).toEqual([200]);
    const result = await moved(startMove(from, to, tenant.name, ['--cut-over']));
    serving = to;
    const during = own.take();
    expect([...during.statuses.keys()].filter((status) => ![200, 503].includes(status))).toEqual([]);
    await moved(startMove(from, to, tenant.name, ['--drop']));
    figures.push({ copiedMs: Math.round(copiedMs), stoppedForMs: result.stoppedForMs, ...neighboursSince() });
    expect(await countUsers(from, tenant.organizationId)).toBe(0);
    own.take();
  }
  await writers.stop();
  const during = neighboursSince();
  await delay(5000);
  const after = neighboursSince();
  await Promise.all([own.stop(), here.stop(), there.stop()]);

  const { lost, halfThere, users, deletions, tokens: issued } = await writers.findings(one.owner);
  console.info({ people, acknowledged: { users, deletions, issued }, before, figures, during, after });
  expect({ lost, halfThere }).toEqual({ lost: [], halfThere: [] });
  expect(users).toBeGreaterThan(20);
  expect([...figures, before, during, after].map(({ refused }) => refused)).toEqual(Array(5).fill(0));
  for (const { stoppedForMs } of figures) expect(stoppedForMs).toBeLessThan(2000);
  expect([await leftOver(one), await leftOver(other)]).toEqual([[], []]);
}, 1_200_000);

/** Which cells serve the organization. */
async function servedBy(tenant: TenantWithSecret): Promise<SystemCell[]> {
  const serving: SystemCell[] = [];
  for (const cell of [one, other]) {
    const { status } = await post(cell, tenant.app, '{ app { name } }');
    if (status === 200) serving.push(cell);
  }
  return serving;
}

test('twenty kills at drawn points: the next run goes on, and one cell serves', async () => {
  const tenant = await createOrganization(one, 2000);
  let [from, to] = [one, other];
  const writers = startWriters(() => (from === one ? one : other).service.url, tenant, 2);
  for (let round = 0; round < rounds; round++) {
    for (const step of [[], ['--cut-over'], ['--drop']]) {
      const killed = startMove(from, to, tenant.name, step);
      await Promise.race([killed.exited, delay(500 + Math.random() * 2000)]);
      if (killed.running) killed.signal('SIGKILL');
      const { code } = await killed.exited;
      // Never both, and both only refuse between the two commits of a cut-over.
      expect((await servedBy(tenant)).length).toBeLessThan(2);
      if (code === 0) continue;
      const again = startMove(from, to, tenant.name, step);
      await again.exited;
      // What was killed may have been done already.
      if (again.output.stderr !== '')
        expect(again.output.stderr).toMatch(/has moved already|has not moved|no organization/);
    }
    expect(await servedBy(tenant)).toEqual([to]);
    expect([await leftOver(one), await leftOver(other)]).toEqual([[], []]);
    [from, to] = [to, from];
  }
  await writers.stop();
  const { lost, halfThere, users } = await writers.findings(from.owner);
  expect(users).toBeGreaterThan(20);
  expect({ lost, halfThere }).toEqual({ lost: [], halfThere: [] });
}, 1_200_000);

test('twenty aborts at drawn points leave both cells as they were', async () => {
  const tenant = await createOrganization(one, 2000);
  const checksum = async ({ owner }: SystemCell) =>
    (
      await owner.query(
        'select sum(hashtextextended(u::text, 0)::numeric) as sum from app_public.users u where organization_id = $1',
        [tenant.organizationId],
      )
    ).rows[0].sum;
  const users = await checksum(one);
  for (let round = 0; round < rounds; round++) {
    const killed = startMove(one, other, tenant.name);
    await Promise.race([killed.exited, delay(500 + Math.random() * 2000)]);
    if (killed.running) killed.signal('SIGKILL');
    await killed.exited;
    // The abort is killed, too, every other time.
    const abort = startMove(one, other, tenant.name, ['--abort']);
    if (round % 2) {
      await Promise.race([abort.exited, delay(500 + Math.random() * 800)]);
      if (abort.running) abort.signal('SIGKILL');
    }
    await abort.exited;
    const again = startMove(one, other, tenant.name, ['--abort']);
    await again.exited;
    if (again.output.stderr !== '') expect(again.output.stderr).toMatch(/is not being moved/);
    expect([await leftOver(one), await leftOver(other)]).toEqual([[], []]);
    expect([await checksum(one), await checksum(other)]).toEqual([users, null]);
    expect(await servedBy(tenant)).toEqual([one]);
    const { rows } = await other.owner.query('select from app_hidden.organizations where id = $1', [
      tenant.organizationId,
    ]);
    expect(rows).toEqual([]);
  }
}, 1_200_000);

test('a server without logical replication is refused, with the remedy', async () => {
  const server = await startPostgresServer({ wal_level: 'replica' });
  const plain = { ...other, server, ownerUrl: server.ownerUrl };
  const { Pool } = await import('pg');
  const owner = new Pool({ connectionString: server.ownerUrl });
  await owner.query("insert into app_hidden.organizations (name) values ('Plain')");

  const refused = startMove(plain, other, 'Plain');
  expect((await refused.exited).code).toBe(1);
  expect(refused.output.stderr).toContain('wal_level is replica here: set it to logical, and restart PostgreSQL.');

  await owner.end();
  await server.remove();
});
