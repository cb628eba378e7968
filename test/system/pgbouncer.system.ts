import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client, Pool } from 'pg';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';
import { addressOf } from '../support/workers.ts';
import { type Clients, kinds, startClients } from './support/clients.ts';
import { away, awayAndBack, measureOutage, successesOf } from './support/measureOutage.ts';
import { type PostgresServer, startPostgresServer } from './support/postgresServer.ts';
import { createTenantWithSecret, type TenantWithSecret } from './support/tenant.ts';

// By the settings of deploy/pgbouncer, in transaction mode. PGBOUNCER names another one than Debian's.

const program = process.env.PGBOUNCER ?? 'pgbouncer';

let postgres: PostgresServer;
let owner: Pool;
let pgbouncer: PgBouncer;
let service: TestProcess;
let tenant: TenantWithSecret;
let clients: Clients;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  // Clients who want the same row may wait for each other.
  postgres = await startPostgresServer({ deadlock_timeout: 100 });
  resources.defer(() => postgres.remove());
  owner = new Pool({ connectionString: postgres.ownerUrl, max: 2 });
  owner.on('error', () => undefined);
  resources.defer(() => owner.end());
  pgbouncer = await startPgBouncer(program, postgres.authUrl);
  resources.defer(() => pgbouncer.stop());
  tenant = await createTenantWithSecret(owner);
  service = startProcess([], {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: pgbouncer.authUrl,
    DATABASE_PREPARED_STATEMENTS: String(pgbouncer.preparesStatements),
    SECRET_KEY: testSecretKey,
    // Who was served just when an outage was over has waited for long.
    SLOW_MS: '600000',
    THROTTLE_REQUESTS_PER_MINUTE: '1000000',
  });
  resources.defer(async () => {
    service.signal('SIGTERM');
    await service.exited;
  });
  await service.says('Graph Query Service: http');
  clients = startClients(() => addressOf(service), tenant);
  resources.defer(() => clients.stop());
  await until(() => kinds.every((kind) => successesOf(clients, kind, 0).length > 5));
}, 120_000);

// What was started, should something be missing.
afterAll(() => resources.disposeAsync());

test('a statement ends at the limit that PgBouncer sets in the place of the service', async () => {
  const holder = await owner.connect();
  await holder.query('begin');
  await holder.query('lock table app_public.units');

  const since = performance.now();
  const response = await ask('{ app { rootUnits { nodes { id } } } }');
  const tookMs = performance.now() - since;
  await holder.query('rollback');
  holder.release();

  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    errors: [{ extensions: { code: 'TIMEOUT' } }],
  });
  expect(tookMs).toBeGreaterThan(9900);
  expect(tookMs).toBeLessThan(11_000);
});

test('nothing of a request stays on the connections that all share', async () => {
  const shared = new Client({ connectionString: pgbouncer.authUrl });
  await shared.connect();
  const settings = `select current_user = session_user and coalesce(current_setting('graph.organization_id', true), '') = '' as is_clean`;

  for (let look = 0; look < 50; look++) expect((await shared.query(settings)).rows).toEqual([{ is_clean: true }]);

  await shared.end();
});

test('the answers to many clients who want one identifier stay in step with their statements', async () => {
  for (let round = 0; round < 10; round++) {
    const create = `mutation { nfcCardCreate(name: "Badge", nfcIdentifier: "04A224B2C13A9${round}") { card { name } } }`;
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(create)));

    expect(outcomes.toSorted()).toEqual(['200 Badge', ...Array<string>(19).fill('200 CONFLICT')]);
  }
});

test('a migration is noticed', async () => {
  await owner.query(`
    begin;
    create function app_public.users_motto("user" app_public.users) returns text language sql stable set search_path = '' as $$ select 'x' $$;
    comment on function app_public.users_motto is '@behavior +typeField';
    grant execute on function app_public.users_motto to graph_app;
    insert into graphile_migrate.migrations (hash, filename) values ('motto', '900000-motto.sql');
    commit`);

  await until(async () => (await (await ask('{ __type(name: "User") { fields { name } } }')).text()).includes('motto'));
});

test('PostgreSQL behind it is restarted', async () => {
  const row = await measureOutage(
    { service, clients },
    {
      begin: () => postgres.end('SIGINT'),
      end: () => postgres.start(),
      answers: away,
      // PgBouncer lets statements wait for so long.
      withinMs: 5000,
      turnMs: 10_000,
      log: awayAndBack,
    },
  );
  console.table([row]);
});

test('the HTTP tests pass through it', async () => {
  await clients.stop();
  const { status, output } = await runTests();

  const failures = output.split('\n').filter((line) => /^(FAIL| {2}●)/.test(line));
  expect({ status, failures }).toEqual({ status: 0, failures: [] });
  console.log(`${program}: ${output.trim().split('\n').at(-1)}`);
}, 1_800_000);

/** What goes to the service by HTTP, and from there to PostgreSQL. */
const folders = ['test/graphql', 'test/http', 'test/oauth', 'test/generation/alterations'];

const ownLimit = 'statements end at a limit that the test chooses, which only the settings of PgBouncer could set';

/** Why these look at what is between the service and PostgreSQL, where PgBouncer is now. */
const others = {
  'test/graphql/outages': ownLimit,
  'test/oauth/overload': ownLimit,
  'test/http/connectionLimit': 'PgBouncer opens connections in the place of the service',
};

async function runTests(): Promise<{ status: number; output: string }> {
  const ignored = Object.keys(others).flatMap((path) => ['--testPathIgnorePatterns', path]);
  const args = ['run', '-s', 'test:run', '--', ...folders, ...ignored];
  const child = spawn('npm', args, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    // As `npm test` runs them: searches draw a part of their cases.
    env: { ...process.env, TEST_PGBOUNCER: program, TEST_SEARCHES: '' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const [status] = (await once(child, 'close')) as [number];
  return { status, output };
}

/** What the client has in the end: it repeats what may be repeated, such as a collision. */
async function outcomeOf(create: string): Promise<string> {
  const response = await ask(create);
  const { data, errors } = (await response.json()) as {
    data?: { nfcCardCreate: { card: { name: string } } };
    errors?: { extensions: { code: string } }[];
  };
  if (response.status === 503) return outcomeOf(create);
  return `${response.status} ${errors?.[0]?.extensions.code ?? data?.nfcCardCreate.card.name}`;
}

function ask(query: string): Promise<Response> {
  return fetch(`${addressOf(service)}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
}
