import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { createSecrets, type Secrets } from '../../src/crypto/secrets.ts';
import { type Applied, applyDocument } from '../../src/provisioning/applyDocument.ts';
import { ProvisioningError } from '../../src/provisioning/rows.ts';
import { testPasswords } from '../support/passwords.ts';

export const testSecrets = createSecrets([randomBytes(32)]);

export function apply(owner: Pool, document: unknown, secrets: Secrets = testSecrets): Promise<Applied> {
  return applyDocument(owner, document, { secrets, passwords: testPasswords, report: () => undefined });
}

/** The problems of a document, as `path: message`. Throws if the document can be applied. */
export async function problemsOf(owner: Pool, document: unknown, secrets?: Secrets): Promise<readonly string[]> {
  try {
    await apply(owner, document, secrets);
  } catch (error) {
    if (error instanceof ProvisioningError) return error.problems;
    throw error;
  }
  throw new Error('The document was applied');
}

/** The paths alone. */
export async function pathsOf(owner: Pool, document: unknown, secrets?: Secrets): Promise<string[]> {
  return (await problemsOf(owner, document, secrets)).map((problem) => problem.slice(0, problem.indexOf(': ')));
}

/** One value per row. */
export async function valuesOf(owner: Pool, statement: string): Promise<unknown[]> {
  const { rows } = await owner.query({ text: statement, rowMode: 'array' });
  return rows.map((row) => row[0]);
}

/** Every row of every table, and which transaction wrote or locked it: equal only if nothing at all was written. */
export async function everyRow(owner: Pool): Promise<Record<string, unknown[]>> {
  const tables = await owner.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace in ('app_public'::regnamespace, 'app_hidden'::regnamespace, 'oauth'::regnamespace)
     order by 1`,
  );
  const contents: Record<string, unknown[]> = {};
  for (const { name } of tables.rows) {
    const { rows } = await owner.query(
      `select t.xmin::text, t.xmax::text, t.ctid::text, t.* from ${name} t order by t.ctid`,
    );
    contents[name] = rows;
  }
  return contents;
}

export const backend = {
  name: 'Acme Backend',
  clientId: 'acme-backend',
  clientSecret: 'at-least-32-characters-of-a-secret',
  scopes: ['app', 'basic'],
};

export const mobile = {
  name: 'Acme Mobile',
  clientId: 'acme-mobile',
  confidential: false,
  scopes: ['me'],
  redirectUris: ['http://127.0.0.1/callback'],
  mobileApp: { authenticationType: 'password' },
};

export const badge = { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2C13A80' };

export const phone = {
  type: 'BeaconCard',
  name: 'Phone',
  proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
  major: 1,
  minor: 65535,
};

export const ada = {
  externalIdentifier: 'u-1',
  fullName: 'Ada Lovelace',
  email: 'ada@acme.test',
  locale: 'en',
  timeZone: 'Berlin',
  password: 'correct horse battery',
  externalAuthenticationToken: 'sixteen-characters-or-more',
  accessibleUnits: ['hq'],
  cards: [badge, phone, { type: 'IdentificationCode', name: 'PIN' }],
};

export const headquarters = {
  externalIdentifier: 'hq',
  name: 'Headquarters',
  children: [{ externalIdentifier: 'hq-1', name: 'Floor 1' }],
};

/** A document about one organization. */
export const acme = (parts: object) => ({ organizations: [{ name: 'Acme', ...parts }] });

/** A document with a bit of everything. */
export const example = acme({ applications: [backend, mobile], units: [headquarters], users: [ada] });

/** A user with nothing but what is required. */
export const user = (name: string) => ({
  externalIdentifier: name,
  fullName: `User ${name}`,
  email: `${name}@acme.test`,
});
