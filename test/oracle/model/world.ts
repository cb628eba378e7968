import { randomUUID } from 'node:crypto';
import type { TestDatabase } from '../../support/database.ts';
import { readRows } from '../rows.ts';
import { applyOrganizations } from '../service.ts';
import type { State } from './state.ts';

/** Two organizations that have the same external identifiers, addresses and chips, so that a leak between them shows. */
export type World = { names: readonly [string, string]; ids: readonly [string, string]; state: State };

/** Makes worlds of organizations by `admin apply`, many in one process, since a start takes a second. */
export async function createWorlds(database: TestDatabase, count: number): Promise<World[]> {
  const pairs = Array.from({ length: count }, () => {
    const name = `world-${randomUUID()}`;
    return [`${name}-a`, `${name}-b`] as const;
  });
  await applyOrganizations(database.ownerUrl, pairs.flat().map(organization));

  const ids = await finish(database, pairs.flat());
  const worlds: World[] = [];
  for (const names of pairs) {
    const [one, other] = [ids.get(names[0]), ids.get(names[1])];
    if (!one || !other) throw new Error(`${names} were not made`);
    const rows = await readRows(database.owner, [one, other]);
    for (const user of rows.users) user.externalAuthenticationToken = tokenOf(user.externalIdentifier ?? '');
    worlds.push({ names, ids: [one, other], state: { rows, webhooks: [] } });
  }
  return worlds;
}

/** The secret of each application: the database has it hashed, so that it may be the same everywhere. */
export const clientSecret = 'a-secret-that-has-more-than-32-characters';

/** The people that sign in, by their tokens. */
export const people = ['u-0', 'u-1'] as const;

/** Of the people that the world begins with; the third has one without signing in. */
export const tokenOf = (externalIdentifier: string): string | null =>
  ['u-0', 'u-1', 'u-2'].includes(externalIdentifier) ? `external-token-of-${externalIdentifier}` : null;

function organization(name: string) {
  const unit = (number: number, children: object[] = []) => ({
    externalIdentifier: `n-${number}`,
    name: `Unit ${number}`,
    children,
  });
  const user = (number: number, accessibleUnits: string[], cards: object[] = []) => ({
    externalIdentifier: `u-${number}`,
    fullName: `Person ${number}`,
    email: `person-${number}@world.test`,
    externalAuthenticationToken: tokenOf(`u-${number}`),
    accessibleUnits,
    cards,
  });
  return {
    name,
    applications: [
      { name: 'Backend', clientId: `${name}-backend`, clientSecret, scopes: ['app', 'basic'] },
      {
        name: 'Mobile',
        clientId: `${name}-mobile`,
        clientSecret,
        scopes: ['me'],
        mobileApp: { authenticationType: 'external_authentication_token' },
      },
    ],
    units: [unit(0, [unit(1, [unit(2)]), unit(3)]), unit(4, [unit(5)])],
    users: [
      user(0, ['n-1'], [nfcCard, identificationCode]),
      user(1, ['n-0', 'n-4'], [beaconCard]),
      user(2, ['n-2'], [otherNfcCard]),
      user(3, [], [otherIdentificationCode]),
    ],
  };
}

const nfcCard = { type: 'NfcCard', name: 'c-0', nfcIdentifier: '04A224B2C13A80' };
const otherNfcCard = { type: 'NfcCard', name: 'c-3', nfcIdentifier: '04A224B2' };
const beaconCard = {
  type: 'BeaconCard',
  name: 'c-1',
  proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
  major: 1,
  minor: 65535,
};
const identificationCode = { type: 'IdentificationCode', name: 'c-2' };
const otherIdentificationCode = { type: 'IdentificationCode', name: 'c-4' };

/** Names cards by external identifiers and takes one from its holder, which the file cannot say. */
async function finish({ owner }: TestDatabase, names: string[]): Promise<Map<string, string>> {
  const { rows } = await owner.query<{ id: string; name: string }>(
    'select id, name from app_hidden.organizations where name = any($1)',
    [names],
  );
  const ids = rows.map(({ id }) => id);
  await owner.query('update app_public.cards set external_identifier = name where organization_id = any($1)', [ids]);
  await owner.query(
    `delete from app_public.card_assignments a using app_public.cards c
      where c.id = a.card_id and c.name in ('c-3', 'c-4') and c.organization_id = any($1)`,
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [name, id]));
}
