import { randomBytes, randomUUID } from 'node:crypto';
import { startTestService, type TestService, testSecretKey } from '../support/service.ts';
import { shareService } from '../support/sharedService.ts';
import { inShort, pageQuery, present, readPage } from './changes/feed.ts';
import { countUsers, expectReplay, newEmail, outcomeOf, sendKeyed } from './idempotency/sendKeyed.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  expectErrors,
  expectRefused,
  type GraphTest,
  newExternalToken,
  read,
  type Tenant,
} from './support.ts';

// What was sealed or signed under SECRET_KEY, once it has been replaced: external tokens, cursors of the feed, and kept answers.

/** Under the key of before. */
let before: GraphTest;
/** Under the key of before, with the new one as SECRET_KEY_PREVIOUS: a server that is not replaced yet. */
let ready: TestService;
/** Under a new key, with the former as SECRET_KEY_PREVIOUS. */
let rotated: TestService;
/** Under the new key alone. */
let later: TestService;
let tenant: Tenant;
beforeAll(async () => {
  before = await shareService();
  const SECRET_KEY = randomBytes(32).toString('base64');
  ready = await startTestService(before.database, { SECRET_KEY_PREVIOUS: SECRET_KEY });
  rotated = await startTestService(before.database, { SECRET_KEY, SECRET_KEY_PREVIOUS: testSecretKey });
  // As after `admin re-encrypt`.
  await forgetKey();
  later = await startTestService(before.database, { SECRET_KEY });
});
beforeEach(async () => {
  tenant = await createTenant(before);
});
afterAll(async () => {
  await Promise.all([ready.stop(), rotated.stop(), later.stop()]);
  await forgetKey();
});

/** The next service notes its own. */
const forgetKey = () => before.database.owner.query('delete from app_hidden.secret_key_check');

describe('an external authentication token', () => {
  const byId = 'query($id: ID!) { node(id: $id) { ... on User { fullName externalAuthenticationToken } } }';

  it('that was sealed under the key before opens, and a new one is sealed under the new key', async () => {
    const token = newExternalToken();
    const user = await createUser(tenant, { externalAuthenticationToken: token });

    expect(await read(rotated, tenant.app, byId, { id: user.id })).toMatchObject({
      node: { externalAuthenticationToken: token },
    });

    await read(
      rotated,
      tenant.app,
      `mutation($id: ID, $token: String) { userUpdate(id: $id, externalAuthenticationToken: $token) { user { id } } }`,
      { id: user.id, token: 'sealed-under-the-new-key' },
    );
    for (const service of [ready, rotated, later])
      expect(await read(service, tenant.app, byId, { id: user.id })).toMatchObject({
        node: { externalAuthenticationToken: 'sealed-under-the-new-key' },
      });
    const answer = await ask(before, tenant.app, byId, { id: user.id });
    expectErrors(
      answer,
      { node: { fullName: user.fullName, externalAuthenticationToken: null } },
      {
        code: 'INTERNAL',
        requestId: String(answer.headers.get('X-Request-Id')),
        path: ['node', 'externalAuthenticationToken'],
      },
    );
  });

  it('is still unique: one that another user has under the key before is taken', async () => {
    const token = newExternalToken();
    await createUser(tenant, { externalAuthenticationToken: token });
    const query = `mutation($token: String) {
      userCreate(fullName: "A", email: "a@acme.test", externalAuthenticationToken: $token) { user { id } } }`;

    expectErrors(
      await ask(rotated, tenant.app, query, { token }),
      { userCreate: null },
      { code: 'CONFLICT', argument: 'externalAuthenticationToken', path: ['userCreate'] },
    );
    await read(rotated, tenant.app, query, { token: newExternalToken() });
  });
});

test('a cursor of the feed goes on while its key is SECRET_KEY_PREVIOUS, and new ones are of the new key', async () => {
  const start = await present(before, tenant);
  await createUnit(tenant);

  const page = await readPage(rotated, tenant, { after: start });
  expect(page.nodes.map(inShort)).toEqual(['CREATE Unit']);

  const { endCursor } = page.pageInfo;
  for (const service of [ready, later])
    expect((await readPage(service, tenant, { after: endCursor })).nodes).toEqual([]);
  for (const [service, after] of [
    [later, start],
    [before, endCursor],
  ] as const)
    expectRefused(await ask(service, tenant.app, pageQuery, { after }), 400, {
      ...{ code: 'BAD_USER_INPUT', argument: 'after' },
    });
});

test('an answer that is kept opens under SECRET_KEY_PREVIOUS, and without it is executed by no means again', async () => {
  const [key, email] = [randomUUID(), newEmail()];
  const send = (url: string) => sendKeyed(before, tenant, key, { variables: { email }, url });
  const first = await send(before.url);

  expectReplay(await send(rotated.url), first);
  expect(outcomeOf(await send(later.url))).toEqual([422, ['IDEMPOTENCY_KEY_REUSED'], null]);
  expect(await countUsers(before, email)).toBe(1);
});

test('while servers are replaced, one under the key before repeats the answer of one under the new key if it knows both', async () => {
  const [key, email] = [randomUUID(), newEmail()];
  const send = (url: string) => sendKeyed(before, tenant, key, { variables: { email }, url });
  const first = await send(rotated.url);

  expectReplay(await send(ready.url), first);
  expect(outcomeOf(await send(before.url))).toEqual([422, ['IDEMPOTENCY_KEY_REUSED'], null]);
  expect(await countUsers(before, email)).toBe(1);
});
