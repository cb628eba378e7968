import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { createClientSecret } from './applications.ts';
import { type ApplyOptions, applyDocument } from './applyDocument.ts';

/** What opens the demo; random, so that no two installations share it. */
export type DemoCredentials = {
  /** `demo-backend`, for client_credentials: scopes `app` and `basic`. */
  clientSecret: string;
  /** Of every demo user, with `demo-mobile`. */
  password: string;
  /** Of `ada@demo.test`, with `demo-external`. */
  externalAuthenticationToken: string;
};

export function createDemoCredentials(): DemoCredentials {
  return {
    clientSecret: createClientSecret(),
    password: randomBytes(12).toString('base64url'),
    externalAuthenticationToken: randomBytes(24).toString('base64url'),
  };
}

/**
 * Provisions the demo organization, once: not when it was renamed, nor over what was changed in it.
 *
 * @param owner connections as the owner of the tables
 * @returns whether it was provisioned now
 */
export async function provisionDemo(owner: Pool, sealing: Sealing, credentials: DemoCredentials): Promise<boolean> {
  const existing = await owner.query(
    `select from app_hidden.organizations where name = 'Demo'
     union all
     select from oauth.applications where client_id like 'demo-%'`,
  );
  if (existing.rowCount) return false;
  await applyDocument(owner, demoDocument(credentials), { ...sealing, report: () => undefined });
  return true;
}

/**
 * Lets GraphiQL sign people of the demo in: registers `demo-graphiql` with GraphiQL's address.
 * It is that of this start. Does nothing where the demo organization is gone or renamed.
 *
 * @param url the service's base URL
 */
export async function registerDemoGraphiql(owner: Pool, sealing: Sealing, url: string): Promise<void> {
  const demo = await owner.query(
    `select from oauth.applications a join app_hidden.organizations o on o.id = a.organization_id
     where o.name = 'Demo' and a.client_id = 'demo-backend'`,
  );
  if (!demo.rowCount) return;
  const graphiql = {
    name: 'Demo GraphiQL',
    clientId: 'demo-graphiql',
    confidential: false,
    scopes: ['me'],
    // A page that was opened by the loopback address is redirected back there, on any port (RFC 8252 section 7.3).
    redirectUris: [...new Set([`${url}/graphiql`, 'http://127.0.0.1/graphiql'])],
  };
  const document = { organizations: [{ name: 'Demo', applications: [graphiql] }] };
  await applyDocument(owner, document, { ...sealing, report: () => undefined });
}

/** What its secrets and passwords are kept by. */
type Sealing = Pick<ApplyOptions, 'secrets' | 'passwords'>;

const demoDocument = ({ clientSecret, password, externalAuthenticationToken }: DemoCredentials) => ({
  organizations: [
    {
      name: 'Demo',
      applications: [
        { name: 'Demo Backend', clientId: 'demo-backend', clientSecret, scopes: ['app', 'basic'] },
        {
          name: 'Demo Mobile',
          clientId: 'demo-mobile',
          confidential: false,
          scopes: ['me'],
          redirectUris: ['http://127.0.0.1/callback'],
          mobileApp: { authenticationType: 'password' },
        },
        {
          name: 'Demo External',
          clientId: 'demo-external',
          confidential: false,
          scopes: ['me'],
          mobileApp: { authenticationType: 'external_authentication_token' },
        },
      ],
      units: [
        {
          externalIdentifier: 'campus',
          name: 'Campus',
          children: [
            {
              externalIdentifier: 'north',
              name: 'North Building',
              children: [
                { externalIdentifier: 'north-1', name: 'First Floor' },
                { externalIdentifier: 'north-2', name: 'Second Floor' },
                { externalIdentifier: 'north-lab', name: 'Laboratory' },
              ],
            },
            {
              externalIdentifier: 'south',
              name: 'South Building',
              children: [
                { externalIdentifier: 'south-1', name: 'Reading Room' },
                { externalIdentifier: 'south-2', name: 'Archive' },
              ],
            },
          ],
        },
        {
          externalIdentifier: 'depot',
          name: 'Depot',
          children: [{ externalIdentifier: 'depot-yard', name: 'Yard' }],
        },
      ],
      users: [
        {
          externalIdentifier: 'ada',
          fullName: 'Ada Lovelace',
          email: 'ada@demo.test',
          locale: 'en-GB',
          timeZone: 'London',
          password,
          externalAuthenticationToken,
          accessibleUnits: ['campus'],
          cards: [
            { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2C13A80' },
            {
              type: 'BeaconCard',
              name: 'Phone',
              proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
              major: 1,
              minor: 7,
            },
            { type: 'IdentificationCode', name: 'Door code' },
          ],
        },
        {
          externalIdentifier: 'grace',
          fullName: 'Grace Hopper',
          email: 'grace@demo.test',
          locale: 'en-US',
          timeZone: 'America/New_York',
          password,
          accessibleUnits: ['north', 'south-2'],
          cards: [{ type: 'NfcCard', name: 'Badge', nfcIdentifier: '04B1C2D3' }],
        },
        {
          externalIdentifier: 'konrad',
          fullName: 'Konrad Zuse',
          email: 'konrad@demo.test',
          locale: 'de',
          timeZone: 'Berlin',
          password,
          accessibleUnits: ['depot-yard'],
          cards: [{ type: 'IdentificationCode', name: 'Gate code' }],
        },
        { externalIdentifier: 'emmy', fullName: 'Emmy Noether', email: 'emmy@demo.test', locale: 'de', password },
      ],
    },
  ],
});
