import fc from 'fast-check';
import { createToken, hashToken } from '../../src/token/accessTokens.ts';
import { globalId, type OwnGraphTest, read, startGraphTest } from '../graphql/support.ts';
import { isWhole, seed, sizeOf } from '../support/search.ts';
import { email, externalIdentifier, insertWorld } from './insertWorld.ts';
import { keyOf, type World, worlds } from './world.ts';

/**
 * Two worlds that differ only in the other organizations must look the same from the first. Every answer is the same byte by byte:
 * whether the others exist, and whichever of their ids a request names.
 */
describe(`an organization's answers (SEED=${seed})`, () => {
  let service: OwnGraphTest;

  beforeAll(async () => {
    service = await startGraphTest();
  });

  afterAll(() => service.stop());

  it('say nothing about other organizations', async () => {
    const property = fc.asyncProperty(worlds, async (world) => {
      const tokens = tokensOf(world);
      const [mine] = tokens;
      await insert(world, tokens);
      const operations = operationsWith(world, await readTheirs(world, tokens));
      const requests = tokens
        .filter(({ organization }) => organization === mine?.organization)
        .flatMap(({ token, scope }) =>
          operations
            .filter(({ query }) => scope === 'app' || !query.startsWith('mutation'))
            .map((operation) => ({ token, ...operation })),
        );

      await insert(world, tokens);
      await giveSecret(world, tokens);
      const among = await answersTo(requests);
      await insert(onlyFirst(world), tokens);
      const alone = await answersTo(requests);

      for (const [index, answer] of among.entries()) {
        const { query, variables } = requests[index] ?? {};
        expect({ query, variables, ...answer }).toEqual({ query, variables, ...alone[index] });
      }
      // Not because they say nothing at all.
      expect(new Set(alone.map(({ body }) => body)).size).toBeGreaterThan(10);
    });
    // Shrinking takes minutes.
    await fc.assert(property, { seed, numRuns: sizeOf({ small: 1, whole: 2 }), endOnFailure: !isWhole });
  });

  /** The world, and those tokens whose organization exists in it. */
  async function insert(world: World, tokens: Token[]): Promise<void> {
    await service.database.owner.query(insertWorld(world));
    for (const { token, organization, application, user, scope } of tokens) {
      if (!world.organizations.includes(organization)) continue;
      await service.database.owner.query(
        `with grants as (
           insert into oauth.grants (organization_id, application_id, user_id, grant_type, scopes, client_authentication)
           values ($1, $2, $3, $4, array[$5], 'secret')
           on conflict (organization_id, application_id, scopes) where user_id is null do update set grant_type = $4
           returning id)
         insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
         select $1, $6, id, array[$5], now(), now() + interval '1 hour' from grants`,
        [organization, application, user, user ? 'password' : 'client_credentials', scope, hashToken(token)],
      );
    }
  }

  /** The second organization, as its own application sees it. */
  async function readTheirs(world: World, tokens: Token[]): Promise<Theirs> {
    const data = await read<{ app: Theirs }>(service, appToken(world.organizations[1], tokens), theirQuery);
    return data.app;
  }

  async function giveSecret(world: World, tokens: Token[]): Promise<void> {
    const { user = '' } = world.users.find(({ organization }) => organization === world.organizations[1]) ?? {};
    await read(
      service,
      appToken(world.organizations[1], tokens),
      'mutation ($id: ID!, $secret: String!) { userUpdate(id: $id, externalAuthenticationToken: $secret) { user { id } } }',
      { id: globalId('User', user), secret },
    );
  }

  async function answersTo(requests: Request[]) {
    const answers: { status: number; headers: object; body: string }[] = [];
    for (const { token, query, variables } of requests) {
      const response = await fetch(`${service.url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables }),
      });
      const { date: _date, 'x-request-id': _id, ...headers } = Object.fromEntries(response.headers);
      answers.push({ status: response.status, headers, body: await response.text() });
    }
    return answers;
  }
});

type Request = { token: string; query: string; variables: Record<string, unknown> };

type Token = { token: string; organization: string; application: string; user: string | null; scope: string };

/** For each organization that of a person, one that reads nothing, and last its application's own, which changes things. */
function tokensOf(world: World): Token[] {
  return world.organizations.flatMap((organization) => {
    const application = keyOf(world, 'application', organization, 0);
    const people = world.users.filter((row) => row.organization === organization).map(({ user }) => user);
    return [
      ...people.slice(0, 1).map((user) => ({ user, scope: 'me' })),
      ...['basic', 'app'].map((scope) => ({ user: null, scope })),
    ].map((token) => ({ ...token, token: createToken('access'), organization, application }));
  });
}

const appToken = (of: string | undefined, tokens: Token[]) =>
  tokens.find(({ organization, scope }) => organization === of && scope === 'app')?.token ?? '';

function onlyFirst(world: World): World {
  const here = <Row extends { organization: string }>(rows: Row[]) =>
    rows.filter(({ organization }) => organization === world.organizations[0]);
  return {
    sharedKeys: world.sharedKeys,
    organizations: world.organizations.slice(0, 1),
    applications: here(world.applications),
    users: here(world.users),
    people: here(world.people),
    units: here(world.units),
    access: here(world.access),
    cards: here(world.cards),
    assignments: here(world.assignments),
    grants: here(world.grants),
  };
}

type Page<Node = unknown> = { nodes: (Node & { id: string })[]; edges: { cursor: string }[] };
type Theirs = {
  users: Page<{ cardAssignments: { id: string; card: { id: string } }[] }>;
  byName: Page;
  rootUnits: Page;
};

/** Operations with the ids, cursors and identifiers of other organizations, and operations that change one's own. */
function operationsWith(world: World, { users, byName, rootUnits }: Theirs): Omit<Request, 'token'>[] {
  const ids = [...users.nodes, ...rootUnits.nodes].map(({ id }) => id);
  const cards = users.nodes.flatMap(({ cardAssignments }) => cardAssignments.flatMap(({ id, card }) => [id, card.id]));
  const people = world.users.map(({ user }) => ({ email: email(user), externalIdentifier: externalIdentifier(user) }));
  const externalIdentifiers = people.map((person) => person.externalIdentifier);
  return [
    ...[{}, { ids }, { externalIdentifiers }].flatMap((variables) => [
      { query: reading.app, variables },
      { query: reading.viewer, variables },
    ]),
    ...users.edges.map(({ cursor }) => ({ query: reading.app, variables: { users: cursor } })),
    ...byName.edges.map(({ cursor }) => ({ query: reading.byName, variables: { users: cursor } })),
    ...rootUnits.edges.flatMap(({ cursor }) => [
      { query: reading.app, variables: { units: cursor } },
      { query: reading.viewer, variables: { units: cursor } },
    ]),
    ...[...ids, ...cards].map((id) => ({ query: reading.node, variables: { id } })),
    ...people.flatMap((person) => [
      { query: writing.create, variables: { ...person, externalIdentifier: 'new', secret } },
      { query: writing.delete, variables: { externalIdentifier: 'new' } },
      { query: writing.create, variables: { ...person, email: 'new@example.test', secret } },
      { query: writing.update, variables: { externalIdentifier: person.externalIdentifier, email: people[0]?.email } },
    ]),
    ...users.nodes.map(({ id }) => ({ query: writing.update, variables: { id, email: 'changed@example.test' } })),
    { query: reading.names, variables: {} },
    ...users.nodes.map(({ id }) => ({ query: writing.delete, variables: { id } })),
    ...externalIdentifiers.map((externalIdentifier) => ({ query: writing.delete, variables: { externalIdentifier } })),
    { query: reading.names, variables: {} },
  ];
}

/** External authentication tokens are unique in an organization. This one is taken, in another. */
const secret = 'the secret of somebody elsewhere';

const theirQuery = `{
  app {
    users { nodes { id cardAssignments { id card { id } } } edges { cursor } }
    byName: users(orderBy: FULL_NAME_ASC) { nodes { id } edges { cursor } }
    rootUnits { nodes { id } edges { cursor } }
  }
}`;

const page = 'totalCount edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
const unit = 'id name externalIdentifier parent { id }';

const reading = {
  // Without keys, which are new each time.
  names: '{ app { users { totalCount nodes { fullName email } } } }',
  app: `query ($ids: [ID!], $externalIdentifiers: [String!], $users: Cursor, $units: Cursor) {
    app {
      name
      users(ids: $ids, externalIdentifiers: $externalIdentifiers, after: $users) {
        ${page} nodes { fullName email cardAssignments { id card { id name } } }
      }
      lastUsers: users(last: 2, before: $users) { ${page} }
      rootUnits(first: 2, ids: $ids, externalIdentifiers: $externalIdentifiers, after: $units) {
        ${page} nodes { ${unit} children { ${page} nodes { ${unit} } } }
      }
    }
  }`,
  byName: `query ($users: Cursor) { app { users(orderBy: FULL_NAME_ASC, after: $users) { ${page} nodes { fullName } } } }`,
  viewer: `query ($ids: [ID!], $externalIdentifiers: [String!], $units: Cursor) {
    viewer {
      id fullName cardAssignments { id card { id name } }
      accessibleUnits(ids: $ids, externalIdentifiers: $externalIdentifiers, after: $units) { ${page} nodes { ${unit} } }
    }
  }`,
  node: `query ($id: ID!) {
    node(id: $id) { id __typename ... on User { fullName } ... on Unit { ${unit} } ... on CardAssignment { card { name } } }
  }`,
};

const writing = {
  create: `mutation ($email: String!, $externalIdentifier: String!, $secret: String!) {
    userCreate(fullName: "New", email: $email, externalIdentifier: $externalIdentifier, externalAuthenticationToken: $secret) {
      user { fullName email externalAuthenticationToken }
    }
  }`,
  update: `mutation ($id: ID, $externalIdentifier: String, $email: String) {
    userUpdate(id: $id, externalIdentifier: $externalIdentifier, email: $email) { user { id email } }
  }`,
  delete: `mutation ($id: ID, $externalIdentifier: String) {
    userDelete(id: $id, externalIdentifier: $externalIdentifier) { user { email } }
  }`,
};
