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
  const as = (username: string) => Object.assign(new URL(ownerUrl), { username, password: 'secret' }).href;
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
