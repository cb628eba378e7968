import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { createClientSecret } from './applications.ts';
import { type ApplyOptions, applyDocument } from './applyDocument.ts';

/** Credentials of the demo; random, so that no two installations share them. */
export type DemoCredentials = {
  /** The secret of `demo-backend`, for client_credentials: scopes `app` and `basic`. */
  clientSecret: string;
  /** The password of every demo user, with `demo-mobile`. */
  password: string;
  /** The token of `ada@demo.test`, with `demo-external`. */
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
 * Provisions the demo organization once: not after it was renamed, and not over later changes.
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
 * Registers `demo-graphiql` with GraphiQL's address, so that people of the demo can sign in there.
 * It is the address of this start. Does nothing if the demo organization is gone, renamed or moved to another cell.
 *
 * @param url the service's base URL
 */
export async function registerDemoGraphiql(owner: Pool, sealing: Sealing, url: string): Promise<void> {
  const demo = await owner.query(
    `select from oauth.applications a join app_hidden.organizations o on o.id = a.organization_id
     where o.name = 'Demo' and a.client_id = 'demo-backend' and app_hidden.is_served(o.id)`,
  );
  if (!demo.rowCount) return;
  const graphiql = {
    name: 'Demo GraphiQL',
    clientId: 'demo-graphiql',
    ...ofPeople,
    // A page that was opened by the loopback address gets its redirect there, on any port (RFC 8252 section 7.3).
    redirectUris: [...new Set([`${url}/graphiql`, 'http://127.0.0.1/graphiql'])],
  };
  const document = { organizations: [{ name: 'Demo', applications: [graphiql] }] };
  await applyDocument(owner, document, { ...sealing, report: () => undefined });
}

/** The keys and hashes for its secrets and passwords. */
type Sealing = Pick<ApplyOptions, 'secrets' | 'passwords'>;

const ofPeople = { confidential: false, scopes: ['me'] };

const demoDocument = ({ clientSecret, password, externalAuthenticationToken }: DemoCredentials) => ({
  organizations: [
    {
      name: 'Demo',
      applications: [
        { name: 'Demo Backend', clientId: 'demo-backend', clientSecret, scopes: ['app', 'basic'] },
        {
          name: 'Demo Mobile',
          clientId: 'demo-mobile',
          ...ofPeople,
          redirectUris: ['http://127.0.0.1/callback'],
          mobileApp: { authenticationType: 'password' },
        },
        {
          name: 'Demo External',
          clientId: 'demo-external',
          ...ofPeople,
          mobileApp: { authenticationType: 'external_authentication_token' },
        },
      ],
      units: [
        unit('campus', 'Campus', [
          unit('north', 'North Building', [
            unit('north-1', 'First Floor'),
            unit('north-2', 'Second Floor'),
            unit('north-lab', 'Laboratory'),
          ]),
          unit('south', 'South Building', [unit('south-1', 'Reading Room'), unit('south-2', 'Archive')]),
        ]),
        unit('depot', 'Depot', [unit('depot-yard', 'Yard')]),
      ],
      users: [
        {
          ...user('ada', 'Ada Lovelace', 'en-GB', password),
          timeZone: 'London',
          externalAuthenticationToken,
          accessibleUnits: ['campus'],
          cards: [
            { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2C13A80' },
            { type: 'BeaconCard', name: 'Phone', proximityUuid, major: 1, minor: 7 },
            { type: 'IdentificationCode', name: 'Door code' },
          ],
        },
        {
          ...user('grace', 'Grace Hopper', 'en-US', password),
          timeZone: 'America/New_York',
          accessibleUnits: ['north', 'south-2'],
          cards: [{ type: 'NfcCard', name: 'Badge', nfcIdentifier: '04B1C2D3' }],
        },
        {
          ...user('konrad', 'Konrad Zuse', 'de', password),
          timeZone: 'Berlin',
          accessibleUnits: ['depot-yard'],
          cards: [{ type: 'IdentificationCode', name: 'Gate code' }],
        },
        user('emmy', 'Emmy Noether', 'de', password),
      ],
    },
  ],
});

const proximityUuid = 'f7826da6-4fa2-4e98-8024-bc5b71e0893e';

function unit(externalIdentifier: string, name: string, children: object[] = []) {
  return { externalIdentifier, name, children };
}

function user(externalIdentifier: string, fullName: string, locale: string, password: string) {
  return { externalIdentifier, fullName, email: `${externalIdentifier}@demo.test`, locale, password };
}
