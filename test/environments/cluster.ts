import { randomUUID } from 'node:crypto';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { toDriverUrl } from '../../src/connectionUrl.ts';
import { type Commit, type Environment, inProcess, type Variables } from './environment.ts';

/** A server of PostgreSQL, whose rows run at the same time. */
export type Cluster = {
  readonly major: number;
  /** Of a superuser, at the database `postgres`. */
  readonly adminUrl: string;
  /** Of the login role that rows without one of their own share. */
  readonly authUrl: string;
  /** Left out where no developer works. */
  readonly commit?: Commit | undefined;
  /** A database that has every migration, and to which nothing is connected. */
  readonly template?: string;
  /** A file with what pg_dump has made of another such database. */
  readonly dump?: string;
  /** A file with the server's certificate, by which its TLS is verified. */
  readonly certificate?: string;
};

type Login = { readonly name: string; readonly password: string };

export type DatabaseOptions = {
  /** `$id` becomes eight characters, which no other has. */
  readonly name?: string;
  /** Clauses of `create database`. */
  readonly create?: string;
  /** Settings of the database; and of its roles in it, which outrank these. */
  readonly settings?: Variables;
  readonly roleSettings?: Variables;
  /** What the administrator runs in the database before the service comes; `$owner` is the owner's name. */
  readonly sql?: readonly string[];
  /** Another owner than the administrator, with these attributes. */
  readonly owner?: { readonly password: string; readonly attributes: string };
  /** A login role of its own, which is there before, or which `db:migrate` makes. */
  readonly login?: { readonly password: string; readonly isThere: boolean };
  /** Of the URLs; `$certificate` is the file of that name. */
  readonly parameters?: Variables;
  /** More of the shell, likewise. */
  readonly variables?: Variables;
};

/** A database of one's own, on a server that other rows use, too. */
export async function createDatabase(cluster: Cluster, options: DatabaseOptions = {}): Promise<Environment> {
  const made = await createEmptyDatabase(cluster, options);
  return inProcess(made.variables, cluster.commit, made.remove);
}

export type EmptyDatabase = { readonly name: string; readonly variables: Variables; remove(): Promise<void> };

/** What names it, for the service. */
export async function createEmptyDatabase(cluster: Cluster, options: DatabaseOptions = {}): Promise<EmptyDatabase> {
  const suffix = randomUUID().slice(0, 8);
  const { create = '', sql = [], settings = {}, roleSettings = {} } = options;
  const name = (options.name ?? 'matrix_$id').replace('$id', suffix);
  const owner = options.owner && { name: `owner_${suffix}`, password: options.owner.password };
  const login = options.login && { name: `login_${suffix}`, password: options.login.password };
  const nameOf = (url: string) => decodeURIComponent(new URL(url).username);
  const roles = [owner?.name ?? nameOf(cluster.adminUrl), login?.name ?? nameOf(cluster.authUrl)].map(escapeIdentifier);
  const [ownerName = '', loginName = ''] = roles;
  const database = escapeIdentifier(name);
  const run = (statement: string) => administer(cluster, statement);

  if (owner) await run(createRole(owner, options.owner?.attributes));
  if (login && options.login?.isThere) await run(createRole(login));
  await run(`create database ${database} owner ${ownerName} ${create}`);
  const inside = { adminUrl: urlOf(cluster.adminUrl, { database: name }) };
  for (const statement of sql) await administer(inside, statement.replace('$owner', ownerName));
  for (const [key, value] of Object.entries(settings)) await run(`alter database ${database} set ${key} = ${value}`);
  for (const [key, value] of Object.entries(roleSettings))
    for (const role of login && !options.login?.isThere ? [ownerName] : roles)
      await run(`alter role ${role} in database ${database} set ${key} = ${value}`);

  const filled = (values: Variables = {}) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, value.replace('$certificate', cluster.certificate ?? '')]),
    );
  const at = { database: name, parameters: filled(options.parameters) };
  return {
    name,
    variables: {
      DATABASE_URL: urlOf(cluster.adminUrl, { ...at, ...(owner && { login: owner }) }),
      AUTH_DATABASE_URL: urlOf(cluster.authUrl, { ...at, ...(login && { login }) }),
      ...filled(options.variables),
    },
    async remove() {
      await run(`drop database ${database} with (force)`);
      if (login) await run(`drop role if exists ${loginName}`);
      if (owner) await run(`drop role ${ownerName}`);
    },
  };
}

const createRole = ({ name, password }: Login, attributes = 'noinherit') =>
  `create role ${escapeIdentifier(name)} login ${attributes} password ${escapeLiteral(password)}`;

type UrlPart = { readonly database?: string; readonly login?: Login; readonly parameters?: Variables };

export function urlOf(base: string, { database, login, parameters = {} }: UrlPart): string {
  const url = new URL(base);
  if (database !== undefined) url.pathname = `/${encodeURIComponent(database)}`;
  if (login) url.username = encodeURIComponent(login.name);
  if (login) url.password = encodeURIComponent(login.password);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Runs one statement as a superuser. */
export async function administer(
  { adminUrl }: Pick<Cluster, 'adminUrl'>,
  statement: string,
): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: toDriverUrl(adminUrl) });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
