import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { StartupError } from '../errors/errors.ts';
import { findApplication } from '../oauth/client.ts';
import { issueToApplication } from '../oauth/grants/clientCredentials.ts';
import { noRequest } from '../observability/requestFields.ts';
import type { DemoCredentials } from '../provisioning/demo.ts';

/** The file in `DATA_DIR` that has the demo's address and credentials as environment variables. */
export const demoEnvironmentFile = 'demo.env';

/** The variables of {@link demoEnvironmentFile}. */
export type DemoEnvironment = Record<'BASE_URL' | 'CLIENT_SECRET' | 'PASSWORD' | 'EXTERNAL_TOKEN', string>;

/**
 * Writes the demo's address and credentials for shells (`. ./.data/demo.env`) and programs (`node --env-file`).
 * Each start writes it anew, since its port may be another. Only the owner may read it.
 *
 * @param url the service's base URL
 */
export async function writeDemoEnvironment(dataDir: string, url: string, demo: DemoCredentials): Promise<void> {
  const variables: DemoEnvironment = {
    BASE_URL: url.replaceAll("'", '%27'),
    CLIENT_SECRET: demo.clientSecret,
    PASSWORD: demo.password,
    EXTERNAL_TOKEN: demo.externalAuthenticationToken,
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'\n`);
  const path = join(dataDir, demoEnvironmentFile);
  // Replaced as a whole, so that no program reads half of it.
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, lines.join(''), { mode: 0o600 });
    await rename(draft, path);
  } catch (error) {
    throw new StartupError(`Cannot write ${path}; let this user write there, or set DATA_DIR.`, { cause: error });
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * An access token for the command that a start prints, as `demo-backend` gets one by `client_credentials`.
 * It is issued in the database, so that a start makes no request to itself.
 *
 * @returns null when the application is gone, disabled or has lost the scope
 */
export async function issueDemoToken(owner: Pool): Promise<string | null> {
  const application = await findApplication(owner, 'demo-backend', noRequest);
  if (!application?.scopes.includes('app')) return null;
  const { access_token } = await issueToApplication(owner, application, ['app'], noRequest);
  return access_token;
}
