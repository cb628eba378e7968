import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createCard,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  expectErrors,
  type GraphTest,
  globalId,
  grantAccess,
  read,
  type Tenant,
} from './support.ts';
import { syncUsers } from './sync.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

const query = `mutation ($ids: [ID!], $externalIdentifiers: [String!]) {
  usersDelete(ids: $ids, externalIdentifiers: $externalIdentifiers) { results { id externalIdentifier outcome } } }`;
type Result = { id: string | null; externalIdentifier: string | null; outcome: string };
const remove = async (variables: object, token = tenant.app) =>
  (await read<{ usersDelete: { results: Result[] } }>(graph, token, query, { ...variables })).usersDelete.results;
const names = async (of = tenant) => {
  const { app } = await read<{ app: { users: { nodes: { externalIdentifier: string }[] } } }>(
    graph,
    of.app,
    '{ app { users(first: 1000) { nodes { externalIdentifier } } } }',
  );
  return app.users.nodes.map(({ externalIdentifier }) => externalIdentifier);
};

test('deletes users by external identifier, and says of each in order whether there was one', async () => {
  for (const name of ['ada', 'bob', 'eve']) await createUser(tenant, { externalIdentifier: name });

  expect(await remove({ externalIdentifiers: ['eve', 'nobody', 'ada', 'eve', 'ADA'] })).toEqual([
    { id: null, externalIdentifier: 'eve', outcome: 'DELETED' },
    { id: null, externalIdentifier: 'nobody', outcome: 'NOT_FOUND' },
    { id: null, externalIdentifier: 'ada', outcome: 'DELETED' },
    { id: null, externalIdentifier: 'eve', outcome: 'NOT_FOUND' },
    { id: null, externalIdentifier: 'ADA', outcome: 'NOT_FOUND' },
  ]);
  expect(await names()).toEqual(['bob']);
});

test('deletes users by id, and answers with the ids that were given', async () => {
  const [ada, bob] = [await createUser(tenant), await createUser(tenant, { externalIdentifier: 'bob' })];
  const unknown = globalId('User', crypto.randomUUID());

  expect(await remove({ ids: [ada.id, unknown, ada.id] })).toEqual([
    { id: ada.id, externalIdentifier: null, outcome: 'DELETED' },
    { id: unknown, externalIdentifier: null, outcome: 'NOT_FOUND' },
    { id: ada.id, externalIdentifier: null, outcome: 'NOT_FOUND' },
  ]);
  expect(await remove({ ids: [bob.id], externalIdentifiers: null })).toMatchObject([{ outcome: 'DELETED' }]);
  expect(await names()).toEqual([]);
});

