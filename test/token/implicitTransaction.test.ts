import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Pool, type PoolClient } from 'pg';
import { cancelStatement, type Statement } from '../../src/database/driver/driver.ts';
import type { TransactionSettings } from '../../src/token/settings.ts';
import { queryInImplicitTransaction } from '../../src/token/transaction.ts';
import { byTcp, createTestDatabase, listenerOf, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let pool: Pool;
let client: PoolClient;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.owner.query(`
    create table app_public.notes (
      id int primary key,
      text text not null check (text <> ''),
      about int references app_public.notes deferrable initially deferred);
    grant select, insert on app_public.notes to graph_app;
    create function app_public.noisy(int) returns int language plpgsql as $$
      begin
        raise notice 'note %', $1;
        perform pg_notify('noise', $1::text);
        return $1;
      end $$;
    grant execute on function app_public.noisy(int) to graph_app`);
  pool = createPool();
});
beforeEach(async () => {
  client = await pool.connect();
});
afterEach(async () => {
  const left = await leftovers(client);
  client.release();
  expect(left).toEqual(nothingLeft);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const createPool = (url = database.authUrl) => new Pool({ connectionString: url, max: 1, pipeline: true });

const settings: TransactionSettings = {
  role: 'graph_app',
  'graph.organization_id': '018f0000-0000-7000-8000-000000000001',
  'graph.application_id': '018f0000-0000-7000-8000-000000000002',
  'graph.user_id': '',
  'graph.scope': 'app',
  'graph.grant_id': '018f0000-0000-7000-8000-000000000003',
  'graph.request_id': 'request-1',
  'graph.server_request_id': 'server-1',
  'graph.row_limit': '10000',
  lock_timeout: '3s',
};

const run = (statement: Statement, connection = client) => queryInImplicitTransaction(connection, settings, statement);

const names = Object.keys(settings).filter((name) => name !== 'role');
const state = `select current_user::text as role,
  ${names.map((name) => `coalesce(current_setting('${name}', true), '') as "${name}"`).join(', ')}`;

/** The state that the next request would find on the connection. */
async function leftovers(connection: PoolClient): Promise<unknown> {
  const { rows } = await connection.query(`${state}, current_user = session_user as "isItself"`);
  return rows[0];
}

const nothingLeft = {
  ...Object.fromEntries(names.map((name) => [name, ''])),
  lock_timeout: '0',
  role: expect.any(String),
  isItself: true,
};

test('the statement sees the role and every claim, and those alone', async () => {
  const { rows } = await run({ text: state });

  expect(rows).toEqual([settings]);
});

test('what it writes is there when it is over', async () => {
  await run({ text: 'insert into app_public.notes values ($1, $2, null)', values: [1, 'one'] });

  const { rows } = await database.owner.query('select text from app_public.notes where id = 1');
  expect(rows).toEqual([{ text: 'one' }]);
});

test.each([
  ['that PostgreSQL cannot parse', 'selekt', '42601'],
  ['that is forbidden', 'delete from app_public.notes', '42501'],
  ['that fails half-way', `insert into app_public.notes values (10, 'ten', null), (11, '', null)`, '23514'],
  ['that fails only when it is committed', `insert into app_public.notes values (10, 'ten', 99)`, '23503'],
])('a statement %s leaves nothing behind, and the next succeeds', async (_what, text, code) => {
  for (const name of [`failing ${code}`, undefined]) {
    await expect(run({ text, ...(name && { name }) })).rejects.toMatchObject({ code });
    expect(await leftovers(client)).toEqual(nothingLeft);
    // The name is free again for a statement that was never prepared, and kept for one that was.
    await expect(run({ text, ...(name && { name }) })).rejects.toMatchObject({ code });
  }

  expect((await run({ text: 'select id from app_public.notes where id in (10, 11)' })).rows).toEqual([]);
});

test('a check that is not prepared before the timeout fails what is behind it with the timeout', async () => {
  const check = {
    name: 'first note',
    isPinned: true,
    text: 'select id from app_public.notes limit 1',
    values: [],
  } as const;
  const checked = () => queryInImplicitTransaction(client, settings, { text: 'select 1 as one' }, check);
  await client.query(`set statement_timeout = '100ms'`);
  const other = await database.owner.connect();
  await other.query('begin; lock table app_public.notes');

  const failure = await checked().catch((error: unknown) => error);
  await other.query('commit');
  other.release();

  expect(failure).toMatchObject({ code: '57014' });
  expect((await checked()).rows).toEqual([{ one: 1 }]);
  await client.query('reset statement_timeout');
});

test('a role that the authenticator may not take is refused before the statement runs', async () => {
  const other = { ...settings, role: 'graph_admin' as 'graph_app' };
  const insert = { text: `insert into app_public.notes values (20, 'twenty', null)` };
  await expect(queryInImplicitTransaction(client, other, insert)).rejects.toMatchObject({ code: '42501' });

  expect((await run({ text: 'select from app_public.notes where id = 20' })).rowCount).toBe(0);
});

test('a cancelled statement leaves nothing behind', async () => {
  const cancelled = expect(run({ text: 'select pg_sleep(60)' })).rejects.toMatchObject({ code: '57014' });
  await until(async () => {
    const { rowCount } =
      await database.owner.query(`select from pg_stat_activity where query like '%pg\\_sleep(60)' and state = 'active'
      and pid <> pg_backend_pid()`);
    return rowCount === 1;
  });
  await cancelStatement(client);

  await cancelled;
});

test('a connection that is lost fails the statement, and the pool replaces it', async () => {
  const other = createPool();
  other.on('error', () => undefined);
  const lost = await other.connect();
  lost.on('error', () => undefined);
  await expect(run({ text: 'select pg_terminate_backend(pg_backend_pid())' }, lost)).rejects.toThrow(/terminat/);
  lost.release();

  const next = await other.connect();
  expect((await run({ text: 'select 1 as one' }, next)).rows).toEqual([{ one: 1 }]);
  next.release();
  await other.end();
});

test('rows as arrays, no rows, and empty statements', async () => {
  expect((await run({ text: 'select 1, $1::text', values: ['a'], rowMode: 'array' })).rows).toEqual([[1, 'a']]);
  expect((await run({ text: 'select 1 where false' })).rows).toEqual([]);
  expect((await run({ text: '' })).rows).toEqual([]);
});

test('prepared statements are closed when there are too many, and prepared again when they are needed', async () => {
  const long = 'x'.repeat(40_000);
  const statement = (number: number) => ({ name: `long-${number}`, text: `select ${number} as number -- ${long}` });
  const countPrepared = async () => {
    const { rows } = await client.query(
      `select count(*)::int as count from pg_prepared_statements where name like 'long-%'`,
    );
    return rows[0].count;
  };
  for (const number of [1, 2, 3, 4]) await run(statement(number));
  expect(await countPrepared()).toBe(4);

  for (const number of [5, 6, 7, 8, 9]) await run(statement(number));
  expect(await countPrepared()).toBe(4);
  expect((await run(statement(1))).rows).toEqual([{ number: 1 }]);

  await run({ name: 'long-10', text: `select 10 as number -- ${long}${long}` });
  expect(await countPrepared()).toBe(4);
});

test('answers arrive whole however the network cuts them, with notices and notifications in between', async () => {
  const cutting = await startCutting(database.authUrl);
  const other = createPool(cutting.url);
  const connection = await other.connect();
  await connection.query('listen noise');
  const numbers = Array.from({ length: 50 }, (_, index) => index);
  for (const number of numbers) {
    const text = `select app_public.noisy($1) as number, repeat('ä', $1 * 10) as text`;
    const { rows } = await run({ name: 'noisy', text, values: [number] }, connection);
    expect(rows).toEqual([{ number, text: 'ä'.repeat(number * 10) }]);
  }
  connection.release();
  await other.end();
  await cutting.stop();
});

/** Stands between the pool and PostgreSQL and passes on its answers in pieces of 1 to 20 bytes. */
async function startCutting(target: string): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((socket) => {
    const upstream = connect(listenerOf(target));
    upstream.setNoDelay(true);
    socket.setNoDelay(true).on('error', () => upstream.destroy());
    socket.pipe(upstream);
    upstream.on('error', () => socket.destroy()).on('end', () => socket.end());
    upstream.on('data', (chunk) => {
      for (let from = 0; from < chunk.length; ) {
        const to = from + randomInt(1, 21);
        socket.write(chunk.subarray(from, to));
        from = to;
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: byTcp(target, (server.address() as AddressInfo).port),
    async stop() {
      server.close();
      await once(server, 'close');
    },
  };
}
