import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { escapeLiteral } from 'pg';
import { takeCharge } from '../../src/commands/admin/takeCharge.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { withOwnerPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import { withLogin } from '../support/logins.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import {
  administer,
  type Cluster,
  createDatabase,
  createEmptyDatabase,
  type DatabaseOptions,
  type EmptyDatabase,
  urlOf,
} from './cluster.ts';
import { type Environment, inProcess } from './environment.ts';
import { combine, type Row, single, waysOf } from './matrix.ts';
import { otherValues } from './otherValues.ts';

/** PostgreSQL cuts names at 63 bytes. */
const names = waysOf<DatabaseOptions>('Name of the database', {
  '59 bytes': { name: `${'n'.repeat(51)}$id` },
  '60 bytes': { name: `${'n'.repeat(52)}$id` },
  '63 bytes': { name: `${'n'.repeat(55)}$id` },
  '63 bytes, beyond ASCII': { name: `${'n'.repeat(53)}$idß` },
  'quotes, spaces and upper case': { name: `My "Shop's" $id` },
  '`%`, `/`, `:`, `@`, `&` and `\\`': { name: 'a%20/b:c@d&e=f+g\\h $id' },
  'beyond ASCII': { name: 'Größe 数据 $id' },
});

/** Each third, fifth … is combined with a login role that is there, which can have settings of its own. */
const settings = waysOf<DatabaseOptions>('Settings of the database or of its roles', {
  '`DateStyle` German': { settings: { DateStyle: 'German' } },
  '`DateStyle` SQL, DMY': { settings: { DateStyle: 'SQL, DMY' } },
  '`DateStyle` Postgres, YMD, of the roles': { roleSettings: { DateStyle: 'Postgres, YMD' } },
  '`default_transaction_isolation` repeatable read': {
    settings: { default_transaction_isolation: "'repeatable read'" },
  },
  '`default_transaction_isolation` serializable, of the roles': {
    roleSettings: { default_transaction_isolation: 'serializable', default_transaction_deferrable: 'on' },
  },
  '`default_transaction_read_only` on': { settings: { default_transaction_read_only: 'on' } },
  '`default_transaction_read_only` on, of the roles': { roleSettings: { default_transaction_read_only: 'on' } },
  '`standard_conforming_strings` and `backslash_quote` off': {
    settings: { standard_conforming_strings: 'off', backslash_quote: 'off' },
  },
  '`row_security` off': { settings: { row_security: 'off' } },
  '`search_path` empty': { settings: { search_path: "''" } },
  '`search_path` of other schemas, of the roles': { roleSettings: { search_path: 'app_hidden, other' } },
  '`client_encoding` LATIN1': { settings: { client_encoding: 'LATIN1' } },
  '`statement_timeout` and `lock_timeout` of 20 ms, of the roles': {
    roleSettings: { statement_timeout: '20', lock_timeout: '20' },
  },
  '`check_function_bodies` off, `plpgsql.variable_conflict` use_column': {
    settings: { check_function_bodies: 'off', 'plpgsql.variable_conflict': 'use_column' },
  },
  'all that change what a statement means': { settings: otherValues, roleSettings: otherValues },
  'JIT for each statement, and other plans': { settings: { jit: 'on', jit_above_cost: '0', enable_seqscan: 'off' } },
});

