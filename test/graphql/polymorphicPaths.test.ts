import { PolymorphicPathsPlugin } from '../../packages/grafast-compile/src/PolymorphicPathsPlugin.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { shareService } from '../support/sharedService.ts';
import { askStock, upstreamTables } from './stockPostgraphile.ts';
import {
  ask,
  createCard,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  grantAccess,
  type Tenant,
} from './support.ts';

// Objects related to a card are found, whichever types of card are among the rows.

describe('a step that the types of an interface share', () => {
  const cards = {
    badge: { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2' },
    phone: {
      type: 'BeaconCard',
      name: 'Phone',
      proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
      major: 1,
      minor: 2,
    },
    code: { type: 'IdentificationCode', name: 'Code' },
  } as const;
  const kinds = Object.keys(cards) as (keyof typeof cards)[];
  const subsets = Array.from({ length: 2 ** kinds.length }, (_, bits) => kinds.filter((_, bit) => bits & (2 ** bit)));

  let graph: GraphTest;
  beforeAll(async () => {
    graph = await shareService();
  });

  /** A person who may enter one of two units and has these cards. */
  const createHolder = async (tenant: Tenant, held: typeof kinds) => {
    const holder = await createViewer(tenant, { fullName: 'Holder' });
    const unit = await createUnit(tenant, { name: 'Open' });
    await createUnit(tenant, { name: 'Closed' });
    await grantAccess(tenant, holder, unit);
    const made = [];
    for (const kind of held) made.push(await createCard(tenant, holder, cards[kind]));
    return { holder, made };
  };

  const below = `cardAssignments { user { fullName accessibleUnits { totalCount nodes { name } } cardAssignments { card { name } } }
    card { name cardAssignments { user { fullName } card { __typename ... on NfcCard { nfcIdentifier cardAssignments { user { email } } } } } } }`;

  for (const held of subsets) {
    const names = held.join(', ') || 'no card';

    it(`is run for ${names}, from app, a person, a node and a payload`, async () => {
      const tenant = await createTenant(graph);
      const { holder, made } = await createHolder(tenant, held);
      const expected = held.map((kind) => {
        const { type, name } = cards[kind];
        const again =
          type === 'NfcCard' ? { nfcIdentifier: '04A224B2', cardAssignments: [{ user: { email: holder.email } }] } : {};
        const user = {
          fullName: 'Holder',
          accessibleUnits: { totalCount: 1, nodes: [{ name: 'Open' }] },
          cardAssignments: held.map((each) => ({ card: { name: cards[each].name } })),
        };
        const inner = [{ user: { fullName: 'Holder' }, card: { __typename: type, ...again } }];
        return { cardAssignments: [{ user, card: { name, cardAssignments: inner } }] };
      });

      // Asked again, it is compiled.
      for (let time = 0; time < 2; time++) {
        const all = await ask(graph, tenant.app, `{ app { cards { nodes { ${below} } } } }`);
        expect(all.body).toEqual({ data: { app: { cards: { nodes: expected } } } });
        const own = await ask(graph, holder.token, `{ viewer { cardAssignments { card { ${below} } } } }`);
        expect(own.body).toEqual({ data: { viewer: { cardAssignments: expected.map((card) => ({ card })) } } });

        for (const [index, { assignmentId, cardId }] of made.entries()) {
          const { name } = cards[held[index] as keyof typeof cards];
          const query = `query ($id: ID!) { node(id: $id) { ... on CardAssignment { card { ${below} } } } }`;
          const node = await ask(graph, tenant.app, query, { id: assignmentId });
          expect(node.body).toEqual({ data: { node: { card: expected[index] } } });
          const update = `mutation ($id: ID!, $name: String) { cardUpdate(id: $id, name: $name) { card { ${below} } } }`;
          const payload = await ask(graph, tenant.app, update, {
            id: cardId,
            name,
          });
          expect(payload.body).toEqual({ data: { cardUpdate: { card: expected[index] } } });
        }
      }
    });
  }

  it('is run for the card of a new assignment, alone', async () => {
    const tenant = await createTenant(graph);
    const user = await createUser(tenant, { fullName: 'New' });
    const assign = `mutation ($user: ID!, $card: ID!) { cardAssign(userId: $user, cardId: $card) { cardAssignment { card { cardAssignments { user { fullName } } } } } }`;
    const create = 'mutation { nfcCardCreate(name: "Badge", nfcIdentifier: "04A224B2") { card { id } } }';

    const { body } = await ask(graph, tenant.app, create);
    const { id } = (body as { data: { nfcCardCreate: { card: { id: string } } } }).data.nfcCardCreate.card;
    const assigned = await ask(graph, tenant.app, assign, { user: user.id, card: id });

    expect(assigned.body).toEqual({
      data: { cardAssign: { cardAssignment: { card: { cardAssignments: [{ user: { fullName: 'New' } }] } } } },
    });
  });
});

/** For upstream: a stock PostGraphile, and two queries. */
describe('Grafast 1.1.3 alone', () => {
  const assignments = 'assignmentsByCardIdList';
  const source = `{ allCardsList { ${assignments} { cardByCardId { ${assignments} { personByPersonId { name } } } } } }`;
  const answerOf = (person: unknown) => ({
    data: { allCardsList: [{ [assignments]: [{ cardByCardId: { [assignments]: [{ personByPersonId: person }] } }] }] },
  });
  const ofPerson = 'assignmentsByPersonIdList';
  const id = btoa('["Person",1]');
  const inNode = `{ node(id: "${id}") { ... on Person { ${ofPerson} { cardByCardId { span { start { value } } } } } } }`;
  const withStart = (start: unknown) => ({ node: { [ofPerson]: [{ cardByCardId: { span: { start } } }] } });

  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.owner.query(upstreamTables);
  });
  afterAll(() => database.drop());

  // When one of these fails, a release has mended it.
  it('does not find the person', async () => {
    expect(await askStock(database, source, [])).toEqual(answerOf(null));
  });

  it('does not find the start of a range of a card in a node', async () => {
    expect(await askStock(database, inNode, [])).toMatchObject({
      data: withStart(null),
      errors: [{ message: 'Cannot return null for non-nullable field IntRangeBound.value.' }],
    });
  });

  it('finds both with the plugin', async () => {
    expect(await askStock(database, source, [PolymorphicPathsPlugin])).toEqual(answerOf({ name: 'Ada' }));
    expect(await askStock(database, inNode, [PolymorphicPathsPlugin])).toEqual({ data: withStart({ value: 1 }) });
  });
});
