import type { Pool } from 'pg';
import { applyOrganizations, issueToken, type Service as StartedService, startService } from '../service.ts';

/** Two organizations with units and people, made by `admin apply`, and services that serve them. */
export type World = {
  readonly organizations: readonly [Organization, Organization];
  readonly services: readonly Service[];
  /** Builds the schema of each service from the catalogue, as after `npm run db:migrate`. */
  rebuild(): Promise<void>;
  stop(): Promise<void>;
};

export type Service = StartedService & { readonly isCompiling: boolean };

export type Organization = {
  readonly id: string;
  readonly units: readonly Known[];
  /** The first may access the first two units. */
  readonly users: readonly Known[];
  /** Tokens of the application, and of the first user. */
  readonly tokens: { readonly app: string; readonly person: string };
};

type Known = { readonly uuid: string; readonly externalIdentifier: string };

type Database = { readonly ownerUrl: string; readonly authUrl: string; readonly owner: Pool };

const password = 'correct horse battery staple';
const secret = (name: string) => `the-secret-of-${name}-is-long-enough-for-everybody`;

/** @param root a copy of the repository; this one by default */
export async function createWorld(database: Database, compilations: readonly boolean[], root?: string): Promise<World> {
  const names = ['one', 'two'];
  await database.owner.query(
    'create extension citext schema public; grant execute on all functions in schema public to public',
  );
  const [services] = await Promise.all([
    Promise.all(
      compilations.map(async (isCompiling) => {
        const variables = { COMPILATION: String(isCompiling) };
        return { ...(await startService(database.authUrl, variables, root)), isCompiling };
      }),
    ),
    applyOrganizations(database.ownerUrl, names.map(documentOf)),
  ]);
  const [one, two] = await Promise.all(
    names.map((name) => readOrganization(database.owner, services[0]?.url ?? '', name)),
  );
  if (!one || !two) throw new Error('There are fewer than two organizations.');

  let builds = 0;
  return {
    services,
    organizations: [one, two],
    async rebuild() {
      const build = `Build ${++builds}.`;
      const before = services.map((service) => service.log().length);
      await database.owner.query(`
        create or replace function app_public.app_build(app app_public.app) returns text language sql stable as $$ select 'a' $$;
        comment on function app_public.app_build is '${build}';
        grant execute on function app_public.app_build to graph_app`);
      // A migration that another machine has run: each service finds it, and builds its schema.
      await database.owner.query(
        `insert into graphile_migrate.migrations (hash, previous_hash, filename, date)
         select $1, hash, $1, now() from graphile_migrate.migrations order by filename desc limit 1`,
        [`9${String(builds).padStart(6, '0')}-drawn`],
      );
      await database.owner.query('notify graph_query_service_migrations');
      await Promise.all(services.map((service, index) => untilBuilt(service, build, before[index] ?? 0)));
    },
    async stop() {
      await Promise.all(services.map((service) => service.stop()));
    },
  };
}

const documentOf = (name: string) => ({
  name,
  applications: [
    { name: 'Backend', clientId: `${name}-backend`, clientSecret: secret(name), scopes: ['app'] },
    {
      ...{ name: 'Mobile', clientId: `${name}-mobile`, confidential: false, scopes: ['me'] },
      ...{ redirectUris: ['http://127.0.0.1/callback'], mobileApp: { authenticationType: 'password' } },
    },
  ],
  units: [
    { externalIdentifier: 'u0', name: 'Unit 0', children: [{ externalIdentifier: 'u1', name: 'Unit 1' }] },
    { externalIdentifier: 'u2', name: 'Unit 2' },
  ],
  users: [0, 1, 2].map((number) => ({
    externalIdentifier: `p${number}`,
    fullName: `Person ${number}`,
    email: `p${number}@${name}.test`,
    ...(number === 0 && { password, accessibleUnits: ['u0'] }),
  })),
});

async function readOrganization(owner: Pool, url: string, name: string): Promise<Organization> {
  const { rows } = await owner.query('select id from app_hidden.organizations where name = $1', [name]);
  const known = async (table: string) =>
    (
      await owner.query<Known>(
        `select id as uuid, external_identifier as "externalIdentifier" from app_public.${table} where organization_id = $1 order by external_identifier`,
        [rows[0].id],
      )
    ).rows;
  const app = { grant_type: 'client_credentials', client_id: `${name}-backend`, client_secret: secret(name) };
  const person = { grant_type: 'password', client_id: `${name}-mobile`, username: `p0@${name}.test`, password };
  const tokens = { app: await issueToken(url, app), person: await issueToken(url, person) };
  return { id: rows[0].id, units: await known('units'), users: await known('users'), tokens };
}

async function untilBuilt({ url, log }: Service, build: string, before: number): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if ((await readSdl(url)).includes(build)) return;
    if (log().slice(before).includes('the schema cannot be built')) break;
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  throw new Error(`The schema has not been built: ${log().slice(-2000)}`);
}

export const readSdl = async (url: string): Promise<string> => (await fetch(`${url}/graphql/schema.graphql`)).text();
