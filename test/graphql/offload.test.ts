import { shareService } from '../support/sharedService.ts';
import { until } from '../support/until.ts';
import { type Answer, ask, createTenant, createUser, type GraphTest, type Tenant } from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
  await createUser(tenant, { fullName: 'Grace Hopper' });
});

/** The same selection, and beside it as many rows as make another thread run the operation. */
const short = (selection: string) => `{ app { ${selection} } }`;
const long = (selection: string) =>
  `{ app { ${selection} } more: app { ${[1, 2, 3, 4].map((n) => `u${n}: users(first: 1000) { nodes { id } }`).join(' ')} } }`;

it('answers a long operation as a short one', async () => {
  const selection = 'users { totalCount nodes { fullName externalAuthenticationToken cardAssignments { id } } }';
  const expected = await ask(graph, tenant.app, short(selection));

  const { status, body } = await ask(graph, tenant.app, long(selection));

  expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
  expect(body.data).toMatchObject(expected.body.data as object);
});

it.each([
  ['gzip', 'gzip', 'application/json'],
  ['br', 'br', 'application/json'],
  ['identity', null, 'application/json'],
  ['gzip', 'gzip', 'text/event-stream'],
])('encodes the answer as %s if the client asks for it', async (asked, encoding, accept) => {
  const query = long(Array.from({ length: 30 }, (_, n) => `name${n}: name`).join(' '));
  const expected = await ask(graph, tenant.app, query);

  const response = await fetch(`${graph.url}/graphql`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${tenant.app}`,
      'Content-Type': 'application/json',
      'Accept-Encoding': asked,
      Accept: accept,
    },
    body: JSON.stringify({ query }),
  });

  expect(response.headers.get('Content-Encoding')).toBe(encoding);
  const text = await response.text();
  const json =
    accept === 'application/json'
      ? text
      : text.replace(/^event: next\ndata: (.*)\n\nevent: complete\ndata:\n\n$/, '$1');
  expect(JSON.parse(json)).toEqual(expected.body);
});

it('decides by the claims of the token there, too', async () => {
  const stranger = await createTenant(graph);

  const { body } = await ask(graph, stranger.app, long('users { totalCount }'));

  expect(body.data).toMatchObject({ app: { users: { totalCount: 0 } }, more: { u1: { nodes: [] } } });
});

it('tells the failure of a field there, too, with its cause in the log', async () => {
  const user = await createUser(tenant, { externalAuthenticationToken: 'sixteen-characters-or-more' });
  await tenant.owner.query(
    `update app_public.users set external_authentication_token_ciphertext = '\\x00' where id = $1`,
    [user.uuid],
  );

  const { status, body } = await ask(graph, tenant.app, long('users { nodes { externalAuthenticationToken } }'));

  expect({ status, errors: body.errors }).toEqual({
    status: 200,
    errors: [
      expect.objectContaining({
        path: ['app', 'users', 'nodes', 1, 'externalAuthenticationToken'],
        extensions: { code: 'INTERNAL', requestId: expect.any(String) },
      }),
    ],
  });
  const requestId = body.errors?.[0]?.extensions.requestId;
  const lines = graph.logs.map((line) => JSON.parse(line));
  expect(lines.filter((line) => line.level === 50)).toEqual([
    expect.objectContaining({
      requestId,
      error: expect.objectContaining({ message: expect.stringMatching(/does not open/) }),
    }),
  ]);
});

it('lets 64 wait for their turn, and refuses those beyond at once', async () => {
  const query = long('name');
  expect((await ask(graph, tenant.app, query)).status).toBe(200);
  const lock = await tenant.owner.connect();
  await lock.query('begin');
  await lock.query('lock table app_public.users in access exclusive mode');
  const refused: Answer[] = [];

  const answers = Array.from({ length: 70 }, async () => {
    const answer = await ask(graph, tenant.app, query);
    if (answer.status === 503) refused.push(answer);
    return answer.status;
  });
  await until(() => refused.length === 4).finally(async () => {
    await lock.query('rollback');
    lock.release();
  });

  expect((await Promise.all(answers)).sort()).toEqual([...Array(66).fill(200), ...Array(4).fill(503)]);
  for (const { body, headers } of refused) {
    expect(body.errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'UNAVAILABLE' }]);
    expect(headers.get('Retry-After')).toBe('2');
  }
});
