import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { openStream } from '../graphql/changes/eventStream.ts';
import { ask, read } from '../graphql/client.ts';
import { redirectUri, requestOf, Visitor } from '../oauth/authorizeSupport.ts';
import {
  asClient,
  createApplication,
  createOrganization,
  createUser,
  expectRefusal,
  expectTokens,
  issueOwn,
  type OauthTest,
  send,
  shareOauthTest,
  type TestApplication,
  token,
} from '../oauth/support.ts';
import { until } from '../support/until.ts';

/**
 * Organizations that are being moved to another database: app_hidden.is_served, and everything that asks it.
 * `admin move-organization` has tests of its own; here its row and its lock are written by hand.
 */
let oauth: OauthTest;
let application: TestApplication;
let access: string;
beforeEach(async () => {
  oauth = await shareOauthTest();
  oauth.organizationId = await createOrganization(oauth.database);
  application = await createApplication(oauth, { scopes: ['app', 'basic', 'me'], redirectUris: [redirectUri] });
  access = (await issueOwn(oauth, application, 'app')).access_token;
  await read(oauth, access, nameQuery);
});

const nameQuery = '{ app { name } }';
const create = 'mutation ($name: String!) { unitCreate(name: $name) { unit { name } } }';
const createTwo = `mutation { a: unitUpdate(externalIdentifier: "held", name: "New") { unit { name } }
  b: unitCreate(name: "Second") { unit { name } } }`;

const setState = (state: string, organizationId = oauth.organizationId) =>
  oauth.database.owner.query(
    `insert into app_hidden.organization_moves (organization_id, move_id, state, peer, arrived_at)
     values ($1, gen_random_uuid(), $2, 'other', case when $2 = 'arrived' then now() end)
     on conflict on constraint organization_moves_pkey do update set state = $2, arrived_at = now()`,
    [organizationId, state],
  );

const endMove = () =>
  oauth.database.owner.query('delete from app_hidden.organization_moves where organization_id = $1', [
    oauth.organizationId,
  ]);

/** A session that takes an advisory lock until it is released, as the cut-over does. */
async function startCutOver() {
  const client = new Client({ connectionString: oauth.database.ownerUrl });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const locked = client.query('select pg_advisory_lock(app_hidden.move_lock($1))', [oauth.organizationId]);
  return { pid: rows[0]?.pid, locked, end: () => client.end() };
}

const isWaiting = async (pid: number | undefined) =>
  (
    await oauth.database.owner.query("select from pg_locks where pid = $1 and locktype = 'advisory' and not granted", [
      pid,
    ])
  ).rowCount === 1;

/** Whether a statement waits for the table. */
const isWaitingFor = async (table: string) =>
  (await oauth.database.owner.query('select from pg_locks where relation = $1::regclass and not granted', [table]))
    .rowCount === 1;

const clientForm = () => ({ grant_type: 'client_credentials', scope: 'app', ...asClient(application) });

/** What clients get: the status of GraphQL by a token that is cached, of a mutation, and of OAuth. */
async function statuses() {
  const answers = [
    await ask(oauth, access, nameQuery),
    await ask(oauth, access, create, { name: 'Attic' }),
    await token(oauth, { form: clientForm() }),
    await send(oauth, '/oauth/introspect', { form: { token: access, ...asClient(application) } }),
    await send(oauth, '/oauth/token/info', { method: 'GET', headers: { Authorization: `Bearer ${access}` } }),
    await send(oauth, '/oauth/authorize', { method: 'GET', query: `${new URLSearchParams(requestOf(application))}` }),
  ];
  for (const { status, headers } of answers)
    expect([status, headers.get('Retry-After')]).toEqual([status, status === 503 ? '2' : null]);
  return answers.map(({ status }) => status);
}

