import { randomBytes, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { encodeNodeId } from '../../plugins/NodeIdPlugin.ts';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { createToken, hashToken } from '../../src/token/accessTokens.ts';
import type { Scope } from '../../src/token/scopes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService, testSecretKey } from '../support/service.ts';
import type { SharedService } from '../support/sharedService.ts';

export { type Answer, ask, askUntilServed, expectErrors, expectRefused, type Refusal, read } from './client.ts';

export type GraphTest = SharedService;

/** A service with a database of its own. */
export type OwnGraphTest = TestService & { database: TestDatabase };

/**
 * For files that change the schema, the configuration or what belongs to no tenant; the others share one.
 *
 * @param extend changes the schema before the service reads it, since a start and a reload would build it twice
 */
export async function startGraphTest(
  overrides: Record<string, string> = {},
  extend: (database: TestDatabase) => Promise<unknown> = async () => undefined,
): Promise<OwnGraphTest> {
  const database = await createTestDatabase();
  await extend(database);
  const service = await startTestService(database, overrides);
  const stop = async () => {
    await service.stop();
    await database.drop();
  };
  return { ...service, stop, database };
}

/** An organization with one application, and tokens of that application. */
export type Tenant = {
  owner: Pool;
  organizationId: string;
  applicationId: string;
  /** An access token with scope `app`. */
  app: string;
  /** An access token with scope `basic`. */
  basic: string;
};

export async function createTenant({
  database: { owner },
}: {
  database: Pick<TestDatabase, 'owner'>;
}): Promise<Tenant> {
  const organizationId = randomUUID();
  const applicationId = randomUUID();
  await owner.query('insert into app_hidden.organizations (id, name) values ($1, $2)', [
    organizationId,
    `Organization ${organizationId}`,
  ]);
  await owner.query(
    `insert into oauth.applications (organization_id, id, name, client_id, scopes)
     values ($1, $2, 'Acme Backend', $3, '{app,basic,me}')`,
    [organizationId, applicationId, `client-${applicationId}`],
  );
  const tenant = { owner, organizationId, applicationId };
  return { ...tenant, app: await issueToken(tenant, ['app']), basic: await issueToken(tenant, ['basic']) };
}

/** An access token as the OAuth server leaves it in the database; `userId` belongs to scope `me`. */
export async function issueToken(
  { owner, organizationId, applicationId }: Pick<Tenant, 'owner' | 'organizationId' | 'applicationId'>,
  scopes: Scope[],
  userId: string | null = null,
): Promise<string> {
  const token = createToken('access');
  const { rows } = await owner.query(
    `insert into oauth.grants (organization_id, application_id, user_id, grant_type, scopes, client_authentication)
     values ($1, $2, $3, $4, $5, 'secret')
     returning id`,
    [organizationId, applicationId, userId, userId ? 'password' : 'client_credentials', scopes],
  );
  await owner.query(
    `insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
     values ($1, $2, $3, $4, now(), now() + interval '1 hour')`,
    [organizationId, hashToken(token), rows[0].id, scopes],
  );
  return token;
}

export type TestUser = {
  uuid: string;
  /** The global id. */
  id: string;
  fullName: string;
  email: string;
  externalIdentifier: string | null;
};

type UserOptions = {
  fullName?: string;
  email?: string;
  locale?: string;
  timeZone?: string;
  externalIdentifier?: string | null;
  externalAuthenticationToken?: string;
};

export async function createUser({ owner, organizationId }: Tenant, options: UserOptions = {}): Promise<TestUser> {
  const uuid = await newKey(owner);
  const { fullName = 'Ada Lovelace', email = `${uuid}@acme.test`, externalIdentifier = null } = options;
  const { locale = 'en', timeZone = 'UTC', externalAuthenticationToken: token } = options;
  await owner.query(
    `insert into app_public.users
       (organization_id, id, full_name, email, locale, time_zone, external_identifier,
        external_authentication_token_ciphertext, external_authentication_token_hash)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      ...[organizationId, uuid, fullName, email, locale, timeZone, externalIdentifier],
      token === undefined ? null : secrets.seal(token, { organizationId, userId: uuid }),
      token === undefined ? null : secrets.lookupHash(token, organizationId),
    ],
  );
  return { uuid, id: globalId('User', uuid), fullName, email, externalIdentifier };
}

/** A user and an access token with scope `me` of that user. */
export async function createViewer(tenant: Tenant, options: UserOptions = {}): Promise<TestUser & { token: string }> {
  const user = await createUser(tenant, options);
  return { ...user, token: await issueToken(tenant, ['me'], user.uuid) };
}

export type TestUnit = { uuid: string; id: string; name: string };

type UnitOptions = { name?: string; parent?: TestUnit; externalIdentifier?: string | null };

export async function createUnit({ owner, organizationId }: Tenant, options: UnitOptions = {}): Promise<TestUnit> {
  const uuid = await newKey(owner);
  const { name = 'Unit', parent, externalIdentifier = null } = options;
  await owner.query(
    `insert into app_public.units (organization_id, id, parent_id, name, external_identifier)
     values ($1, $2, $3, $4, $5)`,
    [organizationId, uuid, parent?.uuid ?? null, name, externalIdentifier],
  );
  return { uuid, id: globalId('Unit', uuid), name };
}

export async function grantAccess({ owner, organizationId }: Tenant, user: TestUser, unit: TestUnit): Promise<void> {
  await owner.query('insert into app_hidden.unit_access (organization_id, user_id, unit_id) values ($1, $2, $3)', [
    organizationId,
    user.uuid,
    unit.uuid,
  ]);
}

export type TestCard = { assignmentId: string; cardId: string };

type CardOptions =
  | { type: 'BeaconCard'; name: string; proximityUuid: string; major: number; minor: number }
  | { type: 'NfcCard'; name: string; nfcIdentifier: string }
  | { type: 'IdentificationCode'; name: string };

/** A card that is assigned to the user. */
export async function createCard(tenant: Tenant, user: TestUser, card: CardOptions): Promise<TestCard> {
  const { owner, organizationId } = tenant;
  const [cardKey, assignmentKey] = [await newKey(owner), await newKey(owner)];
  const { proximityUuid = null, major = null, minor = null, nfcIdentifier = null } = card as Record<string, unknown>;
  await owner.query(
    `insert into app_public.cards (organization_id, id, type, name, proximity_uuid, major, minor, nfc_identifier)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [organizationId, cardKey, card.type, card.name, proximityUuid, major, minor, nfcIdentifier],
  );
  await owner.query(
    'insert into app_public.card_assignments (organization_id, id, user_id, card_id) values ($1, $2, $3, $4)',
    [organizationId, assignmentKey, user.uuid, cardKey],
  );
  return { assignmentId: globalId('CardAssignment', assignmentKey), cardId: globalId(card.type, cardKey) };
}

/** The id under which a client knows the row. */
export function globalId(type: string, uuid: string): string {
  return String(encodeNodeId([type, uuid]));
}

/** Keys in the order of creation, as the database itself makes them. */
async function newKey(owner: Pool): Promise<string> {
  const { rows } = await owner.query('select app_hidden.uuid_v7() as key');
  return rows[0].key;
}

export const secrets = createSecrets([Buffer.from(testSecretKey, 'base64')]);

export const newExternalToken = () => randomBytes(24).toString('base64url');
