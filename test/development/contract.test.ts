import { randomUUID } from 'node:crypto';
import { createLog } from '../../src/log.ts';
import { type Answer, ask, createTenant, createUser, read, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nameLogins, type TestLogins } from '../support/logins.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// "Expand, then contract" of docs/changing-the-schema.md.

const log = createLog('silent');

const add = `
  alter table app_public.users add column nickname text;
  grant select (nickname) on app_public.users to graph_app;`;
const expand = `
  alter table app_public.users add column alias text;
  grant select (alias) on app_public.users to graph_app;
  create function app_hidden.keep_alias() returns trigger language plpgsql set search_path = pg_catalog, pg_temp
    as $$ begin new.alias = coalesce(new.alias, new.nickname); return new; end $$;
  create trigger keep_alias before insert or update on app_public.users for each row execute function app_hidden.keep_alias();
  update app_public.users set alias = nickname;
  comment on column app_public.users.nickname is '@deprecated Use alias.';`;
const contract = `
  drop trigger keep_alias on app_public.users;
  drop function app_hidden.keep_alias();
  alter table app_public.users drop column nickname;`;

let copy: MigrationsCopy;
let database: TestDatabase;
let logins: TestLogins;
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  copy = await createMigrationsCopy();
  await copy.commit('add nickname', add);
});
beforeEach(async () => {
  database = await createTestDatabase();
  logins = nameLogins(database);
  await copy.migrate(logins, log);
  service = await startTestService(logins, { OAUTH_DATABASE_URL: logins.oauthUrl, DATABASE_POOL_SIZE: '4' });
  tenant = await createTenant({ database });
  await createUser(tenant, { fullName: 'Grace Hopper' });
  await database.owner.query(`update app_public.users set nickname = 'Amazing Grace'`);
});
afterEach(async () => {
  await service.stop();
  await database.drop();
  await logins.drop();
});
afterAll(() => copy.remove());

const long = [1, 2, 3, 4].map((n) => `u${n}: users(first: 1000) { nodes { id } }`).join(' ');

test.each([
  ['', ''],
  [' in the offload thread', long],
])(
  'what is asked of a column after its migration and before the new schema%s is to be asked again',
  async (_, more) => {
    const query = `{ app { users { nodes { nickname } } ${more} } }`;
    await read(service, tenant.app, query);
    await database.owner.query(`begin; ${drop}; ${record}; commit`);

    const { status, headers, body } = await ask(service, tenant.app, query);
    expect([status, headers.get('Retry-After'), codeOf(body)]).toEqual([503, '2', 'UNAVAILABLE']);

    await database.owner.query('notify graph_query_service_migrations');
    await until(async () => codeOf((await ask(service, tenant.app, query)).body) === 'GRAPHQL_VALIDATION_FAILED');
  },
);

test('a mutation that waits for a migration is carried out after it, on the table as it has become', async () => {
  const create = (name: string) =>
    read(
      service,
      tenant.app,
      `mutation { userCreate(fullName: "Ada", email: "${name}@acme.test") { user { fullName } } }`,
    );
  // Often enough for PostgreSQL to keep a plan on each connection, which is then not made anew.
  for (let n = 0; n < 40; n++) await create(`ada-${n}`);
  const migration = await database.owner.connect();
  await migration.query(`begin; alter table app_public.users add column alias text; ${record}`);
  const creating = create('ada');
  await until(async () => (await waiting()) === 1);

  await migration.query('commit');
  migration.release();

  expect(await creating).toEqual({ userCreate: { user: { fullName: 'Ada' } } });
  const { rows } = await database.owner.query(`select from app_public.users where email = 'ada@acme.test'`);
  expect(rows).toHaveLength(1);
});

test('a column that no migration has dropped is a defect', async () => {
  await database.owner.query(drop);

  const { status, body } = await ask(service, tenant.app, '{ app { users { nodes { nickname } } } }');

  expect([status, codeOf(body)]).toEqual([200, 'INTERNAL']);
});

// The last one, since its migrations stay in the copy.
test('a column is replaced under load: no request fails but those for what is gone, and none of these by INTERNAL', async () => {
  let name = 'nickname';
  const clients = [
    // Goes with the schema.
    createClient(() => `{ app { users(first: 5) { nodes { id ${name} } } } }`),
    createClient(() => '{ app { users(first: 5) { nodes { id fullName email } } } }'),
    createClient(
      () => `mutation { userCreate(fullName: "Ada", email: "${randomUUID()}@acme.test") { user { fullName } } }`,
    ),
    createClient(() => 'mutation { userUpdate(externalIdentifier: "none", fullName: "Ada") { user { id } } }'),
    // Has not heard of it.
    createClient(() => '{ app { users(first: 5) { nodes { nickname } } } }'),
  ] as const;
  const [moving, reading, creating, updating, late] = clients;

  await migrate('expand', expand);
  await until(() => shows('alias: String'));
  expect(await shows('nickname: String @deprecated(reason: "Use alias.")')).toBe(true);
  name = 'alias';
  // What was asked with the old name has its answer.
  const count = moving.answers;
  await until(() => moving.answers > count + 20);
  await migrate('contract', contract);
  await until(async () => !(await shows('nickname: String')) && late.codes.has('GRAPHQL_VALIDATION_FAILED'));
  for (const client of clients) await client.stop();

  expect([moving.codes, reading.codes, creating.codes].map((codes) => [...codes])).toEqual([
    ['none'],
    ['none'],
    ['none'],
  ]);
  expect([...updating.codes]).toEqual(['NOT_FOUND']);
  expect([...late.codes].filter((code) => code !== 'UNAVAILABLE').sort()).toEqual([
    'GRAPHQL_VALIDATION_FAILED',
    'none',
  ]);
  for (const client of clients) expect(client.answers).toBeGreaterThan(20);
  expect(await read(service, tenant.app, '{ app { users(first: 1) { nodes { fullName alias } } } }')).toEqual({
    app: { users: { nodes: [{ fullName: 'Grace Hopper', alias: 'Amazing Grace' }] } },
  });
}, 60_000);

const drop = 'alter table app_public.users drop column nickname';
/** As a migration leaves it, before the service is notified. */
const record = `insert into graphile_migrate.migrations (hash, filename) values ('sha1:0', '900000.sql')`;

async function migrate(message: string, sql: string): Promise<void> {
  await copy.commit(message, sql);
  await copy.migrate(logins, log);
}

async function waiting(): Promise<number> {
  const { rows } = await database.owner.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}

/** Asks one after the other, and keeps what came of it. */
function createClient(query: () => string) {
  const codes = new Set<string>();
  let answers = 0;
  let stopping = false;
  const asking = (async () => {
    while (!stopping) {
      const { body } = await ask(service, tenant.app, query());
      answers += 1;
      codes.add(codeOf(body));
    }
  })();
  return {
    codes,
    get answers() {
      return answers;
    },
    async stop() {
      stopping = true;
      await asking;
    },
  };
}

const codeOf = ({ errors }: Answer['body']) => errors?.[0]?.extensions.code ?? 'none';

const shows = async (text: string) =>
  (await (await fetch(`${service.url}/graphql/schema.graphql`)).text()).includes(text);
