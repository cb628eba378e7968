import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  expectErrors,
  expectRefused,
  type GraphTest,
  newExternalToken,
  read,
  type Tenant,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

const user =
  'user { __typename id fullName email locale timeZone externalIdentifier externalAuthenticationToken cardAssignments { id } }';

type Created = { userCreate: { user: { id: string; timeZone: string } } };

test('userCreate takes the arguments of the specification’s first form', async () => {
  const data = await read<Created>(
    graph,
    tenant.app,
    `mutation { userCreate(
       fullName: "Ada Lovelace", email: "ada@acme.test", locale: "de", timeZone: "Berlin", externalIdentifier: "u-1"
     ) { __typename ${user} } }`,
  );

  expect(data).toEqual({
    userCreate: {
      __typename: 'UserCreatePayload',
      user: {
        __typename: 'User',
        id: expect.stringMatching(/^[\w-]+$/),
        fullName: 'Ada Lovelace',
        email: 'ada@acme.test',
        locale: 'de',
        timeZone: 'Berlin',
        externalIdentifier: 'u-1',
        externalAuthenticationToken: null,
        cardAssignments: [],
      },
    },
  });
  const { id } = data.userCreate.user;
  expect(await read(graph, tenant.app, `{ node(id: "${id}") { ... on User { fullName } } }`)).toEqual({
    node: { fullName: 'Ada Lovelace' },
  });
});

test('userCreate takes the arguments of the specification’s second form', async () => {
  const externalAuthenticationToken = newExternalToken();

  const data = await read(
    graph,
    tenant.app,
    `mutation($token: String) { userCreate(
       fullName: "Grace Hopper", email: "grace@acme.test", locale: "en", timezone: "New York", externalAuthenticationToken: $token
     ) { ${user} } }`,
    { token: externalAuthenticationToken },
  );

  expect(data).toMatchObject({
    userCreate: { user: { timeZone: 'New York', externalIdentifier: null, externalAuthenticationToken } },
  });
});

test('userCreate takes both spellings of the time zone when they agree, and null for either', async () => {
  const create = async (email: string, args: string) =>
    ask(graph, tenant.app, `mutation { userCreate(fullName: "A", email: "${email}", ${args}) { user { timeZone } } }`);
  const created = (timeZone: string) => ({ data: { userCreate: { user: { timeZone } } } });

  expect((await create('both@x.test', 'timeZone: "Rome", timezone: "Rome"')).body).toEqual(created('Rome'));
  expect((await create('null1@x.test', 'timeZone: null, timezone: "Rome"')).body).toEqual(created('Rome'));
  expect((await create('null2@x.test', 'timeZone: "Rome", timezone: null')).body).toEqual(created('Rome'));
  expectErrors(
    await create('differ@x.test', 'timeZone: "Rome", timezone: "Berlin"'),
    { userCreate: null },
    { code: 'BAD_USER_INPUT', argument: 'timezone', path: ['userCreate'] },
  );
});

test('userCreate needs a name and an e-mail address alone, and null is as good as absent for the rest', async () => {
  const defaults = {
    locale: 'en',
    timeZone: 'UTC',
    externalIdentifier: null,
    externalAuthenticationToken: null,
    cardAssignments: [],
  };
  const nulls = 'locale: null, timeZone: null, externalIdentifier: null, externalAuthenticationToken: null';

  expect(
    await read(graph, tenant.app, `mutation { userCreate(fullName: "A", email: "least@x.test") { ${user} } }`),
  ).toMatchObject({ userCreate: { user: defaults } });
  expect(
    await read(
      graph,
      tenant.app,
      `mutation { userCreate(fullName: "A", email: "nulls@x.test", ${nulls}) { ${user} } }`,
    ),
  ).toMatchObject({ userCreate: { user: defaults } });
});

test('userCreate without its required arguments is refused before execution', async () => {
  const invalid = { code: 'GRAPHQL_VALIDATION_FAILED' };

  expectRefused(await ask(graph, tenant.app, 'mutation { userCreate { user { id } } }'), 400, invalid, invalid);
  expectRefused(
    await ask(graph, tenant.app, 'mutation { userCreate(fullName: "A", email: null) { user { id } } }'),
    400,
    invalid,
  );
  const query = 'mutation($email: String!) { userCreate(fullName: "A", email: $email) { user { id } } }';
  for (const variables of [{}, { email: null }, { email: 5 }, { email: ['a@x.test'] }])
    expectRefused(await ask(graph, tenant.app, query, variables), 400, {
      code: 'BAD_USER_INPUT',
      argument: 'email',
      variable: 'email',
    });
});

test('a user belongs to the organization of the token, whose row and no other is written', async () => {
  const other = await createTenant(graph);

  const { userCreate } = await read<Created>(
    graph,
    other.app,
    'mutation { userCreate(fullName: "A", email: "tenant@x.test") { user { id timeZone } } }',
  );

  const query = `{ node(id: "${userCreate.user.id}") { id } app { users { totalCount } } }`;
  expect(await read(graph, other.app, query)).toEqual({
    node: { id: userCreate.user.id },
    app: { users: { totalCount: 1 } },
  });
  expect(await read(graph, tenant.app, query)).toMatchObject({ node: null });
  const { rows } = await graph.database.owner.query(
    `select organization_id from app_public.users where email = 'tenant@x.test'`,
  );
  expect(rows).toEqual([{ organization_id: other.organizationId }]);
});
