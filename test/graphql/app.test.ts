import { shareService } from '../support/sharedService.ts';
import { cardFragments, createAcme, expectedCards } from './acme.ts';
import { createHeadquarters } from './headquarters.ts';
import { ask, createCard, createTenant, type GraphTest, read, type Tenant } from './support.ts';

let graph: GraphTest;
beforeAll(async () => {
  graph = await shareService();
});

describe('app', () => {
  it('is the application, with all users and the units at the top', async () => {
    const { tenant, ada, headquarters, floor, cards } = await createAcme(graph);

    const data = await read(
      graph,
      tenant.app,
      `{ app { __typename name
           users(first: 10) { nodes {
             __typename id fullName email locale timeZone externalIdentifier externalAuthenticationToken
             cardAssignments { __typename id ${cardFragments} } } }
           rootUnits(first: 10) { nodes {
             __typename id name externalIdentifier parent { id }
             children { nodes { id name externalIdentifier parent { id name } children { nodes { id } } } } } } } }`,
    );

    expect(data).toEqual({
      app: {
        __typename: 'App',
        name: 'Acme Backend',
        users: {
          nodes: [
            {
              __typename: 'User',
              id: ada.id,
              fullName: 'Ada Lovelace',
              email: 'ada@acme.test',
              locale: 'de-AT',
              timeZone: 'New York',
              externalIdentifier: 'u-1',
              externalAuthenticationToken: 'sixteen-characters-or-more',
              cardAssignments: expectedCards(cards),
            },
          ],
        },
        rootUnits: {
          nodes: [
            {
              __typename: 'Unit',
              id: headquarters.id,
              name: 'Headquarters',
              externalIdentifier: 'hq',
              parent: null,
              children: {
                nodes: [
                  {
                    id: floor.id,
                    name: 'Floor 1',
                    externalIdentifier: null,
                    parent: { id: headquarters.id, name: 'Headquarters' },
                    children: { nodes: [] },
                  },
                ],
              },
            },
          ],
        },
      },
    });
  });

  it('sees nothing of another organization, which itself sees it', async () => {
    const acme = await createAcme(graph);
    const { app } = await createTenant(graph);
    const query = '{ app { users { totalCount nodes { id } } rootUnits { totalCount nodes { id } } } }';

    expect(await read(graph, acme.tenant.app, query)).toEqual({
      app: {
        users: { totalCount: 1, nodes: [{ id: acme.ada.id }] },
        rootUnits: { totalCount: 1, nodes: [{ id: acme.headquarters.id }] },
      },
    });
    expect(await read(graph, app, query)).toEqual({
      app: { users: { totalCount: 0, nodes: [] }, rootUnits: { totalCount: 0, nodes: [] } },
    });
  });
});

describe('an app', () => {
  const counts = `{ app { units { totalCount nodes { name } } cards { totalCount nodes { __typename name } } } }`;
  const addCard = (tenant: Tenant, user: Parameters<typeof createCard>[1], name: string) =>
    createCard(tenant, user, { type: 'IdentificationCode', name });

  it('has all units and cards of its organization, and none of another', async () => {
    const { tenant, ada } = await createHeadquarters(graph);
    await addCard(tenant, ada, 'PIN');
    const other = await createHeadquarters(graph);
    await addCard(other.tenant, other.ada, 'Other');

    expect(await read(graph, tenant.app, counts)).toEqual({
      app: {
        units: { totalCount: 4, nodes: ['Headquarters', 'Floor 1', 'Room 1', 'Annex'].map((name) => ({ name })) },
        cards: { totalCount: 1, nodes: [{ __typename: 'IdentificationCode', name: 'PIN' }] },
      },
    });
  });

  it('finds units and cards by id and by external identifier', async () => {
    const { tenant, ada, room } = await createHeadquarters(graph);
    const { cardId } = await addCard(tenant, ada, 'PIN');
    await addCard(tenant, ada, 'Key');
    await tenant.owner.query(
      `update app_public.cards set external_identifier = 'key' where organization_id = $1 and name = 'Key'`,
      [tenant.organizationId],
    );
    const query = `query ($unit: ID!, $card: ID!) { app {
      byId: units(ids: [$unit]) { nodes { name } }
      byIdentifier: units(externalIdentifiers: ["floor"]) { nodes { name } }
      cardById: cards(ids: [$card]) { nodes { name externalIdentifier } }
      cardByIdentifier: cards(externalIdentifiers: ["key"]) { nodes { name externalIdentifier } }
      ofAnotherType: cards(ids: [$unit]) { nodes { name } }
      none: cards(ids: []) { nodes { name } } } }`;

    expect(await read(graph, tenant.app, query, { unit: room.id, card: cardId })).toEqual({
      app: {
        byId: { nodes: [{ name: 'Room 1' }] },
        byIdentifier: { nodes: [{ name: 'Floor 1' }] },
        cardById: { nodes: [{ name: 'PIN', externalIdentifier: null }] },
        cardByIdentifier: { nodes: [{ name: 'Key', externalIdentifier: 'key' }] },
        ofAnotherType: { nodes: [] },
        none: { nodes: [] },
      },
    });
  });

  it('finds users by e-mail address, whatever its case', async () => {
    const { tenant, ada } = await createHeadquarters(graph);
    const other = await createTenant(graph);
    const query = 'query ($emails: [String!]) { app { users(emails: $emails) { totalCount nodes { fullName } } } }';
    const found = { app: { users: { totalCount: 1, nodes: [{ fullName: 'Ada' }] } } };
    const nobody = { app: { users: { totalCount: 0, nodes: [] } } };

    for (const email of [ada.email, ada.email.toUpperCase(), ada.email.toLowerCase()])
      expect(await read(graph, tenant.app, query, { emails: [email, 'nobody@acme.test'] })).toEqual(found);
    expect(await read(graph, tenant.app, query, { emails: [] })).toEqual(nobody);
    expect(await read(graph, other.app, query, { emails: [ada.email] })).toEqual(nobody);
    expect(await read(graph, tenant.app, query, { emails: null })).toMatchObject({ app: { users: { totalCount: 3 } } });
    const tooMany = await ask(graph, tenant.app, query, { emails: Array(1001).fill(ada.email) });
    expect(tooMany.body.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'emails' });
  });
});
