import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import type { PoolClient } from 'pg';
import { byTcp, listenerOf } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import { expectDone } from '../inProcess.ts';
import {
  contents,
  createCells,
  documentOf,
  leftOvers,
  move,
  provision,
  reasonOf,
  states,
  type TestCells,
} from './cells.ts';

// What fails once a move is under way: each says how to go on, and does.

let cells: TestCells;
beforeEach(async () => {
  cells = await createCells();
  await provision(cells.here, documentOf('Acme'));
});
afterEach(async () => {
  // A database that replicates cannot be dropped.
  await move(cells, ['--abort']);
  await cells.drop();
});

const cutOver = ['--cut-over'];

test('an address that PostgreSQL there does not reach is refused, and an abort leaves nothing', async () => {
  // It lets the command in, and nobody after it.
  const target = listenerOf(cells.here.ownerUrl);
  let connections = 0;
  const gate = createServer((near) => {
    if (++connections > 1) return void near.destroy();
    const far = connect(target);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  gate.listen(0, '127.0.0.1');
  await once(gate, 'listening');
  const from = byTcp(cells.here.ownerUrl, (gate.address() as AddressInfo).port);

  expect(reasonOf(await move(cells, ['--from', from]))).toMatch(
    /The other cell cannot reach this database; name an address by --from .* Run the command again, or with --abort/,
  );
  expect(connections).toBeGreaterThan(1);
  expectDone(await move(cells, ['--abort']));
  expect([await states(cells), await leftOvers(cells)]).toEqual([[[], []], []]);
  expectDone(await move(cells));
  gate.close();
});

test('a copy that has stopped says so, and goes on when its cause is gone', async () => {
  expectDone(await move(cells));
  const [insert, values] = [
    'insert into app_public.units (organization_id, id, name) values ($1, $2, $3)',
    [await acmeId(), crypto.randomUUID(), 'Attic'],
  ];
  await cells.there.owner.query(insert, values);
  await cells.here.owner.query(insert, values);
  await until(async () => {
    const { rows } = await cells.there.owner.query(
      'select subenabled as enabled from pg_subscription where subdbid = (select oid from pg_database where datname = current_database())',
    );
    return rows[0]?.enabled === false;
  });

  expect(reasonOf(await move(cells, cutOver))).toMatch(
    /The copy has stopped, and the log of PostgreSQL there says why\. Mend it and run the command again, or run it with --abort/,
  );
  await cells.there.owner.query('delete from app_public.units where id = $1', [values[1]]);
  expectDone(await move(cells));
  expectDone(await move(cells, cutOver));
  expect(await states(cells)).toEqual([['moved'], ['arrived']]);
});

test('a cell that lags behind is not cut over to', async () => {
  expectDone(await move(cells));
  const holder = await lockUnitsThere();
  await cells.here.owner.query(
    "insert into app_public.units (organization_id, name) select $1, repeat('x', 150) from generate_series(1, 4000)",
    [await acmeId()],
  );

  expect(reasonOf(await move(cells, cutOver))).toMatch(
    /The other cell has not caught up: run the command without --cut-over, and then again/,
  );
  await release(holder);
  expectDone(await move(cells));
  expectDone(await move(cells, cutOver));
});

test('a last change that does not arrive leaves the organization here', async () => {
  const acme = await contents(cells.here, 'Acme');
  expectDone(await move(cells));
  const holder = await lockUnitsThere();
  await cells.here.owner.query("update app_public.units set name = 'Attic' where external_identifier = 'hq'");
  const isServed = async () =>
    (await cells.here.owner.query('select app_hidden.is_served($1) as served', [await acmeId()])).rows[0].served;
  const stopped = move(cells, cutOver);
  await until(async () => !(await isServed()));
  await until(isServed);
  await release(holder);

  expect(reasonOf(await stopped)).toMatch(
    /The last changes did not arrive in time\. The organization goes on here, and nothing is left there/,
  );
  expect([await states(cells), await leftOvers(cells)]).toEqual([[[], []], []]);
  expect(await contents(cells.there, 'Acme')).toEqual({});
  expect(Object.keys(await contents(cells.here, 'Acme'))).toEqual(Object.keys(acme));
});

test('a transaction that is open since before the move is named, and the command goes on after it', async () => {
  const holder = await cells.here.owner.connect();
  await holder.query('begin; select from app_hidden.organizations');
  const { rows } = await holder.query('select pg_backend_pid() as pid');

  expect(reasonOf(await move(cells))).toContain(
    `Transactions are open since before the move: end those of the processes ${rows[0].pid} (select pg_terminate_backend(pid)), and run the command again.`,
  );
  await release(holder);
  expectDone(await move(cells));
}, 180_000);

test('nothing is dropped before the cut-over is over, which the next run finishes', async () => {
  expectDone(await move(cells));
  // As a run leaves it that is killed between its two commits.
  await cells.here.owner.query("update app_hidden.organization_moves set state = 'moved'");

  expect(reasonOf(await move(cells, ['--drop']))).toMatch(
    /The cut-over is not over: run the command with --cut-over first/,
  );
  expectDone(await move(cells, cutOver));
  expectDone(await move(cells, ['--drop']));
  expect([await states(cells), await leftOvers(cells)]).toEqual([[[], ['arrived']], []]);
});

const acmeId = async () =>
  (await cells.here.owner.query("select id from app_hidden.organizations where name = 'Acme'")).rows[0].id;

/** Changes of units wait there, and reads do not. */
async function lockUnitsThere(): Promise<PoolClient> {
  const holder = await cells.there.owner.connect();
  await holder.query('begin; lock table app_public.units in share mode');
  return holder;
}

async function release(holder: PoolClient): Promise<void> {
  await holder.query('rollback');
  holder.release();
}