test.each(['moved', 'arriving'])('an organization that is %s is answered with 503, and no other', async (state) => {
  const { organizationId } = oauth;
  await setState(state, await createOrganization(oauth.database));
  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);

  await setState(state, organizationId);

  expect(await statuses()).toEqual([503, 503, 503, 503, 503, 503]);
  expect((await ask(oauth, access, nameQuery)).body.errors).toEqual([
    expect.objectContaining({ extensions: { code: 'UNAVAILABLE' } }),
  ]);
  expectRefusal(await token(oauth, { form: clientForm() }), 503, 'temporarily_unavailable');
  // What does not belong to it is refused as ever.
  expect((await ask(oauth, access.replace(/.$/, 'x'), nameQuery)).status).toBe(401);
  await endMove();
  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
});

test.each(['copying', 'arrived'])('an organization that is %s works', async (state) => {
  await setState(state);

  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
});

test('a cut-over stops the organization while its session lasts, and no longer', async () => {
  await setState('copying');
  const cutOver = await startCutOver();
  await cutOver.locked;

  expect(await statuses()).toEqual([503, 503, 503, 503, 503, 503]);

  await cutOver.end();
  await until(async () => (await ask(oauth, access, nameQuery)).status === 200);
  expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
});

test('a cut-over waits for the mutation that is under way, and its second field is refused', async () => {
  const { owner } = oauth.database;
  await owner.query(
    "insert into app_public.units (organization_id, name, external_identifier) values ($1, 'Old', 'held')",
    [oauth.organizationId],
  );
  await setState('copying');
  const holder = await owner.connect();
  await holder.query('begin');
  await holder.query('select from app_public.units where organization_id = $1 for update', [oauth.organizationId]);
  const answer = ask(oauth, access, createTwo);
  await until(
    async () =>
      (
        await owner.query(
          "select from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and objid = (app_hidden.move_lock($1) & 4294967295)::oid",
          [oauth.organizationId],
        )
      ).rowCount === 1,
  );
  const cutOver = await startCutOver();
  await until(() => isWaiting(cutOver.pid));

  await holder.query('commit');
  holder.release();
  await cutOver.locked;

  const { status, body } = await answer;
  expect(status).toBe(503);
  expect(body.data).toEqual({ a: { unit: { name: 'New' } }, b: null });
  expect(body.errors).toEqual([expect.objectContaining({ path: ['b'], extensions: { code: 'UNAVAILABLE' } })]);
  const { rows } = await owner.query('select name from app_public.units where organization_id = $1', [
    oauth.organizationId,
  ]);
  expect(rows).toEqual([{ name: 'New' }]);
  await cutOver.end();
});

test('a cut-over waits for the first read by a new token, which a drop would otherwise empty', async () => {
  const { owner } = oauth.database;
  await owner.query("insert into app_public.units (organization_id, name) values ($1, 'Old')", [oauth.organizationId]);
  await setState('copying');
  const newToken = (await issueOwn(oauth, application, 'app')).access_token;
  const holder = await owner.connect();
  await holder.query('begin; lock table app_public.units in access exclusive mode');
  const answer = ask(oauth, newToken, '{ app { units { totalCount } } }');
  await until(() => isWaitingFor('app_public.units'));
  const cutOver = await startCutOver();
  await until(() => isWaiting(cutOver.pid));

  await holder.query('commit');
  holder.release();
  await cutOver.locked;

  expect((await answer).body.data).toEqual({ app: { units: { totalCount: 1 } } });
  await cutOver.end();
});

test('reads by new tokens race with a cut-over and a drop: each finds all, or is refused', async () => {
  const { owner } = oauth.database;
  await owner.query("insert into app_public.units (organization_id, name) values ($1, 'Old')", [oauth.organizationId]);
  await setState('copying');
  const tokens = await Promise.all(Array.from({ length: 20 }, () => issueOwn(oauth, application, 'app')));
  const asked = tokens.map(({ access_token }) => ask(oauth, access_token, '{ app { units { totalCount } } }'));
  await Promise.race(asked);

  const cutOver = await startCutOver();
  await cutOver.locked;
  await setState('moved');
  await cutOver.end();
  await owner.query('delete from app_public.units where organization_id = $1', [oauth.organizationId]);

  const answers = await Promise.all(asked);
  const told = answers.map(({ status, body }) => (status === 200 ? JSON.stringify(body.data) : String(status)));
  expect(told.filter((text) => !['503', '{"app":{"units":{"totalCount":1}}}'].includes(text))).toEqual([]);
  expect(told).toContain('{"app":{"units":{"totalCount":1}}}');
});