const locale = (clauses: string) => ({ create: `template template0 ${clauses}` });
const locales = waysOf<DatabaseOptions>('Locale', {
  '`C`': locale("encoding 'UTF8' locale_provider libc locale 'C'"),
  '`C.UTF-8` of the C library': locale("encoding 'UTF8' locale_provider libc locale 'C.UTF-8'"),
  '`tr-TR` of ICU': locale("encoding 'UTF8' locale_provider icu icu_locale 'tr-TR' locale 'C'"),
  '`en-US` of ICU': locale("encoding 'UTF8' locale_provider icu icu_locale 'en-US' locale 'C'"),
  '`de-u-ks-level2` of ICU': locale("encoding 'UTF8' locale_provider icu icu_locale 'de-u-ks-level2' locale 'C'"),
});
const contents = waysOf<DatabaseOptions>('What is in the database', {
  nothing: {},
  'extensions, in a schema of theirs': {
    sql: [
      'create schema extensions',
      ...['citext', 'pg_trgm', 'btree_gist', 'unaccent'].map((name) => `create extension ${name} schema extensions`),
    ],
  },
  'no schema `public`': { sql: ['drop schema public'] },
  '`public`, without any right for PUBLIC': { sql: ['revoke all on schema public from public'] },
  'default privileges without PUBLIC': {
    sql: [
      'alter default privileges revoke execute on functions from public',
      'alter default privileges revoke usage on types from public',
    ],
  },
  'an event trigger of others, which records each DDL statement': {
    sql: [
      'create table public.ddl (id bigint generated always as identity primary key, tag text not null)',
      `create function public.record_ddl() returns event_trigger language plpgsql set search_path = pg_catalog
        as $$ begin insert into public.ddl (tag) values (tg_tag); end $$`,
      'revoke execute on function public.record_ddl from public',
      'create event trigger record_ddl on ddl_command_end execute function public.record_ddl()',
    ],
  },
  '`public` of another owner': { sql: ['alter schema public owner to graph_auditor'] },
  'tables and functions of others in `public`': {
    sql: [
      'create table public.users (id int primary key)',
      'create table public.units (id int primary key)',
      "create function public.lower(text) returns text language sql as $$ select 'other' $$",
      'create function public.now() returns timestamptz language sql as $$ select null::timestamptz $$',
    ],
  },
});

/** Each is tried as a password of a role that is there, and as one that `db:migrate` makes. */
const passwords = waysOf<DatabaseOptions>(
  'Password of the login role',
  Object.fromEntries(
    Object.entries({
      'no-break space and ligature': 'pass\u00a0word\ufb01',
      'soft hyphen and zero width joiner': 'pass\u00adword\u200d1',
      'combining marks': 'pa\u0301sswo\u0308rd',
      '`%`, `:`, `@`, `/`, `?`, `#` and a space': 'p%41:@/?#& ss',
      'quotes and a backslash': `p'"\\ass`,
      'a control character': 'pass\u0007word\u00a0',
    }).flatMap(([name, password]) => [
      [`${name}, of a role that is there`, { login: { password, isThere: true } }],
      [`${name}, of a role that \`db:migrate\` makes`, { login: { password, isThere: false } }],
    ]),
  ),
);

const requestRoles = 'graph_app, graph_user, graph_basic, graph_oauth, graph_worker';
const roles = waysOf<DatabaseOptions>('Roles of the cluster', {
  'an owner who may create databases and nothing else': {
    owner: { password: 'of-the-owner', attributes: 'createdb' },
    sql: [`grant graph_admin, graph_helper, graph_purger, ${requestRoles} to $owner`],
  },
  'an owner whose password has such characters': {
    owner: { password: 'pass\u00a0word\ufb01%:@', attributes: 'superuser' },
  },
});

const tls = waysOf<DatabaseOptions>('TLS', {
  'left out': {},
  '`sslmode=disable`': { parameters: { sslmode: 'disable' } },
  '`sslmode=require`': { parameters: { sslmode: 'require' } },
  '`sslmode=require` and `sslrootcert`': { parameters: { sslmode: 'require', sslrootcert: '$certificate' } },
  '`sslmode=verify-ca`': { parameters: { sslmode: 'verify-ca', sslrootcert: '$certificate' } },
  '`sslmode=verify-full`': { parameters: { sslmode: 'verify-full', sslrootcert: '$certificate' } },
  '`PGSSLMODE=require`': { variables: { PGSSLMODE: 'require' } },
  '`PGSSLMODE=verify-full` and `PGSSLROOTCERT`': {
    variables: { PGSSLMODE: 'verify-full', PGSSLROOTCERT: '$certificate' },
  },
});

/** What `combine` may put together. */
export const databaseParts = { settings, names, locales, contents, passwords };

