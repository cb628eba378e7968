import { createHash } from 'node:crypto';
import { createToken } from '../../src/token/accessTokens.ts';
import { shareService } from '../support/sharedService.ts';
import {
  type Answer,
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  expectErrors,
  expectRefused,
  type GraphTest,
  issueToken,
  read,
  type Tenant,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let person: Awaited<ReturnType<typeof createViewer>>;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
  person = await createViewer(tenant, { externalIdentifier: 'u-1' });
});

const viewer = '{ viewer { id } }';
const app = '{ app { name } }';
const forbidden = (path: string) => ({ code: 'FORBIDDEN', path: [path] });

describe('viewer', () => {
  it('needs a token with scope me', async () => {
    expect(await read(graph, person.token, viewer)).toEqual({ viewer: { id: person.id } });
  });

  it('is forbidden for tokens of applications', async () => {
    for (const token of [tenant.app, tenant.basic, await issueToken(tenant, ['app', 'basic'])])
      expectErrors(await ask(graph, token, viewer), { viewer: null }, forbidden('viewer'));
  });
});

describe('app', () => {
  it('needs a token with scope app', async () => {
    const both = await issueToken(tenant, ['basic', 'app']);

    for (const token of [tenant.app, both])
      expect(await read(graph, token, app)).toEqual({ app: { name: 'Acme Backend' } });
  });

  it('is forbidden for tokens of people and for those with scope basic', async () => {
    for (const token of [person.token, tenant.basic])
      expectErrors(await ask(graph, token, app), { app: null }, forbidden('app'));
  });

  it('is forbidden with everything below it, whose arguments are in order', async () => {
    const query = '{ app { name users(first: 1) { totalCount } rootUnits { nodes { children { nodes { id } } } } } }';

    expectErrors(await ask(graph, person.token, query), { app: null }, forbidden('app'));
  });
});

describe('mutations', () => {
  const mutations = {
    userCreate: 'mutation { userCreate(fullName: "A", email: "a@acme.test") { user { fullName } } }',
    userUpdate: 'mutation { userUpdate(externalIdentifier: "u-1", fullName: "Changed") { user { fullName } } }',
    userDelete: 'mutation { userDelete(externalIdentifier: "u-1") { user { fullName } } }',
  };

  it.each(Object.entries(mutations))(
    '%s is forbidden for people and for scope basic, and changes nothing',
    async (name, mutation) => {
      const users = async () =>
        (await graph.database.owner.query('select to_jsonb(u) as row from app_public.users u order by id')).rows;
      const before = await users();

      for (const token of [person.token, tenant.basic])
        expectErrors(await ask(graph, token, mutation), { [name]: null }, forbidden(name));

      expect(await users()).toEqual(before);
    },
  );

  it('are forbidden before their arguments are looked at', async () => {
    const bad = 'mutation { userUpdate(id: "garbage", locale: null) { user { id } } }';

    expectErrors(await ask(graph, person.token, bad), { userUpdate: null }, forbidden('userUpdate'));
  });

  it.each(Object.entries(mutations))('%s is allowed with scope app', async (name, mutation) => {
    const other = await createTenant(graph);
    await createUser(other, { externalIdentifier: 'u-1' });

    expect(await read(graph, other.app, mutation)).toEqual({
      [name]: { user: { fullName: expect.stringMatching(/^(A|Changed|Ada Lovelace)$/) } },
    });
  });
});

test('a forbidden field leaves the allowed ones beside it answered', async () => {
  const query = '{ viewer { id } app { name } __typename }';

  expectErrors(
    await ask(graph, person.token, query),
    { viewer: { id: person.id }, app: null, __typename: 'Query' },
    forbidden('app'),
  );
  expectErrors(
    await ask(graph, tenant.app, query),
    { viewer: null, app: { name: 'Acme Backend' }, __typename: 'Query' },
    forbidden('viewer'),
  );
});