test('takes assignments, grants and tokens along; cards and units stay', async () => {
  const leaver = await createViewer(tenant, { externalIdentifier: 'leaver' });
  const unit = await createUnit(tenant);
  await grantAccess(tenant, leaver, unit);
  await createCard(tenant, leaver, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2' });
  await read(graph, leaver.token, '{ viewer { id } }');

  await remove({ externalIdentifiers: ['leaver'] });

  expect((await ask(graph, leaver.token, '{ viewer { id } }')).status).toBe(401);
  const left =
    '{ app { cards { nodes { name cardAssignments { id } } } units { nodes { accessGrants { totalCount } } } } }';
  expect(await read(graph, tenant.app, left)).toEqual({
    app: {
      cards: { nodes: [{ name: 'Badge', cardAssignments: [] }] },
      units: { nodes: [{ accessGrants: { totalCount: 0 } }] },
    },
  });
});

test('frees an address for who joins next', async () => {
  const joiner = { externalIdentifier: 'joiner', fullName: 'Joiner', email: 'desk@acme.test' };
  await createUser(tenant, { externalIdentifier: 'leaver', email: 'Desk@acme.test' });
  expect(await syncUsers(graph, tenant, [joiner])).toMatchObject([
    { outcome: 'REFUSED', error: { argument: 'email' } },
  ]);

  const { body } = await ask(
    graph,
    tenant.app,
    `mutation ($users: [UserSyncInput!]!) {
      usersDelete(externalIdentifiers: ["leaver"]) { results { outcome } }
      usersSync(users: $users) { results { outcome } } }`,
    { users: [joiner] },
  );

  expect(body).toEqual({
    data: { usersDelete: { results: [{ outcome: 'DELETED' }] }, usersSync: { results: [{ outcome: 'CREATED' }] } },
  });
});

test("leaves another organization's users, who do not exist here", async () => {
  const stranger = await createTenant(graph);
  const theirs = await createUser(stranger, { externalIdentifier: 'ada' });
  await createUser(tenant, { externalIdentifier: 'ada' });

  expect(await remove({ ids: [theirs.id] })).toMatchObject([{ id: theirs.id, outcome: 'NOT_FOUND' }]);
  expect(await remove({ externalIdentifiers: ['ada'] })).toMatchObject([{ outcome: 'DELETED' }]);
  expect(await names(stranger)).toEqual(['ada']);
  expect(await remove({ ids: [theirs.id] }, stranger.app)).toMatchObject([{ outcome: 'DELETED' }]);
});

test.each<[string, object, string]>([
  ['neither', {}, 'ids'],
  ['both', { ids: [globalId('User', crypto.randomUUID())], externalIdentifiers: ['ada'] }, 'ids'],
  ['no id', { ids: [] }, 'ids'],
  ['no external identifier', { externalIdentifiers: [] }, 'externalIdentifiers'],
  ['1,001 external identifiers', { externalIdentifiers: Array(1001).fill('ada') }, 'externalIdentifiers'],
  ["a unit's id", { ids: [globalId('Unit', crypto.randomUUID())] }, 'ids'],
  ['what is no id', { ids: ['ada'] }, 'ids'],
  ['a text that no database has', { externalIdentifiers: ['a\0'] }, 'externalIdentifiers'],
])('refuses %s, and deletes nobody', async (_, variables, argument) => {
  await createUser(tenant, { externalIdentifier: 'ada' });
  const refusal = { code: 'BAD_USER_INPUT', argument, path: ['usersDelete'] };

  expectErrors(await ask(graph, tenant.app, query, { ...variables }), { usersDelete: null }, refusal);
  expect(await names()).toEqual(['ada']);
  const most = ['ada', ...Array.from({ length: 999 }, (_, number) => `nobody-${number}`)];
  expect((await remove({ externalIdentifiers: most })).filter(({ outcome }) => outcome === 'DELETED')).toHaveLength(1);
});

test('is for app tokens', async () => {
  const person = await createViewer(tenant, { externalIdentifier: 'ada' });

  for (const token of [person.token, tenant.basic]) {
    const refusal = { code: 'FORBIDDEN', path: ['usersDelete'] };
    const answer = await ask(graph, token, query, { externalIdentifiers: ['ada'] });
    expectErrors(answer, { usersDelete: null }, refusal);
  }
  expect(await names()).toEqual(['ada']);
});

test('counts each result as a row', async () => {
  const fields = Array.from(
    { length: 11 },
    (_, index) => `d${index}: usersDelete(externalIdentifiers: $externalIdentifiers) { results { outcome } }`,
  );
  const document = `mutation ($externalIdentifiers: [String!]) { ${fields.join(' ')} }`;
  const variables = { externalIdentifiers: Array(1000).fill('nobody') };

  const { status, body } = await ask(graph, tenant.app, document, variables);

  expect([status, body.errors?.[0]?.extensions]).toEqual([400, { code: 'LIMIT_EXCEEDED', limit: 'rows' }]);
  const ten = document.replace(/ d10: .*? } }/, '');
  expect((await ask(graph, tenant.app, ten, variables)).body.errors).toBeUndefined();
});

test('of those who are deleted twice at once, each is deleted once', async () => {
  const people = Array.from({ length: 40 }, (_, number) => `u-${number}`);
  for (const name of people) await createUser(tenant, { externalIdentifier: name });

  const answers = await Promise.all(
    [people, people.toReversed(), people, people.toReversed()].map((externalIdentifiers) =>
      remove({ externalIdentifiers }),
    ),
  );

  const deleted = answers.flat().filter(({ outcome }) => outcome === 'DELETED');
  expect(deleted.map(({ externalIdentifier }) => externalIdentifier).sort()).toEqual(people.toSorted());
  expect(await names()).toEqual([]);
});
