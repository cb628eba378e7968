import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { drainMs } from '../../src/service/service.ts';
import { anySecretKey, configOf, read, readOnlyYaml, root } from './support.ts';

type Service = {
  image?: string;
  build?: string | { context: string; dockerfile: string };
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  stop_grace_period?: string;
  depends_on?: string[] | Record<string, unknown>;
};
type Compose = { services: Record<string, Service>; volumes: Record<string, null> };

let compose: Compose;
beforeAll(async () => {
  compose = await readOnlyYaml<Compose>('deploy/compose.yaml');
});

const service = (name: string): Service => {
  const found = compose.services[name];
  if (!found) throw new Error(`There is no service ${name}.`);
  return found;
};

/** What the container gets when everything in `environment.example` is filled in. */
function environmentOf(name: string): Record<string, string> {
  const fill = (value: string) =>
    value.replace(/\$\{(\w+)(?::[-?][^}]*)?\}/g, (_, variable: string) =>
      variable === 'SECRET_KEY'
        ? anySecretKey
        : variable === 'PUBLIC_URL'
          ? 'https://graph.example.com'
          : `a-${variable}`,
    );
  return Object.fromEntries(Object.entries(service(name).environment ?? {}).map(([key, value]) => [key, fill(value)]));
}

test('the service and the migrations are started with what they need, and nothing they do not know', () => {
  const config = configOf(environmentOf('service'), 'serve');
  const migration = configOf(environmentOf('migrate'), 'migrate');

  expect(config).toMatchObject({ host: '0.0.0.0', port: 3000, metricsPort: 9464, explorers: false });
  // The server never gets the owner's URL.
  expect(config.database).toMatchObject({ kind: 'own', ownerUrl: undefined });
  expect(migration.database).toMatchObject({ kind: 'own', ownerUrl: expect.any(String) });
  expect(service('migrate').command).toEqual(['migrate']);
  expect(service('migrate').image).toBe(service('service').image);
});

test('it goes to PostgreSQL by PgBouncer, as the role and to the database that this knows', async () => {
  const ini = await read('deploy/pgbouncer/pgbouncer.ini');
  const setting = (name: string) => new RegExp(`^${name} = (.*)$`, 'm').exec(ini)?.[1];
  const url = new URL(environmentOf('service').AUTH_DATABASE_URL ?? '');
  const direct = new URL(environmentOf('migrate').AUTH_DATABASE_URL ?? '');
  const owner = new URL(environmentOf('migrate').DATABASE_URL ?? '');

  expect([url.hostname, url.port]).toEqual(['pgbouncer', setting('listen_port')]);
  expect([url.username, url.password, url.pathname]).toEqual([direct.username, direct.password, direct.pathname]);
  expect(await read('deploy/pgbouncer/start.sh')).toContain(`"${url.username}"`);
  const replica = new URL(environmentOf('service').REPLICA_DATABASE_URL ?? '');
  expect(Object.keys(compose.services)).toContain('replica');
  expect([replica.host, replica.username, replica.password]).toEqual([url.host, url.username, url.password]);
  const databases = [...ini.matchAll(/^(\w+) = host=(\w+) port=5432 dbname=(\w+)/gm)].map((match) => match.slice(1));
  expect(databases).toEqual([
    [url.pathname.slice(1), direct.hostname, owner.pathname.slice(1)],
    [replica.pathname.slice(1), 'replica', owner.pathname.slice(1)],
  ]);
  expect(setting('pool_mode')).toBe('transaction');
  expect(Number(setting('max_prepared_statements'))).toBeGreaterThan(0);
  // What the driver asks of each connection, PgBouncer has to ask in its place.
  const { statementTimeoutMs } = configOf(environmentOf('service'), 'serve');
  expect(setting('ignore_startup_parameters')).toBe('statement_timeout, options');
  expect(ini.split(`connect_query='set statement_timeout = ${statementTimeoutMs}'`)).toHaveLength(databases.length + 1);
});

test('the primary makes the owner as migrations need it, and the replica follows by the slot that it makes', async () => {
  const [roles, follow] = await Promise.all([
    read('deploy/postgres/create-roles.sh'),
    read('deploy/postgres/follow-primary.sh'),
  ]);
  const owner = new URL(environmentOf('migrate').DATABASE_URL ?? '');

  expect(roles).toContain(`create role ${owner.username} login createrole createdb`);
  expect(roles).toContain(`create database ${owner.pathname.slice(1)} owner ${owner.username}`);
  const [, slot] = /pg_create_physical_replication_slot\('(\w+)'\)/.exec(roles) ?? [];
  expect(follow).toContain(`--slot=${slot}`);
  const [, role] = /create role (\w+) login replication/.exec(roles) ?? [];
  expect(follow).toContain(`--username=${role}`);
  expect(roles).toContain(`host replication ${role} all`);
});

test('every variable that has to be filled in is in environment.example, and the other way round', async () => {
  const used = (await read('deploy/compose.yaml')).matchAll(/\$\{(\w+)/g);
  const example = (await read('deploy/environment.example')).matchAll(/^(\w+)=/gm);

  const names = (matches: Iterable<RegExpMatchArray>) => [...new Set([...matches].map(([, name]) => name))].toSorted();
  expect(names(example)).toEqual(names(used));
});

test('what is mounted and built is there', async () => {
  for (const { volumes = [], build } of Object.values(compose.services)) {
    for (const volume of volumes) {
      const [source = ''] = volume.split(':');
      if (source.startsWith('.')) await access(join(root, 'deploy', source));
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
    if (typeof build === 'object') await access(join(root, 'deploy', build.context, build.dockerfile));
    else if (build) await access(join(root, 'deploy', build, 'Dockerfile'));
  }
});

test('whoever is waited for is there', () => {
  const waited = Object.values(compose.services).flatMap(({ depends_on = [] }) =>
    Array.isArray(depends_on) ? depends_on : Object.keys(depends_on),
  );

  expect(waited.length).toBeGreaterThan(4);
  expect(waited.filter((name) => !(name in compose.services))).toEqual([]);
});

test('the service writes nowhere, has no privileges, keeps its metrics inside, and may finish its work', () => {
  const { read_only, cap_drop, ports, stop_grace_period = '' } = service('service');

  expect([read_only, cap_drop, ports]).toEqual([true, ['ALL'], ['127.0.0.1:3000:3000']]);
  expect(Number(stop_grace_period.replace(/s$/, '')) * 1000).toBeGreaterThan(drainMs + 2000);
});

test('Prometheus asks where the metrics are', async () => {
  type Scrapes = { scrape_configs: { static_configs: { targets: string[] }[]; metrics_path?: string }[] };
  const { scrape_configs } = await readOnlyYaml<Scrapes>('deploy/prometheus/prometheus.yml');

  const { METRICS_PORT } = environmentOf('service');
  expect(scrape_configs.flatMap(({ static_configs }) => static_configs.flatMap(({ targets }) => targets))).toEqual([
    `service:${METRICS_PORT}`,
  ]);
  expect(scrape_configs.map(({ metrics_path = '/metrics' }) => metrics_path)).toEqual(['/metrics']);
});
