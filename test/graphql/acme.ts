import { createCard, createTenant, createUnit, createViewer, type GraphTest, grantAccess } from './support.ts';

/** Ada with a card of each type, and one unit with a child that she may access. */
export async function createAcme(graph: Pick<GraphTest, 'database'>) {
  const tenant = await createTenant(graph);
  const ada = await createViewer(tenant, {
    fullName: 'Ada Lovelace',
    email: 'ada@acme.test',
    locale: 'de-AT',
    timeZone: 'New York',
    externalIdentifier: 'u-1',
    externalAuthenticationToken: 'sixteen-characters-or-more',
  });
  const headquarters = await createUnit(tenant, { name: 'Headquarters', externalIdentifier: 'hq' });
  const floor = await createUnit(tenant, { name: 'Floor 1', parent: headquarters });
  await grantAccess(tenant, ada, headquarters);
  const cards = [
    await createCard(tenant, ada, {
      type: 'BeaconCard',
      name: 'Phone',
      proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
      major: 0,
      minor: 65535,
    }),
    await createCard(tenant, ada, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2C13A80' }),
    await createCard(tenant, ada, { type: 'IdentificationCode', name: 'PIN' }),
  ] as const;
  return { tenant, ada, headquarters, floor, cards };
}

/** All that can be read of a card, whatever its type. */
export const cardFragments = `
  card {
    __typename
    id
    name
    ... on BeaconCard { proximityUuid major minor }
    ... on NfcCard { nfcIdentifier }
    ... on IdentificationCode { code: name }
  }`;

/** The assignments of Ada's cards, as they are read by it. */
export const expectedCards = ([beacon, nfc, code]: Awaited<ReturnType<typeof createAcme>>['cards']) => [
  {
    __typename: 'CardAssignment',
    id: beacon.assignmentId,
    card: {
      __typename: 'BeaconCard',
      id: beacon.cardId,
      name: 'Phone',
      proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
      major: 0,
      minor: 65535,
    },
  },
  {
    __typename: 'CardAssignment',
    id: nfc.assignmentId,
    card: { __typename: 'NfcCard', id: nfc.cardId, name: 'Badge', nfcIdentifier: '04A224B2C13A80' },
  },
  {
    __typename: 'CardAssignment',
    id: code.assignmentId,
    card: { __typename: 'IdentificationCode', id: code.cardId, name: 'PIN', code: 'PIN' },
  },
];
