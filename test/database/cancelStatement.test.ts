import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { Client, type PoolClient } from 'pg';
import { toDriverUrl } from '../../src/connectionUrl.ts';
import { cancelStatement } from '../../src/database/driver/driver.ts';
import { certificateFile, serveTls } from '../support/serveTls.ts';
import { until } from '../support/until.ts';
import { type PostgresServer, startPostgresServer } from '../system/support/postgresServer.ts';

// Who reads a cancel request has the key of its connection, and could cancel each statement after it.

let server: PostgresServer;
let owner: Client;
let wire: Server;
/** What clients have sent, by connection. */
let sent: Buffer[];
beforeAll(async () => {
  server = await startPostgresServer({ fsync: 'off' });
  owner = new Client({ connectionString: server.ownerUrl });
  await owner.connect();
  await serveTls(async (statement) => (await owner.query(statement)).rows);
  wire = createServer((near) => {
    const index = sent.push(Buffer.alloc(0)) - 1;
    const far = connect(server.port, '127.0.0.1');
    near.on('data', (chunk) => {
      sent[index] = Buffer.concat([sent[index] as Buffer, chunk]);
    });
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on('error', () => undefined);
  });
  wire.listen(0, '127.0.0.1');
  await once(wire, 'listening');
});
beforeEach(() => {
  sent = [];
});
afterAll(async () => {
  wire.close();
  await owner.end();
  await server.remove();
});

test.each(['require', 'verify-full'])(
  'with sslmode=%s a statement is cancelled, by a request that nobody reads',
  async (mode) => {
    expect(await cancelled({ sslmode: mode, sslrootcert: certificateFile })).toBe('57014');

    const [own = Buffer.alloc(0), request = Buffer.alloc(0)] = sent;
    expect([own, request].map((bytes) => bytes.readInt32BE(4))).toEqual([sslRequest, sslRequest]);
    expect(request.includes(cancelCode)).toBe(false);
  },
);

test('without TLS it is cancelled, too, by a request that is read', async () => {
  expect(await cancelled({ sslmode: 'disable' })).toBe('57014');
  expect(sent[1]?.readInt32BE(4)).toBe(cancelCode.readInt32BE());
});

const sslRequest = 80_877_103;
const cancelCode = Buffer.from([0x04, 0xd2, 0x16, 0x2e]);

/** The SQLSTATE of a statement that lasts, once it was cancelled; the same connection must go on. */
async function cancelled(parameters: Record<string, string>): Promise<string> {
  const { port } = wire.address() as { port: number };
  const query = new URLSearchParams(parameters);
  const url = server.ownerUrl.replace(`:${server.port}`, `:${port}`);
  const client = new Client({ connectionString: toDriverUrl(`${url}?${query}`) });
  await client.connect();
  const statement = client.query('select pg_sleep(60)').then(
    () => 'it ended by itself',
    ({ code }: { code: string }) => code,
  );
  const sleeps = `select from pg_stat_activity where wait_event = 'PgSleep'`;
  await until(async () => (await owner.query(sleeps)).rowCount === 1);
  await cancelStatement(client as unknown as PoolClient);
  const code = await statement;
  await client.query('select 1');
  await client.end();
  return code;
}
