import {
  createCard,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  grantAccess,
  issueToken,
  newExternalToken,
  read,
  type Tenant,
} from '../support.ts';
import type { Known } from './values.ts';

/** Rows of two organizations, tokens of every kind for them, and what a client could know of all that. */
export async function createWorld(graph: GraphTest): Promise<{ tokens: Tokens; known: Known }> {
  const tenant = await createTenant(graph);
  const other = await createTenant(graph);
  const own = await populate(tenant);
  const foreign = await populate(other);
  const tokens = {
    app: tenant.app,
    me: foreign.token,
    basic: tenant.basic,
    'app and basic': await issueToken(tenant, ['app', 'basic']),
    // Ends when a mutation happens to delete the user.
    'me, in the organization of app': own.token,
    unknown: `${tenant.app.slice(0, -1)}_`,
    none: null,
  };
  const cursors = await cursorsOf(graph, tenant.app, own.token);
  return { tokens, known: { ids: [...own.ids, ...foreign.ids], cursors, texts } };
}

/** Access tokens by what they are good for; null for none. */
export type Tokens = Readonly<Record<'app' | 'me' | (string & {}), string | null>>;

async function populate(tenant: Tenant): Promise<{ ids: string[]; token: string }> {
  const person = await createViewer(tenant);
  const root = await createUnit(tenant, { externalIdentifier: 'root' });
  const child = await createUnit(tenant, { parent: root, externalIdentifier: 'child' });
  const grandchild = await createUnit(tenant, { parent: child });
  await grantAccess(tenant, person, root);
  const ids = [person.id, root.id, child.id, grandchild.id];
  for (const card of [
    { type: 'IdentificationCode', name: 'Code' } as const,
    { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2C13A80' } as const,
    { type: 'BeaconCard', name: 'Phone', proximityUuid: crypto.randomUUID(), major: 0, minor: 65535 } as const,
  ]) {
    const { assignmentId, cardId } = await createCard(tenant, person, card);
    ids.push(assignmentId, cardId);
  }
  for (let index = 0; index < 8; index++) {
    const values = index % 2 ? {} : { externalAuthenticationToken: newExternalToken() };
    ids.push((await createUser(tenant, { externalIdentifier: `user-${index}`, ...values })).id);
  }
  return { ids, token: person.token };
}

async function cursorsOf(graph: GraphTest, app: string, person: string): Promise<string[]> {
  const cursors: string[] = [];
  for (const order of ['PRIMARY_KEY_ASC', 'EXTERNAL_IDENTIFIER_ASC']) {
    const page = `(orderBy: ${order}) { edges { cursor } }`;
    const pages = await read(graph, app, `{ app { users${page} rootUnits${page} } }`);
    const units = await read(graph, person, `{ viewer { accessibleUnits${page} } }`);
    const found = JSON.stringify([pages, units]).matchAll(/"cursor":"([^"]+)"/g);
    cursors.push(...Array.from(found, ([, cursor = '']) => cursor));
  }
  return cursors;
}

/** By the name of the argument; other arguments get any of them. */
const texts = {
  fullName: ['Ada Lovelace', 'Grace Hopper', 'Жан', ' '],
  email: ['ada@acme.test', 'ADA@acme.test', 'grace@acme.test', 'жан@acme.test', 'a@b', 'ada', 'x@y@z'],
  locale: ['de', 'en-GB', 'german'],
  timeZone: ['Berlin', 'Europe/Berlin', 'Mars'],
  timezone: ['Berlin', 'UTC'],
  externalIdentifier: ['user-1', 'user-2', 'root', 'child', 'new', 'newer'],
  userExternalIdentifier: ['user-1', 'user-2', 'nobody'],
  unitExternalIdentifier: ['root', 'child', 'nowhere'],
  parentExternalIdentifier: ['root', 'child', 'nowhere'],
  cardExternalIdentifier: ['new', 'newer'],
  nfcIdentifier: ['04A224B2', '04a224b2c13a80', 'chip'],
  proximityUuid: ['f7826da6-4fa2-4e98-8024-bc5b71e0893e'],
  nfcIdentifiers: ['04A224B2', '04a224b2c13a80', 'chip'],
  emails: ['ADA@acme.test', 'grace@acme.test'],
  externalIdentifiers: ['user-1', 'user-2', 'root', 'child', 'nobody'],
  externalAuthenticationToken: ['sixteen characters', 'another sixteen characters', 'short'],
  name: ['Query', 'Unit', 'UnitOrderBy', 'Card', 'Int', 'Nothing'],
};