/** On a server that other rows use, too. */
export const databaseRows: readonly Row[] = [
  // First: a new owner would be a finding to the `db:commit` of another row.
  ...combine(createDatabase, roles),
  ...combine(createWithTls, settings, names, locales, contents, passwords, tls),
  single('Roles of the cluster', 'one login role for two databases', (cluster) => createSecond(cluster, true)),
  single('Roles of the cluster', 'a login role for each of two databases', (cluster) => createSecond(cluster, false)),
  single('What is in the database', 'what its template has', async (cluster) =>
    inCharge(await createEmptyDatabase(cluster, { create: `template ${cluster.template}` }), cluster),
  ),
  single('What is in the database', 'what a dump of PostgreSQL 15 has', restore),
  single('The way to the database', 'PgBouncer, in transaction mode', createBehindPgBouncer),
];

/** Every connection of the login role is encrypted, or none. */
async function createWithTls(cluster: Cluster, options: DatabaseOptions): Promise<Environment> {
  const made = await createEmptyDatabase(cluster, options);
  const environment = inProcess(made.variables, cluster.commit, made.remove);
  const login = new URL(made.variables.AUTH_DATABASE_URL ?? '').username;
  const isEncrypted = !['disable', undefined].includes(options.parameters?.sslmode ?? options.variables?.PGSSLMODE);
  return {
    ...environment,
    async start() {
      const url = await environment.start();
      const open = await administer(
        cluster,
        `select ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = ${escapeLiteral(login)}`,
      );
      expect(new Set(open.map(({ ssl }) => ssl))).toEqual(new Set([isEncrypted]));
      return url;
    },
  };
}

/** The login role still connects to the first, and so the second has not changed its password. */
async function createSecond(cluster: Cluster, isShared: boolean): Promise<Environment> {
  const first = await createEmptyDatabase(cluster, { login: { password: 'of-the-first', isThere: false } });
  const { DATABASE_URL: ownerUrl = '', AUTH_DATABASE_URL: authUrl = '' } = first.variables;
  await migrate({ ownerUrl, authUrl }, createLog('error'));
  const made = await createEmptyDatabase(
    cluster,
    isShared ? {} : { login: { password: 'of-the-second', isThere: false } },
  );
  const shared = { ...made.variables, AUTH_DATABASE_URL: urlOf(authUrl, { database: made.name }) };
  const second = inProcess(isShared ? shared : made.variables, cluster.commit, made.remove);
  return {
    ...second,
    async start() {
      await withLogin(authUrl, (client) => client.query('select'));
      return second.start();
    },
    async remove() {
      await second.remove();
      await first.remove();
    },
  };
}

async function createBehindPgBouncer(cluster: Cluster): Promise<Environment> {
  const made = await createEmptyDatabase(cluster);
  const { AUTH_DATABASE_URL: authUrl = '' } = made.variables;
  const { hostname, port } = new URL(authUrl);
  const direct = urlOf(authUrl, { parameters: { host: hostname, port } });
  const pgbouncer = await startPgBouncer(process.env.PGBOUNCER ?? 'pgbouncer', direct);
  const behind = {
    AUTH_DATABASE_URL: pgbouncer.authUrl,
    DATABASE_PREPARED_STATEMENTS: String(pgbouncer.preparesStatements),
  };
  const environment = inProcess({ ...made.variables, ...behind }, cluster.commit, async () => {
    await pgbouncer.stop();
    await made.remove();
  });
  return { ...environment, migrate: inProcess(made.variables, cluster.commit, made.remove).migrate };
}

async function restore(cluster: Cluster): Promise<Environment> {
  const made = await createEmptyDatabase(cluster);
  const url = urlOf(cluster.adminUrl, { database: made.name });
  await run('psql', ['--quiet', '--set=ON_ERROR_STOP=1', `--file=${cluster.dump}`, url]);
  return inCharge(made, cluster);
}

/** A copy sends no webhooks until `admin take-charge`. */
function inCharge({ variables, remove }: EmptyDatabase, cluster: Cluster): Environment {
  const environment = inProcess(variables, cluster.commit, remove);
  return {
    ...environment,
    async migrate() {
      await environment.migrate();
      await withOwnerPool(await environment.ownerUrl(), createLog('error'), takeCharge);
    },
  };
}

const run = promisify(execFile);
