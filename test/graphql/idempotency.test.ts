import { hash, randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { purgeExpired } from '../../src/oauth/purge/purgeExpired.ts';
import { define } from '../generation/doors.ts';
import { startTestService, testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  createTenant,
  createUser,
  createViewer,
  issueToken,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from './support.ts';

// `Idempotency-Key`: a mutation is executed once, however often it is sent.

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest();
  await graph.database.owner.query(functions);
  await graph.reload();
  tenant = await createTenant(graph);
});
afterAll(() => graph.stop());

const functions = [
  'create sequence app_hidden.tries; grant usage on sequence app_hidden.tries to graph_app;',
  define(
    'try_to(state text)',
    `returns text language plpgsql volatile as $$
       begin perform nextval('app_hidden.tries'); raise exception using errcode = state; end $$`,
    '@mutation\nFails.',
  ),
  `create table app_hidden.seats (
     organization_id uuid not null,
     number int not null,
     constraint seats_pkey primary key (organization_id, number) deferrable initially deferred);
   grant select, insert on app_hidden.seats to graph_app;`,
  define(
    'sit(number int)',
    `returns int language sql volatile as $$
       insert into app_hidden.seats values (app_hidden.current_organization_id(), number) returning number $$`,
    '@mutation\nTakes a seat.',
  ),
].join('\n');

type Sent = { status: number; headers: Headers; text: string };
type Options = {
  token?: string;
  query?: string;
  variables?: Record<string, unknown>;
  parameters?: object;
  headers?: Record<string, string>;
  url?: string;
};

const create = 'mutation ($email: String!) { userCreate(fullName: "Ada", email: $email) { user { id email } } }';

