/** Two cells: while an organization moves between them, each process is killed at drawn points, and the command is aborted. */
import { setTimeout as delay } from 'node:timers/promises';
import type { TestProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { type CellTenant, createCellTenant } from './support/cellClients.ts';
import { leftOver, moved, type SystemCell, startCell, startMove } from './support/cells.ts';
import { startWriters } from './support/writers.ts';

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

/** Which cells serve the organization. */
async function servedBy({ app }: CellTenant): Promise<SystemCell[]> {
  const headers = { Authorization: `Bearer ${app}`, 'Content-Type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify({ query: '{ app { name } }' }) };
  const serving: SystemCell[] = [];
  for (const cell of [one, other]) if ((await fetch(`${cell.url}/graphql`, request)).status === 200) serving.push(cell);
  return serving;
}

/** Kills one of the processes that take part in a move; a server starts again. */
const kills: readonly ((from: SystemCell, to: SystemCell, command: TestProcess) => Promise<void>)[] = [
  async (_from, _to, command) => command.signal('SIGKILL'),
  async ({ server }) => server.crash().then(server.start),
  async (_from, _to, command) => command.signal('SIGKILL'),
  async (_from, { server }) => server.crash().then(server.start),
  async (from) => from.killService(),
];

/** Runs the step as its sentences say until it is done. */
async function finish(from: SystemCell, to: SystemCell, name: string, step: readonly string[]): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    const again = startMove(from, to, name, step);
    const { code } = await again.exited;
    // What was interrupted may have been done already.
    if (code === 0 || /has moved already|has not moved|no organization/.test(again.output.stderr)) return;
    expect(again.output.stderr).toMatch(
      /without --cut-over|Begin the move again|[Rr]un (it|the command) (again|with --abort)/,
    );
    await startMove(from, to, name).exited;
  }
  throw new Error(`move-organization ${step} did not come to an end`);
}

test('twenty kills of each process at drawn points: the next run goes on, and one cell serves', async () => {
  const tenant = await createCellTenant(one.owner, 2000);
  let [from, to] = [one, other];
  const writers = startWriters(() => from.url, tenant, 2);
  for (let round = 0; round < rounds; round++) {
    const kill = kills[round % kills.length];
    for (const step of [[], ['--cut-over'], ['--drop']]) {
      const command = startMove(from, to, tenant.name, step);
      await Promise.race([command.exited, delay(500 + Math.random() * 2000)]);
      await kill?.(from, to, command);
      const { code } = await command.exited;
      expect(command.output.stderr).not.toContain('fault of the service');
      // Never both, and both only refuse between the two commits of a cut-over.
      expect((await servedBy(tenant)).length).toBeLessThan(2);
      if (code !== 0) await finish(from, to, tenant.name, step);
    }
    const serving = to;
    await until(async () => (await servedBy(tenant)).length === 1);
    expect(await servedBy(tenant)).toEqual([serving]);
    expect([await leftOver(one), await leftOver(other)]).toEqual([[], []]);
    [from, to] = [to, from];
  }
  await writers.stop();
  const { lost, halfThere, users } = await writers.findings(from.owner);
  expect(users).toBeGreaterThan(20);
  expect({ lost, halfThere }).toEqual({ lost: [], halfThere: [] });
}, 1_200_000);

/** As the refusal of an abort says, once the cut-over is over. */
async function moveBack(name: string): Promise<void> {
  await finish(one, other, name, ['--cut-over']);
  await moved(startMove(one, other, name, ['--drop']));
  for (const step of [[], ['--cut-over'], ['--drop']]) await moved(startMove(other, one, name, step));
}

test('twenty aborts at drawn points leave both cells as they were', async () => {
  const tenant = await createCellTenant(one.owner, 2000);
  const checksum = async ({ owner }: SystemCell) =>
    (
      await owner.query(
        'select sum(hashtextextended(u::text, 0)::numeric) as sum from app_public.users u where organization_id = $1',
        [tenant.organizationId],
      )
    ).rows[0].sum;
  const users = await checksum(one);
  for (let round = 0; round < rounds; round++) {
    const isCutOver = round % 4 === 3;
    if (isCutOver) await moved(startMove(one, other, tenant.name));
    const killed = startMove(one, other, tenant.name, isCutOver ? ['--cut-over'] : []);
    await Promise.race([killed.exited, delay(500 + Math.random() * (isCutOver ? 600 : 2000))]);
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
    if (/The cut-over is over: run --drop here/.test(again.output.stderr)) await moveBack(tenant.name);
    else if (again.output.stderr !== '') expect(again.output.stderr).toMatch(/is not being moved/);
    expect([await leftOver(one), await leftOver(other)]).toEqual([[], []]);
    expect([await checksum(one), await checksum(other)]).toEqual([users, null]);
    expect(await servedBy(tenant)).toEqual([one]);
    const { rows } = await other.owner.query('select from app_hidden.organizations where id = $1', [
      tenant.organizationId,
    ]);
    expect(rows).toEqual([]);
  }
}, 1_200_000);