test('nothing is left of a mutation with an idempotency key, which may be repeated', async () => {
  const headers = {
    'Content-Type': 'application/json',
    Authorization: `Bearer ${access}`,
    'Idempotency-Key': randomUUID(),
  };
  const body = JSON.stringify({ query: create, variables: { name: 'Once' } });
  const repeat = async () => (await fetch(`${oauth.url}/graphql`, { method: 'POST', headers, body })).status;
  await setState('moved');
  expect([await repeat(), await repeat()]).toEqual([503, 503]);

  await setState('arrived');

  expect([await repeat(), await repeat()]).toEqual([200, 200]);
  const { rowCount } = await oauth.database.owner.query('select from app_public.units where organization_id = $1', [
    oauth.organizationId,
  ]);
  expect(rowCount).toBe(1);
});

test('the sign-in pages say 503, and the session goes on afterwards', async () => {
  const person = await createUser(oauth);
  const visitor = new Visitor(oauth);
  const { approval } = await visitor.signIn(requestOf(application), person);
  await setState('moved');

  expect((await visitor.open(requestOf(application))).status).toBe(503);
  expect((await visitor.submit(approval)).status).toBe(503);

  await endMove();
  const allowed = await visitor.submit(approval);
  expect(allowed.status).toBe(303);
  expect(allowed.headers.get('Location')).toMatch(/[?&]code=/);
});

test('refusals of a move count as no failure of a password', async () => {
  const person = await createUser(oauth);
  const form = { grant_type: 'password', scope: 'me', username: person.email, ...asClient(application) };
  await setState('moved');
  for (let count = 0; count < 3; count++)
    expectRefusal(await token(oauth, { form: { ...form, password: 'wrong' } }), 503, 'temporarily_unavailable');
  await endMove();

  expectTokens(await token(oauth, { form: { ...form, password: person.password } }), 'me');
  const { rows } = await oauth.database.owner.query("select key from oauth.throttles where key like 'account%'");
  expect(rows).toEqual([]);
});

test('streams of the organization complete, and those of others go on', async () => {
  const other = await createApplication(oauth, { organizationId: await createOrganization(oauth.database) });
  const otherToken = (await issueOwn(oauth, other, 'app')).access_token;
  const [stream, remaining] = [await openStream(oauth, access), await openStream(oauth, otherToken)];

  await setState('moved');

  expect(await stream.rest()).toEqual([expect.objectContaining({ event: 'complete' })]);
  expect((await openStream(oauth, access)).status).toBe(503);
  await read(oauth, otherToken, create, { name: 'Elsewhere' });
  expect(await remaining.changes(1)).toMatchObject([{ operation: 'CREATE', typeName: 'Unit' }]);
  remaining.close();
});

test('a cursor from before the organization came here has expired, and one from afterwards has not', async () => {
  const endQuery = '{ app { changes(first: 0) { pageInfo { endCursor } } } }';
  const readEnd = async () =>
    (await read<{ app: { changes: { pageInfo: { endCursor: string } } } }>(oauth, access, endQuery)).app.changes
      .pageInfo.endCursor;
  const after = 'query ($after: Cursor) { app { changes(after: $after) { nodes { id } } } }';
  const before = await readEnd();
  await read(oauth, access, after, { after: before });

  await setState('arrived');

  expect((await ask(oauth, access, after, { after: before })).body.errors).toEqual([
    expect.objectContaining({ extensions: { code: 'CURSOR_EXPIRED', argument: 'after' } }),
  ]);
  await read(oauth, access, after, { after: await readEnd() });
});
