import { shareService } from '../support/sharedService.ts';
import {
  ask,
  askUntilServed,
  createTenant,
  createUser,
  expectErrors,
  type GraphTest,
  read,
  type Tenant,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

const users = async () =>
  (
    await read<{ app: { users: { nodes: { fullName: string; email: string }[] } } }>(
      graph,
      tenant.app,
      '{ app { users { nodes { fullName email } } } }',
    )
  ).app.users.nodes;

test('each mutation commits by itself: one that fails undoes neither those before nor those after', async () => {
  const answer = await ask(
    graph,
    tenant.app,
    `mutation {
       first: userCreate(fullName: "First", email: "first@acme.test") { user { fullName } }
       second: userCreate(fullName: "Second", email: "FIRST@acme.test") { user { fullName } }
       third: userUpdate(externalIdentifier: "nobody", fullName: "Third") { user { fullName } }
       fourth: userCreate(fullName: "Fourth", email: "fourth@acme.test") { user { fullName } }
     }`,
  );

  expectErrors(
    answer,
    {
      first: { user: { fullName: 'First' } },
      second: null,
      third: null,
      fourth: { user: { fullName: 'Fourth' } },
    },
    { code: 'CONFLICT', argument: 'email', path: ['second'] },
    { code: 'NOT_FOUND', path: ['third'] },
  );
  expect(await users()).toEqual([
    { fullName: 'First', email: 'first@acme.test' },
    { fullName: 'Fourth', email: 'fourth@acme.test' },
  ]);
});

test('mutations run in the order in which they are written, each seeing what the ones before have done', async () => {
  const answer = await ask(
    graph,
    tenant.app,
    `mutation {
       create: userCreate(fullName: "A", email: "order@acme.test", externalIdentifier: "order") { user { fullName } }
       rename: userUpdate(externalIdentifier: "order", fullName: "B") { user { fullName email } }
       again: userUpdate(externalIdentifier: "order", email: "again@acme.test") { user { fullName email } }
       remove: userDelete(externalIdentifier: "order") { user { fullName email } }
       gone: userUpdate(externalIdentifier: "order", fullName: "C") { user { fullName } }
       anew: userCreate(fullName: "D", email: "order@acme.test", externalIdentifier: "order") { user { fullName } }
     }`,
  );

  expectErrors(
    answer,
    {
      create: { user: { fullName: 'A' } },
      rename: { user: { fullName: 'B', email: 'order@acme.test' } },
      again: { user: { fullName: 'B', email: 'again@acme.test' } },
      remove: { user: { fullName: 'B', email: 'again@acme.test' } },
      gone: null,
      anew: { user: { fullName: 'D' } },
    },
    { code: 'NOT_FOUND', path: ['gone'] },
  );
  expect(await users()).toEqual([{ fullName: 'D', email: 'order@acme.test' }]);
});

test('two users can swap nothing at once, but one after the other takes what the other has given up', async () => {
  const [one, other] = [await createUser(tenant, { externalIdentifier: 'x' }), await createUser(tenant)];

  const data = await read(
    graph,
    tenant.app,
    `mutation {
       give: userUpdate(id: "${one.id}", externalIdentifier: null) { user { externalIdentifier } }
       take: userUpdate(id: "${other.id}", externalIdentifier: "x") { user { externalIdentifier } }
     }`,
  );

  expect(data).toEqual({ give: { user: { externalIdentifier: null } }, take: { user: { externalIdentifier: 'x' } } });
});

test('of twenty concurrent creations with one external identifier exactly one succeeds', async () => {
  const create = (index: number) =>
    askUntilServed(
      graph,
      tenant.app,
      `mutation { userCreate(fullName: "A", email: "${index}@acme.test", externalIdentifier: "race") { user { id } } }`,
    );

  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => create(index)));

  const refusals = answers.filter(({ body }) => body.errors);
  expect(refusals).toHaveLength(19);
  for (const refusal of refusals)
    expectErrors(
      refusal,
      { userCreate: null },
      { code: 'CONFLICT', argument: 'externalIdentifier', path: ['userCreate'] },
    );
});

test('concurrent updates of one user all take effect', async () => {
  const user = await createUser(tenant);
  const updates = ['fullName: "Grace Hopper"', 'locale: "de"', 'timeZone: "Berlin"', 'email: "grace@acme.test"'];

  await Promise.all(
    updates.map((update) =>
      read(graph, tenant.app, `mutation { userUpdate(id: "${user.id}", ${update}) { user { id } } }`),
    ),
  );

  const query = `{ node(id: "${user.id}") { ... on User { fullName locale timeZone email } } }`;
  expect(await read(graph, tenant.app, query)).toEqual({
    node: { fullName: 'Grace Hopper', locale: 'de', timeZone: 'Berlin', email: 'grace@acme.test' },
  });
});

test('a mutation with fragments, aliases and skipped fields does what it says', async () => {
  const data = await read(
    graph,
    tenant.app,
    `mutation Add($skip: Boolean = true) {
       ...Addition
       skipped: userCreate(fullName: "Skipped", email: "skipped@acme.test") @skip(if: $skip) { user { id } }
     }
     fragment Addition on Mutation {
       added: userCreate(fullName: "Added", email: "added@acme.test") { user { name: fullName } }
     }`,
  );

  expect(data).toEqual({ added: { user: { name: 'Added' } } });
  expect(await users()).toEqual([{ fullName: 'Added', email: 'added@acme.test' }]);
});
