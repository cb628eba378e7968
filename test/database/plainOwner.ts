import { randomUUID } from 'node:crypto';
import { asAdministrator } from '../support/database.ts';
import { withLogin } from '../support/logins.ts';

/** Roles and a database of one test, whose owner may make no roles. */
export type Names = {
  readonly owner: string;
  readonly authenticator: string;
  readonly other: string;
  readonly database: string;
};

export const nameAll = (suffix = randomUUID().slice(0, 8)): Names => ({
  owner: `owner_${suffix}`,
  authenticator: `login_${suffix}`,
  other: `other_${suffix}`,
  database: `own_${suffix}`,
});

export const inherited = 'graph_admin, graph_helper, graph_purger';
export const requests = 'graph_user, graph_app, graph_basic, graph_oauth, graph_worker';

/** Makes the roles for an owner who may make none, as an administrator does. */
export async function makeRoles({ owner, authenticator }: Names): Promise<void> {
  await asAdministrator(`create role ${authenticator} login noinherit password 'secret'`);
  await asAdministrator(`grant ${requests} to ${authenticator}`);
  await asAdministrator(`grant ${inherited}, ${requests} to ${owner}`);
}

/** Runs the SQL of a refusal. */
export async function administer(message: string): Promise<void> {
  for (const statement of message.split('\n').slice(1, -1)) await asAdministrator(statement.replace("'…'", "'secret'"));
}

/** The URL of the database as this role, or as the administrator. */
export function urlIn({ database }: Names, username?: string): string {
  const url = new URL(process.env.TEST_OWNER_URL ?? '');
  return Object.assign(url, { pathname: `/${database}`, ...(username && { username, password: 'secret' }) }).href;
}

export async function schemasIn(names: Names): Promise<string[]> {
  return ask(
    names,
    `select nspname::text as value from pg_namespace where nspname !~ '^(pg_|information_schema|public)'`,
  );
}

/** Whether the migration that the database lacks has run. */
export async function isMigrated(names: Names): Promise<boolean> {
  const [made = false] = await ask<boolean>(names, `select to_regclass('app_hidden.lacking') is not null as value`);
  return made;
}

export async function publicMayConnect(names: Names): Promise<boolean> {
  const [may = false] = await ask<boolean>(
    names,
    `select exists (select from aclexplode(coalesce(datacl, acldefault('d', datdba))) where grantee = 0 and privilege_type = 'CONNECT') as value
     from pg_database where datname = current_database()`,
  );
  return may;
}

export async function canConnect(url: string): Promise<boolean> {
  try {
    await withLogin(url, async () => undefined);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: '42501' });
    return false;
  }
}

/** Runs a statement as the administrator, and returns its column `value`. */
async function ask<Value = string>(names: Names, statement: string): Promise<Value[]> {
  return withLogin(urlIn(names), async (client) => {
    const { rows } = await client.query<{ value: Value }>(statement);
    return rows.map(({ value }) => value);
  });
}
