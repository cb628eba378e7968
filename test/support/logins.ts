import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { asAdministrator, type TestDatabase } from './database.ts';

export type TestLogins = {
  readonly ownerUrl: string;
  readonly authUrl: string;
  readonly oauthUrl: string;
  readonly names: { readonly authenticator: string; readonly oauth: string };
  /** After the database, which grants them something. */
  drop(): Promise<void>;
};

/** URLs of two login roles of this test file's own, which `migrate` makes: roles are the cluster's. */
export function nameLogins({ ownerUrl }: TestDatabase): TestLogins {
  const suffix = randomUUID().slice(0, 8);
  const names = { authenticator: `authenticator_${suffix}`, oauth: `oauth_${suffix}` };
  const as = (username: string) => asLogin(ownerUrl, username, 'secret');
  return {
    ownerUrl,
    authUrl: as(names.authenticator),
    oauthUrl: as(names.oauth),
    names,
    drop: () => asAdministrator(`drop role ${names.authenticator}, ${names.oauth}`),
  };
}

/** Does something as one login role, on a connection of its own. */
export async function withLogin<T>(connectionString: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The same URL with another user, and perhaps another database. */
export function asLogin(url: string, user: string, password: string, database?: string): string {
  const changed = new URL(url);
  changed.username = encodeURIComponent(user);
  changed.password = encodeURIComponent(password);
  return database ? inDatabase(changed.href, database) : changed.href;
}

/** The same URL with another database. */
export function inDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
