import { Pool } from 'pg';
import { makeSchema } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafast } from 'postgraphile/grafast';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { PolymorphicPathsPlugin } from '../../plugins/PolymorphicPathsPlugin.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { shareService } from '../support/sharedService.ts';
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

// What hangs on a card is found whichever types of card are among the rows.

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

/** For upstream: a stock PostGraphile over three tables, and one query. */
describe('Grafast 1.1.3 alone', () => {
  const tables = `
    create schema upstream;
    create table upstream.people (id int primary key, name text not null);
    create table upstream.cards (id int primary key, type text not null);
    comment on table upstream.cards is E'@interface mode:single type:type\\n@type Badge name:Badge\\n@type Phone name:Phone';
    create table upstream.assignments (
      id int primary key,
      card_id int not null references upstream.cards,
      person_id int not null references upstream.people
    );
    create index on upstream.assignments (card_id);
    insert into upstream.people values (1, 'Ada');
    insert into upstream.cards values (1, 'Phone');
    insert into upstream.assignments values (1, 1, 1);`;
  const assignments = 'assignmentsByCardIdList';
  const source = `{ allCardsList { ${assignments} { cardByCardId { ${assignments} { personByPersonId { name } } } } } }`;

  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.owner.query(tables);
  });
  afterAll(() => database.drop());

  const answer = async (plugins: GraphileConfig.Plugin[]) => {
    const pool = new Pool({ connectionString: database.ownerUrl });
    const pgService = makePgService({ pool, schemas: ['upstream'] });
    const { schema, resolvedPreset } = await makeSchema({
      extends: [PostGraphileAmberPreset],
      plugins,
      pgServices: [pgService],
      schema: { defaultBehavior: 'list' },
    });
    const { data } = (await grafast({ schema, source, resolvedPreset, requestContext: {} })) as { data: unknown };
    await pgService.release?.();
    await pool.end();
    return data;
  };

  const answerOf = (person: unknown) => ({
    allCardsList: [{ [assignments]: [{ cardByCardId: { [assignments]: [{ personByPersonId: person }] } }] }],
  });

  it('does not find the person; when this fails, a release has mended it and the plugin can go', async () => {
    expect(await answer([])).toEqual(answerOf(null));
  });

  it('finds the person with the plugin', async () => {
    expect(await answer([PolymorphicPathsPlugin])).toEqual(answerOf({ name: 'Ada' }));
  });
});
