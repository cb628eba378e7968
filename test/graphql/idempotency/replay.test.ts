import { hash, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { shareService } from '../../support/sharedService.ts';
import { createTenant, createUser, createViewer, type GraphTest, issueToken, type Tenant } from '../support.ts';
import {
  bodyOf,
  countRows,
  countUsers,
  create,
  expectReplay,
  newEmail,
  type Options,
  outcomeOf,
  replayedOf,
  type Sent,
  sendKeyed,
} from './sendKeyed.ts';

// A mutation with an `Idempotency-Key` is executed once, however often it is sent.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

const send = (key: string | null, options: Options) => sendKeyed(graph, tenant, key, options);

describe('the same request with the same key', () => {
  it('gets the same bytes, and changes nothing more', async () => {
    const [key, email] = [randomUUID(), newEmail()];

    const first = await send(key, { variables: { email } });
    const second = await send(key, { variables: { email } });

    expect(bodyOf(first)).toEqual({ data: { userCreate: { user: { id: expect.any(String), email } } } });
    expectReplay(second, first);
    expect(await countUsers(graph, email)).toBe(1);
    expect([...second.headers.keys()]).toEqual([...first.headers.keys(), 'idempotency-replayed'].sort());
    const line = graph.logs.map((line) => JSON.parse(line)).find(({ isReplayed }) => isReplayed);
    expect(line).toMatchObject({ status: 200, statements: 0, requestId: second.headers.get('X-Request-Id') });
  });

  it('may have the key in quotes, and gets the media type and coding that it asks for then', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `name${index}: fullName`).join(' ');
    const query = `mutation { userCreate(fullName: "${'A'.repeat(200)}", email: "${newEmail()}") { user { ${names} } } }`;
    const first = await send('"a \\"key\\""'.replace(' ', '_'), { query, headers: { 'Accept-Encoding': 'identity' } });

    const headers = { 'Accept-Encoding': 'gzip', Accept: 'application/json' };
    const second = await send('a_"key"', { query, headers });

    expectReplay(second, first);
    expect(second.headers.get('Content-Encoding')).toBe('gzip');
    expect(second.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
  });

  it('may name its document by the id', async () => {
    const [key, email] = [randomUUID(), newEmail()];
    const extensions = { persistedQuery: { version: 1, sha256Hash: hash('sha256', create) } };
    const sendNamed = (parameters: object) => send(key, { parameters: { ...parameters, variables: { email } } });

    const first = await sendNamed({ query: create, extensions });
    expectReplay(await sendNamed({ extensions }), first);
    expectReplay(await sendNamed({ query: create }), first);
  });

  it('is executed once, and on the offload thread too, by twenty at once', async () => {
    // By the number of its fields.
    const long = create.replace('email }', `${'email '.repeat(210)}}`);
    for (const query of [create, long]) {
      const [key, email] = [randomUUID(), newEmail()];
      // The offload thread starts with the first that it executes, for which a slow machine takes longer than others may wait.
      expect((await send(randomUUID(), { query, variables: { email: newEmail() } })).status).toBe(200);

      const answers = await Promise.all(Array.from({ length: 20 }, () => send(key, { query, variables: { email } })));

      const [first, ...others] = answers.filter((answer) => answer.status === 200 && replayedOf(answer) === null);
      if (!first) throw new Error('It was not executed.');
      expect(others).toEqual([]);
      for (const answer of answers.filter((answer) => answer !== first)) {
        if (answer.status === 200) expectReplay(answer, first);
        else
          expect([...outcomeOf(answer), answer.headers.get('Retry-After')]).toEqual([
            409,
            ['IDEMPOTENCY_KEY_IN_USE'],
            null,
            '1',
          ]);
      }
      expect(await countUsers(graph, email)).toBe(1);
      expectReplay(await send(key, { query, variables: { email } }), first);
    }
  });

  it('is executed anew a day later', async () => {
    const [key, email] = [randomUUID(), newEmail()];
    const first = await send(key, { variables: { email } });
    await graph.database.owner.query(
      `update app_hidden.idempotency_keys set expires_at = expires_at - interval '24 hours' where organization_id = $1`,
      [tenant.organizationId],
    );

    const second = await send(key, { variables: { email } });

    expect(outcomeOf(first)).toEqual([200, undefined, null]);
    expect(outcomeOf(second)).toEqual([200, ['CONFLICT'], null]);
    expectReplay(await send(key, { variables: { email } }), second);
  });
});