describe('without a valid token', () => {
  const realm = 'Bearer realm="graph-query-service"';
  const operations = ['{ viewer { id } }', '{ app { name } }', '{ __typename }', '{ node(id: "x") { id } }'];
  const mutation = 'mutation { userDelete(externalIdentifier: "u-1") { user { id } } }';

  const expectUnauthenticated = (answer: Answer, challenge: string | RegExp) => {
    expectRefused(answer, 401, { code: 'UNAUTHENTICATED' });
    expect(answer.headers.get('WWW-Authenticate')).toMatch(challenge);
  };

  it('every operation is 401, without an error code in the challenge when there is no token at all', async () => {
    for (const operation of [...operations, mutation]) {
      const answer = await ask(graph, null, operation);
      expectUnauthenticated(answer, /^Bearer /);
      expect(answer.headers.get('WWW-Authenticate')).toBe(realm);
    }
  });

  it('every operation is 401, with invalid_token when the token is none that lives', async () => {
    const unknown = createToken('access');
    const refresh = createToken('refresh');
    const mistyped = `${tenant.app.slice(0, -1)}${tenant.app.endsWith('A') ? 'B' : 'A'}`;

    for (const token of ['garbage', unknown, refresh, mistyped, tenant.app.toUpperCase(), 'null', 'undefined'])
      for (const operation of [...operations, mutation])
        expectUnauthenticated(
          await ask(graph, token, operation),
          /^Bearer realm="graph-query-service", error="invalid_token", error_description="[^"]+"$/,
        );
  });

  it('a token that has expired, or whose grant has ended, or whose application or person is disabled is 401', async () => {
    const { owner } = graph.database;
    const fresh = async () => {
      const own = await createTenant(graph);
      const user = await createViewer(own);
      expect(await read(graph, user.token, viewer)).toEqual({ viewer: { id: user.id } });
      return { ...own, user };
    };
    const ends: ((tenant: Awaited<ReturnType<typeof fresh>>) => Promise<unknown>)[] = [
      ({ user }) =>
        owner.query("update oauth.access_tokens set expires_at = now() - interval '1 second' where token_hash = $1", [
          createHash('sha256').update(user.token).digest(),
        ]),
      ({ user }) => owner.query('delete from oauth.grants where user_id = $1', [user.uuid]),
      ({ applicationId }) =>
        owner.query('update oauth.applications set disabled_at = now() where id = $1', [applicationId]),
      ({ organizationId, user }) =>
        owner.query('insert into oauth.credentials (organization_id, user_id, disabled_at) values ($1, $2, now())', [
          organizationId,
          user.uuid,
        ]),
    ];

    for (const end of ends) {
      const own = await fresh();
      await end(own);
      expectUnauthenticated(await ask(graph, own.user.token, viewer), /error="invalid_token"/);
    }
  });

  it('a malformed Authorization is 401, and a well-formed one in any case of the scheme is not', async () => {
    const send = async (authorization: string) => {
      const response = await fetch(`${graph.url}/graphql`, {
        method: 'POST',
        headers: {
          Authorization: authorization,
          'Content-Type': 'application/json',
          Accept: 'application/graphql-response+json',
        },
        body: JSON.stringify({ query: viewer }),
      });
      return { status: response.status, headers: response.headers, body: await response.json() } as Answer;
    };

    for (const [authorization, challenge] of [
      ['Bearer', /error="invalid_token"/],
      [`Bearer ${person.token} ${person.token}`, /error="invalid_token"/],
      [`Bearer ${person.token},${person.token}`, /error="invalid_token"/],
      [`Bearer "${person.token}"`, /error="invalid_token"/],
      [`Bearer: ${person.token}`, /^Bearer realm="graph-query-service"$/],
      [person.token, /^Bearer realm="graph-query-service"$/],
      [`Basic ${Buffer.from(`user:${person.token}`).toString('base64')}`, /^Bearer realm="graph-query-service"$/],
      [`Token ${person.token}`, /^Bearer realm="graph-query-service"$/],
    ] as const)
      expectUnauthenticated(await send(authorization), challenge);
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect((await send(`${scheme} ${person.token}`)).status).toBe(200);
  });

  it('a token in the body or the query is not looked at', async () => {
    const inBody = await fetch(`${graph.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: viewer, access_token: person.token }),
    });
    const inQuery = await fetch(
      `${graph.url}/graphql?${new URLSearchParams({ query: viewer, access_token: person.token })}`,
    );

    expect([inBody.status, inQuery.status]).toEqual([401, 401]);
  });

  it('a document that cannot be read is 401, too, and says nothing about it', async () => {
    for (const document of [
      '{',
      '{ nothing }',
      '{ app { users(first: 5000) { totalCount } } }',
      'query A { viewer { id } } query B { app { name } }',
    ])
      expectUnauthenticated(await ask(graph, null, document), /^Bearer /);
  });
});

test('what one token may see does not rub off on the next on the same connection', async () => {
  const unit = await createUnit(tenant);
  const query = `{ node(id: "${unit.id}") { id } }`;

  for (let round = 0; round < 20; round++) {
    const [seen, unseen, nobody] = await Promise.all([
      ask(graph, tenant.app, query),
      ask(graph, person.token, query),
      ask(graph, tenant.basic, query),
    ]);
    expect([seen.body.data, unseen.body.data, nobody.body.data]).toEqual([
      { node: { id: unit.id } },
      { node: null },
      { node: null },
    ]);
  }
});
