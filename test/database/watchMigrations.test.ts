import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { announceMigrations } from '../../src/database/migrations/watchMigrations.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// Two servers of one database stand for any number of processes and machines.

let database: TestDatabase;
let services: TestService[];
beforeAll(async () => {
  database = await createTestDatabase();
  services = await Promise.all([startTestService(database), startTestService(database)]);
});
beforeEach(() => {
  for (const { logs } of services) logs.length = 0;
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await database.drop();
});

test('every server shows what a migration has changed', async () => {
  await migrate('motto');
  await announce();

  await until(() => show('motto'));
});

test('a server that could not hear of a migration sees it when its connection is back', async () => {
  const name = new URL(database.authUrl).pathname.slice(1);
  await asAdministrator(`alter database ${name} allow_connections false`);
  await asAdministrator(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and application_name like 'graph%'`,
  );
  await until(() => services.every(({ logs }) => logs.some((line) => line.includes('cannot LISTEN for migrations'))));

  await asAdministrator(`alter database ${name} allow_connections true`);
  await migrate('virtue');

  await until(() => show('virtue'));
  for (const { logs } of services) {
    expect(logs.filter((line) => line.includes('cannot LISTEN for migrations'))).toHaveLength(1);
  }
});

test('the old schema serves on while a new one cannot be built, until a migration mends it', async () => {
  await change('alter function app_public.user_create rename to hidden');
  await announce();
  await until(() => services.every(({ logs }) => logs.some((line) => line.includes('the schema cannot be built'))));
  expect((await fetch(`${services[0]?.url}/readyz`)).status).toBe(200);

  await change('alter function app_public.hidden rename to user_create');
  await migrate('vigour');
  await announce();

  await until(() => show('vigour'));
});

test('a word on the channel alone builds nothing anew', async () => {
  await announce();
  await migrate('mascot');
  await announce();
  await until(() => show('mascot'));

  for (const { logs } of services) {
    expect(logs.filter((line) => line.includes('rebuilding the schema'))).toHaveLength(1);
  }
});

/** A computed field of users, by what counts as another migration. */
function migrate(field: string): Promise<void> {
  return change(`
    create function app_public.users_${field}("user" app_public.users) returns text language sql stable set search_path = '' as $$ select 'x' $$;
    comment on function app_public.users_${field} is '@behavior +typeField';
    grant execute on function app_public.users_${field} to graph_app`);
}

async function change(statements: string): Promise<void> {
  const hash = randomBytes(8).toString('hex');
  await database.owner.query(`begin; ${statements};
    insert into graphile_migrate.migrations (hash, filename) values ('${hash}', '900000-${hash}.sql'); commit`);
}

/** As `npm run db:migrate` does at its end. */
async function announce(): Promise<void> {
  const owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await announceMigrations(owner);
  await owner.end();
}

async function show(field: string): Promise<boolean> {
  const schemas = await Promise.all(
    services.map(async ({ url }) => (await fetch(`${url}/graphql/schema.graphql`)).text()),
  );
  return schemas.every((schema) => schema.includes(`${field}: String`));
}