test('another request with the key is 422, and changes nothing', async () => {
  const [key, email, other] = [randomUUID(), newEmail(), newEmail()];
  const update =
    'mutation ($id: ID!, $externalIdentifier: String) { userUpdate(id: $id, externalIdentifier: $externalIdentifier) { user { id } } }';
  const user = await createUser(tenant, { externalIdentifier: 'kept' });
  const first = await send(key, { variables: { email } });
  await send(`${key}-update`, { query: update, variables: { id: user.id } });

  const answers = [
    await send(key, { variables: { email: other } }),
    await send(key, { query: `${create} `, variables: { email } }),
    // Null clears, and what is absent stays.
    await send(`${key}-update`, { query: update, variables: { id: user.id, externalIdentifier: null } }),
  ];

  for (const answer of answers) {
    expect(outcomeOf(answer)).toEqual([422, ['IDEMPOTENCY_KEY_REUSED'], null]);
    expect(answer.headers.get('X-Request-Id')).toEqual(expect.any(String));
    expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
  }
  expect(await countUsers(graph, email, other)).toBe(1);
  expect(
    await countRows(graph, 'select from app_public.users where id = $1 and external_identifier is null', user.uuid),
  ).toBe(0);
  expectReplay(await send(key, { variables: { email } }), first);
});

test('a key is of one application, person and role', async () => {
  const [key, email] = [randomUUID(), newEmail()];
  const elsewhere = await createTenant(graph);
  const sibling = { ...tenant, applicationId: randomUUID() };
  await graph.database.owner.query(
    `insert into oauth.applications (organization_id, id, name, client_id, scopes) values ($1, $2, 'Sibling', $2::uuid::text, '{app,me}')`,
    [tenant.organizationId, sibling.applicationId],
  );
  const person = await createViewer(tenant);
  const tokens = [
    tenant.app,
    elsewhere.app,
    await issueToken(sibling, ['app']),
    person.token,
    (await createViewer(tenant)).token,
    await issueToken(sibling, ['me'], person.uuid),
    tenant.basic,
  ];
  const sendAll = async () => {
    const answers: Sent[] = [];
    for (const token of tokens) answers.push(await send(key, { token, variables: { email } }));
    return answers;
  };

  const first = await sendAll();
  const second = await sendAll();

  expect(first.map(outcomeOf)).toEqual([
    [200, undefined, null],
    [200, undefined, null],
    [200, ['CONFLICT'], null],
    ...Array.from({ length: 4 }, () => [200, ['FORBIDDEN'], null]),
  ]);
  for (const [index, answer] of second.entries()) expectReplay(answer, first[index] as Sent);
  // Another token of the same application is the same.
  await graph.database.owner.query(
    `delete from oauth.grants where organization_id = $1 and application_id = $2 and user_id is null`,
    [tenant.organizationId, tenant.applicationId],
  );
  tenant = { ...tenant, app: await issueToken(tenant, ['app']), basic: await issueToken(tenant, ['basic']) };
  expectReplay(await send(key, { variables: { email } }), first[0] as Sent);
  expect((await send(key, { token: tokens[0] as string, variables: { email } })).status).toBe(401);
});

describe('a malformed key', () => {
  it.each([
    ['none', ''],
    ['nothing in quotes', '""'],
    ['256 characters', 'k'.repeat(256)],
    ['256 characters in quotes', `"${'k'.repeat(256)}"`],
    ['a space', 'a key'],
    ['a space in quotes', '"a key"'],
    ['a tab', 'a\tkey'],
    ['a letter beyond ASCII', 'clé'],
  ])('is 400: %s', async (_what, key) => {
    const email = newEmail();

    const answer = await send(key, { variables: { email } });

    expect(outcomeOf(answer)).toEqual([400, ['BAD_USER_INPUT'], null]);
    expect(answer.headers.get('X-Request-Id')).toEqual(expect.any(String));
    expect(await countUsers(graph, email)).toBe(0);
  });

  it('are two of them', async () => {
    const email = newEmail();
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const client = request(`${graph.url}/graphql`, {
      method: 'POST',
      headers: [
        ...['Host', 'localhost', 'Authorization', `Bearer ${tenant.app}`, 'Content-Type', 'application/json'],
        ...['Idempotency-Key', 'one', 'Idempotency-Key', 'two'],
      ],
    });
    client.on('response', (response) => resolve(response.resume().statusCode));
    client.end(JSON.stringify({ query: create, variables: { email } }));

    expect(await promise).toBe(400);
    expect(await countUsers(graph, email)).toBe(0);
  });

  it.each([
    ['one character', '!'],
    ['255 characters', '~'.repeat(255)],
    ['255 characters in quotes', `"${'k'.repeat(255)}"`],
    ['half a string', '"half'],
  ])('is not: %s', async (_what, key) => {
    expect(outcomeOf(await send(key, { variables: { email: newEmail() } }))).toEqual([200, undefined, null]);
  });

  it('is ignored where any key is: with queries, by POST and GET, and without a token', async () => {
    const query = '{ app { name } }';
    for (const key of ['', 'key', 'key']) expect(outcomeOf(await send(key, { query }))).toEqual([200, undefined, null]);
    const headers = { Authorization: `Bearer ${tenant.app}`, 'Idempotency-Key': '' };
    const url = `${graph.url}/graphql?${new URLSearchParams({ query })}`;
    expect((await fetch(url, { headers })).status).toBe(200);
    expect((await send('', { token: 'none', variables: { email: newEmail() } })).status).toBe(401);
  });
});
