/** Two cells, each with a PostgreSQL of its own: an organization moves between them under load. */
import { type SystemCell, startCell, startMove } from './support/cells.ts';
import { moveUnderLoad } from './support/moveUnderLoad.ts';
import { startPostgresServer } from './support/postgresServer.ts';
import { query } from './support/query.ts';

const people = Number(process.env.CELLS_PEOPLE ?? 100_000);

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

test('there and back under load: nothing acknowledged is lost, and other organizations notice nothing', async () => {
  const { moves, before, after, acknowledged, unavailable, ...wrong } = await moveUnderLoad([one, other], people);

  console.info(JSON.stringify({ people, before, moves, after, acknowledged, unavailable, ...wrong }));
  expect(wrong).toEqual({ refused: {}, failed: {}, lost: [], halfThere: [], leftOver: [] });
  expect(acknowledged).toBeGreaterThan(100);
  expect(unavailable).toBeGreaterThan(0);
  for (const { stoppedForMs } of moves) expect(stoppedForMs).toBeLessThan(2000);
}, 1_200_000);

test('servers with too few of what replication needs are refused, with the remedy', async () => {
  const few = { max_wal_senders: 2, max_logical_replication_workers: 1, max_active_replication_origins: 0 };
  const small = await startPostgresServer({ wal_level: 'replica', ...few });
  const refusalOf = async (from: { ownerUrl: string }, to: { ownerUrl: string }) => {
    await query(from.ownerUrl, "insert into app_hidden.organizations (name) values ('Plain')");
    const refused = startMove(from, to, 'Plain');
    expect((await refused.exited).code).toBe(1);
    return refused.output.stderr;
  };

  const here = await refusalOf(small, other);
  const there = await refusalOf(one, small);

  expect(here).toContain('wal_level is replica here: set it to logical, and restart PostgreSQL.');
  expect(here).toContain('Of max_wal_senders 2 are free here, and 3 are needed: raise it, and restart PostgreSQL.');
  expect(there).toContain('Of max_logical_replication_workers 1 are free there, and 3 are needed');
  expect(there).toContain('Of max_active_replication_origins 0 are free there, and 3 are needed');
  await small.remove();
});