/** Sends a mutation with this key; without one when it is null. */
async function send(key: string | null, options: Options): Promise<Sent> {
  const { token = tenant.app, query = create, variables = {}, headers, url = graph.url } = options;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json',
      ...(key !== null && { 'Idempotency-Key': key }),
      ...headers,
    },
    body: JSON.stringify(options.parameters ?? { query, variables }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const newEmail = () => `${randomUUID()}@acme.test`;
const bodyOf = ({ text }: Sent) => JSON.parse(text);
const codesOf = (sent: Sent): string[] | undefined =>
  bodyOf(sent).errors?.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
const replayedOf = ({ headers }: Sent) => headers.get('Idempotency-Replayed');
const outcomeOf = (sent: Sent) => [sent.status, codesOf(sent), replayedOf(sent)];

const countOf = async (sql: string, ...values: unknown[]): Promise<number> =>
  (await graph.database.owner.query(sql, values)).rows.length;
const countUsers = (...emails: string[]) => countOf('select from app_public.users where email = any ($1)', emails);

function expectReplay(second: Sent, first: Sent): void {
  expect(replayedOf(first)).toBeNull();
  const { status, text } = first;
  expect({ ...second, headers: replayedOf(second) }).toEqual({ status, text, headers: 'true' });
}

describe('the same request with the same key', () => {
  it('gets the same bytes, and changes nothing more', async () => {
    const [key, email] = [randomUUID(), newEmail()];

    const first = await send(key, { variables: { email } });
    const second = await send(key, { variables: { email } });

    expect(bodyOf(first)).toEqual({ data: { userCreate: { user: { id: expect.any(String), email } } } });
    expectReplay(second, first);
    expect(await countUsers(email)).toBe(1);
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

  it('is executed once, and on the second thread too, by twenty at once', async () => {
    // By the number of its fields.
    const long = create.replace('email }', `${'email '.repeat(210)}}`);
    for (const query of [create, long]) {
      const [key, email] = [randomUUID(), newEmail()];
      // The second thread starts with the first that it executes, for which a slow machine takes longer than others may wait.
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
      expect(await countUsers(email)).toBe(1);
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
  expect(await countUsers(email, other)).toBe(1);
  expect(await countOf('select from app_public.users where id = $1 and external_identifier is null', user.uuid)).toBe(
    0,
  );
  expectReplay(await send(key, { variables: { email } }), first);
});

test('a key is of one application, person and role', async () => {
  const [key, email] = [randomUUID(), newEmail()];
  const elsewhere = await createTenant(graph);
  const sibling = { ...tenant, applicationId: randomUUID() };
  await graph.database.owner.query(
    `insert into oauth.applications (organization_id, id, name, client_id, scopes) values ($1, $2, 'Sibling', 'sibling', '{app,me}')`,
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

describe('a replay shows the secret of a webhook', () => {
  const webhook = (url: string) =>
    `webhookCreate(url: "https://example.com/${url}") { secret again: secret webhook { id } }`;
  const both = `mutation { one: ${webhook('one')} two: ${webhook('two')} }`;
  const run = (query: string, id: string) => read(graph, tenant.app, query, { id });
  type Made = { secret: string; again: string; webhook: { id: string } };
  /** Two webhooks, whose answer is kept, and what a replay shows of their secrets. */
  const createTwo = async () => {
    const key = randomUUID();
    const first = await send(key, { query: both });
    const { one, two } = bodyOf(first).data as { one: Made; two: Made };
    const replayed = async () => {
      const again = await send(key, { query: both });
      expect([again.status, replayedOf(again)]).toEqual([200, 'true']);
      const { data } = bodyOf(again) as { data: { one: Made; two: Made } };
      const shown = [data.one.secret, data.two.secret].map((secret) => secret !== null);
      // All else is as it was.
      const nulls = [one, two].flatMap(({ secret }, index) => (shown[index] ? [] : [`"${secret}"`]));
      expect(again.text).toBe(nulls.reduce((text, secret) => text.replaceAll(secret, 'null'), first.text));
      return shown;
    };
    return { key, first, one, two, replayed };
  };
  const remove = 'mutation ($id: ID!) { webhookDelete(id: $id) { webhook { id } } }';
  const rotate = 'mutation ($id: ID!) { webhookRotateSecret(id: $id) { secret } }';
  afterEach(() =>
    graph.database.owner.query('delete from app_public.webhooks where organization_id = $1', [tenant.organizationId]),
  );

  it('while the webhook exists', async () => {
    const { one, two, replayed } = await createTwo();

    expect([one, two]).toEqual(
      [one, two].map(({ secret }) => ({
        ...{ secret: expect.stringMatching(/^whsec_.{32}$/), again: secret, webhook: { id: expect.any(String) } },
      })),
    );
    expect(await replayed()).toEqual([true, true]);
    await run('mutation ($id: ID!) { webhookUpdate(id: $id, enabled: false) { webhook { id } } }', one.webhook.id);
    expect(await replayed()).toEqual([true, true]);
  });

  it('not once it is deleted, and that of the other one still', async () => {
    const { one, two, replayed } = await createTwo();

    await run(remove, one.webhook.id);
    expect(await replayed()).toEqual([false, true]);
    await run(remove, two.webhook.id);
    expect(await replayed()).toEqual([false, false]);
  });

  it('not once it is rotated, and the new one is replayed by its own key', async () => {
    const { two, replayed } = await createTwo();
    const key = randomUUID();
    const options = { query: rotate, variables: { id: two.webhook.id } };

    const rotated = await send(key, options);
    expect(await replayed()).toEqual([true, false]);
    expectReplay(await send(key, options), rotated);

    await run(rotate, two.webhook.id);
    expect(bodyOf(await send(key, options))).toEqual({ data: { webhookRotateSecret: { secret: null } } });
    await run(remove, two.webhook.id);
    expect(bodyOf(await send(key, options))).toEqual({ data: { webhookRotateSecret: { secret: null } } });
  });

  it('not after one hour', async () => {
    const { replayed } = await createTwo();
    const age = (minutes: number) =>
      graph.database.owner.query(
        `update app_hidden.idempotency_keys set expires_at = expires_at - $2 * interval '1 minute' where organization_id = $1`,
        [tenant.organizationId, minutes],
      );

    await age(59);
    expect(await replayed()).toEqual([true, true]);
    await age(1);
    expect(await replayed()).toEqual([false, false]);
  });

  it('not once it is deleted if the offload thread made the answer, and a name that looks like one as it is', async () => {
    const lookalike = `whsec_${'A'.repeat(32)}`;
    const key = randomUUID();
    const query = `mutation { unitCreate(name: "${lookalike}") { unit { name } } one: webhookCreate(url: "https://example.com") {
      secret ${'secret '.repeat(210)} webhook { id } } }`;
    const first = await send(key, { query });
    const { one } = bodyOf(first).data as { one: Made };
    expectReplay(await send(key, { query }), first);

    await run(remove, one.webhook.id);

    expect(bodyOf(await send(key, { query })).data).toEqual({
      unitCreate: { unit: { name: lookalike } },
      one: { secret: null, webhook: one.webhook },
    });
  });
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
    expect(await countUsers(email)).toBe(0);
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
    expect(await countUsers(email)).toBe(0);
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

describe('a mutation that fails', () => {
  const two = (second: string, email: string) =>
    `mutation { first: userCreate(fullName: "Ada", email: "${email}") { user { email } } ${second} }`;

  it.each([
    ['BAD_USER_INPUT', 'second: userCreate(fullName: "", email: "x@acme.test") { user { id } }'],
    ['BAD_USER_INPUT', 'second: userDelete { user { id } }'],
    ['NOT_FOUND', 'second: userDelete(externalIdentifier: "nobody") { user { id } }'],
    ['BAD_USER_INPUT', 'second: tryTo(state: "23514") { result }'],
  ])('for good (%s) is replayed with what its other fields have done: %s', async (code, second) => {
    const [key, email] = [randomUUID(), newEmail()];
    const query = two(`${second} third: userUpdate(externalIdentifier: "x") { user { id } }`, email);

    const first = await send(key, { query });

    expect(bodyOf(first).data).toEqual({ first: { user: { email } }, second: null, third: null });
    expect(outcomeOf(first)).toEqual([200, [code, 'NOT_FOUND'], null]);
    expectReplay(await send(key, { query }), first);
    expect(await countUsers(email)).toBe(1);
  });

  it.each([
    ['INTERNAL', 'P0001', 200, 1],
    ['TIMEOUT', '57014', 200, 1],
    ['UNAVAILABLE', '55P03', 503, 2],
    ['UNAVAILABLE', '40001', 503, 2],
    ['UNAVAILABLE', '53100', 503, 1],
  ])('for now (%s, SQLSTATE %s) has done nothing, and is executed anew', async (code, state, status, tries) => {
    const [key, email] = [randomUUID(), newEmail()];
    const query = two(`second: tryTo(state: "${state}") { result }`, email);
    await graph.database.owner.query('alter sequence app_hidden.tries restart');

    const answers = [await send(key, { query }), await send(key, { query })];

    for (const answer of answers) {
      expect(outcomeOf(answer)).toEqual([status, [code], null]);
      expect(bodyOf(answer).data).toBeNull();
    }
    expect(await countUsers(email)).toBe(0);
    const { rows } = await graph.database.owner.query('select last_value::int as tries from app_hidden.tries');
    expect(rows[0].tries).toBe(2 * tries);
    // Nothing was kept, so that the key is free for another request, too.
    expect(outcomeOf(await send(key, { variables: { email } }))).toEqual([200, undefined, null]);
  });

  it('when it is refused before execution leaves the key free', async () => {
    const [key, email] = [randomUUID(), newEmail()];

    expect((await send(key, { query: 'mutation { nothing }' })).status).toBe(400);
    expect((await send(key, { variables: {} })).status).toBe(400);

    expect(outcomeOf(await send(key, { variables: { email } }))).toEqual([200, undefined, null]);
  });

  it('at a deferred constraint fails its own field', async () => {
    const query =
      'mutation { one: sit(number: 1) { result } again: sit(number: 1) { result } two: sit(number: 2) { result } }';
    const key = randomUUID();

    const first = await send(key, { query });

    expect(bodyOf(first).data).toEqual({ one: { result: 1 }, again: null, two: { result: 2 } });
    expect(codesOf(first)).toEqual(['CONFLICT']);
    expectReplay(await send(key, { query }), first);
    expect(await countOf('select from app_hidden.seats')).toBe(2);
    expect(bodyOf(await send(null, { query: query.replaceAll('number: ', 'number: 1') })).data).toEqual({
      one: { result: 11 },
      again: null,
      two: { result: 12 },
    });
  });
});

describe('several fields that write the tree', () => {
  it('never wait for each other, however many are sent at once', async () => {
    const query = `mutation ($name: String!, $identifier: String!) {
      one: unitCreate(name: $name, externalIdentifier: $identifier) { unit { name } }
      two: unitUpdate(externalIdentifier: $identifier, parentId: null, name: "moved") { unit { name } }
      ...Three }
      fragment Three on Mutation { unitDelete(externalIdentifier: $identifier) { unit { name } } }`;
    const send20 = () =>
      Array.from({ length: 20 }, (_, number) =>
        send(randomUUID(), { query, variables: { name: `Unit ${number}`, identifier: randomUUID() } }),
      );

    const answers = await Promise.all([...send20(), ...send20()]);

    expect(new Set(answers.map((answer) => JSON.stringify(outcomeOf(answer))))).toEqual(new Set(['[200,null,null]']));
    const deadlocks = await graph.database.owner.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    expect(deadlocks.rows).toEqual([{ deadlocks: 0 }]);
  });
});

describe('while it is under way', () => {
  /** Sends a mutation that waits for the row of a user, until `release`. */
  async function whileWaiting<T>(work: (key: string, query: string, first: Promise<Sent>) => Promise<T>) {
    const user = await createUser(tenant);
    const email = newEmail();
    const query = `mutation { userUpdate(id: "${user.id}", email: "${email}") { user { email } } }`;
    const holder = await graph.database.owner.connect();
    await holder.query('begin');
    await holder.query('select from app_public.users where id = $1 for update', [user.uuid]);
    const key = randomUUID();
    const first = send(key, { query });
    await until(async () => (await waiting()).length === 1);
    const result = await work(key, query, first);
    await holder.query('rollback');
    holder.release();
    return { result, first: await first.catch(() => null), key, query, email };
  }
  const waiting = async () => {
    const { rows } = await graph.database.owner.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows;
  };

  it('a second one is 409 at once, by any process, and then gets the same answer', async () => {
    const other = await startTestService(graph.database);

    const { result, first, key, query } = await whileWaiting(async (key, query) => [
      await send(key, { query }),
      await send(key, { query, url: other.url }),
      await send(key, { query: create, variables: { email: newEmail() } }),
    ]);

    for (const answer of result) {
      expect(outcomeOf(answer)).toEqual([409, ['IDEMPOTENCY_KEY_IN_USE'], null]);
      expect(answer.headers.get('Retry-After')).toBe('1');
    }
    if (!first) throw new Error('There is no answer.');
    expectReplay(await send(key, { query, url: other.url }), first);
    await other.stop();
  });

  it('its application is deleted: nothing was done, and its token is refused then and later', async () => {
    const doomed = await createTenant(graph);
    const email = newEmail();
    const holder = await graph.database.owner.connect();
    await holder.query('begin');
    await holder.query('delete from oauth.applications where organization_id = $1', [doomed.organizationId]);

    const first = send(randomUUID(), { token: doomed.app, variables: { email } });
    await until(async () => (await waiting()).length === 1);
    await holder.query('commit');
    holder.release();

    const answer = await first;
    expect(outcomeOf(answer)).toEqual([401, ['UNAUTHENTICATED'], null]);
    expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer .*invalid_token/);
    expect(await countUsers(email)).toBe(0);
    const later = await send(randomUUID(), { token: doomed.app, variables: { email } });
    expect(outcomeOf(later)).toEqual(outcomeOf(answer));
  });

  it('the connection is lost: nothing was done, and it is executed anew', async () => {
    const { first, key, query, email } = await whileWaiting(async () => {
      for (const { pid } of await waiting()) await graph.database.owner.query('select pg_terminate_backend($1)', [pid]);
      await until(async () => (await waiting()).length === 0);
    });

    expect(first && outcomeOf(first)).toEqual([503, ['UNAVAILABLE'], null]);
    expect(first && bodyOf(first).data).toBeNull();
    expect(await countUsers(email)).toBe(0);
    const again = await send(key, { query });
    expectReplay(await send(key, { query }), again);
    expect(await countUsers(email)).toBe(1);
  });

  it('its client goes away: it is done, and its answer is kept', async () => {
    const [key, email] = [randomUUID(), newEmail()];
    const user = await createUser(tenant);
    const query = `mutation { userUpdate(id: "${user.id}", email: "${email}") { user { email } } }`;
    const holder = await graph.database.owner.connect();
    await holder.query('begin');
    await holder.query('select from app_public.users where id = $1 for update', [user.uuid]);
    const leaving = new AbortController();
    const headers = {
      Authorization: `Bearer ${tenant.app}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    };
    const body = JSON.stringify({ query, variables: {} });
    const left = fetch(`${graph.url}/graphql`, { method: 'POST', headers, body, signal: leaving.signal });
    await until(async () => (await waiting()).length === 1);
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    await holder.query('rollback');
    holder.release();
    await until(async () => (await countUsers(email)) === 1);

    const answer = await send(key, { query });

    expect([answer.text, replayedOf(answer)]).toEqual([
      `{"data":{"userUpdate":{"user":{"email":"${email}"}}}}`,
      'true',
    ]);
  });
});

test('a holder that hangs is ended by PostgreSQL', async () => {
  const client = await graph.database.owner.connect();
  await client.query('begin; set local role graph_app');
  const idleFor = async () => (await client.query('show idle_in_transaction_session_timeout')).rows[0];

  const before = await idleFor();
  const { rows } = await client.query(`select state from app_hidden.claim_idempotency_key(sha256('key'))`);
  const claimed = await idleFor();
  await client.query('rollback');

  expect([before, rows, claimed, await idleFor()]).toEqual([
    { idle_in_transaction_session_timeout: '0' },
    [{ state: 'claimed' }],
    { idle_in_transaction_session_timeout: '10s' },
    { idle_in_transaction_session_timeout: '0' },
  ]);
  client.release();
});

describe('what is kept', () => {
  it('tells nothing without SECRET_KEY, and opens for its own request alone', async () => {
    const [key, other, email] = [randomUUID(), randomUUID(), newEmail()];
    await send(key, { variables: { email } });
    const { rows } = await graph.database.owner.query(
      `select to_jsonb(k) as kept, answer_ciphertext as bytes from app_hidden.idempotency_keys k where key_hash = sha256($1)`,
      [key],
    );

    expect(rows).toHaveLength(1);
    const text = JSON.stringify(rows[0].kept) + rows[0].bytes.toString('latin1');
    for (const clear of [key, email, 'userCreate', Buffer.from(email).toString('hex')])
      expect(text).not.toContain(clear);

    await graph.database.owner.query(
      `insert into app_hidden.idempotency_keys (organization_id, application_id, principal_id, role, key_hash, answer_ciphertext)
       select organization_id, application_id, principal_id, role, sha256($2), answer_ciphertext
       from app_hidden.idempotency_keys where key_hash = sha256($1)`,
      [key, other],
    );
    expect((await send(other, { variables: { email } })).status).toBe(422);
  });

  it('opens under SECRET_KEY_PREVIOUS, and without it is executed by no means again', async () => {
    const [key, email] = [randomUUID(), newEmail()];
    const first = await send(key, { variables: { email } });
    const SECRET_KEY = randomBytes(32).toString('base64');
    const rotated = await startTestService(graph.database, { SECRET_KEY, SECRET_KEY_PREVIOUS: testSecretKey });
    const forgetful = await startTestService(graph.database, { SECRET_KEY });

    expectReplay(await send(key, { variables: { email }, url: rotated.url }), first);
    expect(outcomeOf(await send(key, { variables: { email }, url: forgetful.url }))).toEqual([
      422,
      ['IDEMPOTENCY_KEY_REUSED'],
      null,
    ]);
    expect(await countUsers(email)).toBe(1);
    await rotated.stop();
    await forgetful.stop();
  });

  it.each([
    ['keys', 1_000_000],
    ['bytes', 250_000_000],
  ])('is bounded for each organization, in %s', async (column, max) => {
    const full = await createTenant(graph);
    const [key, email, neighbour] = [randomUUID(), newEmail(), newEmail()];
    expect((await send(randomUUID(), { token: full.app, variables: { email: newEmail() } })).status).toBe(200);
    const setTo = (count: number) =>
      graph.database.owner.query(`update app_hidden.idempotency_usage set ${column} = $1 where organization_id = $2`, [
        count,
        full.organizationId,
      ]);

    await setTo(max);
    const refused = await send(key, { token: full.app, variables: { email } });
    const beside = await send(key, { variables: { email: neighbour } });
    expect(outcomeOf(refused)).toEqual([429, ['LIMIT_EXCEEDED'], null]);
    expect(refused.headers.get('Retry-After')).toBe('3600');
    expect(await countUsers(email)).toBe(0);
    expect(beside.status).toBe(200);
    // Kept answers are there, and requests without a key succeed.
    expect((await send(null, { token: full.app, variables: { email: newEmail() } })).status).toBe(200);
    await setTo(max - 1);
    expect((await send(key, { token: full.app, variables: { email } })).status).toBe(200);

    const { rows } = await graph.database.owner.query(
      `select sum(u.keys)::int as keys, sum(u.bytes)::int as bytes, (
         select sum(octet_length(answer_ciphertext))::int from app_hidden.idempotency_keys k where k.organization_id = $1) as kept
       from app_hidden.idempotency_usage u where u.organization_id = $1`,
      [full.organizationId],
    );
    expect(rows[0][column]).toBeGreaterThanOrEqual(max);
    expect(rows[0].kept).toBeGreaterThan(56);
  });

  it('is bounded for each person, who leaves enough to the others', async () => {
    const person = await createViewer(tenant);
    const query = 'mutation { userDelete(id: "x") { user { id } } }';
    await graph.database.owner.query(
      `insert into app_hidden.idempotency_keys (organization_id, application_id, principal_id, role, key_hash, answer_ciphertext)
       select $1, $2, $3, 'graph_user', sha256(int4send(number)), repeat('x', 28)::bytea from generate_series(1, 999) as number`,
      [tenant.organizationId, tenant.applicationId, person.uuid],
    );

    expect(outcomeOf(await send('last', { token: person.token, query }))).toEqual([200, ['FORBIDDEN'], null]);
    expect(outcomeOf(await send('more', { token: person.token, query }))).toEqual([429, ['LIMIT_EXCEEDED'], null]);
    expect(outcomeOf(await send('last', { token: person.token, query }))).toEqual([200, ['FORBIDDEN'], 'true']);
    expect(outcomeOf(await send('more', { token: (await createViewer(tenant)).token, query }))).toEqual([
      200,
      ['FORBIDDEN'],
      null,
    ]);
  });

  it('is purged when it has expired, with its counts, and nothing else', async () => {
    const other = await createTenant(graph);
    for (const key of ['old', 'new']) await send(key, { token: other.app, variables: { email: newEmail() } });
    const { owner } = graph.database;
    await owner.query(
      `update app_hidden.idempotency_keys set expires_at = now() where organization_id = $1 and key_hash = sha256('old')`,
      [other.organizationId],
    );
    await owner.query(
      `update app_hidden.idempotency_usage set expires_at = now()
       where organization_id = $1 and slot = get_byte(sha256('old'), 0) % 4`,
      [other.organizationId],
    );

    expect(await purgeExpired((statement) => owner.query(statement))).toMatchObject({
      idempotencyKeys: expect.any(Number),
    });

    const { rows } = await owner.query(
      `select encode(key_hash, 'hex') as hash, (select sum(keys)::int from app_hidden.idempotency_usage u where u.organization_id = k.organization_id) as keys
       from app_hidden.idempotency_keys k where organization_id = $1`,
      [other.organizationId],
    );
    expect(rows).toEqual([{ hash: hash('sha256', 'new'), keys: 1 }]);
  });
});
