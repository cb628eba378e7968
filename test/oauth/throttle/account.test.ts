import { randomUUID } from 'node:crypto';
import {
  type Answer,
  asClient,
  createApplication,
  createOrganization,
  createUser,
  expectRefusal,
  expectTokens,
  type OwnOauthTest,
  startOauthTest,
  type TestApplication,
  type TestUser,
  token,
} from '../support.ts';
import { pass } from './support.ts';

// The limits of one account: 3 failures from one address, 15 from all together, in 15 minutes.

let oauth: OwnOauthTest;
let application: TestApplication;
beforeAll(async () => {
  oauth = await startOauthTest({ THROTTLE_FAILURES_PER_ACCOUNT: '3', TRUST_PROXY: '1' });
  application = await createApplication(oauth, { scopes: ['me'] });
});
afterAll(() => oauth.stop());

const here = '203.0.113.1';
const elsewhere = '203.0.113.2';

function signIn(username: string, password: string, address: string, client = application): Promise<Answer> {
  const form = { grant_type: 'password', username, password, ...asClient(client) };
  return token(oauth, { form, headers: { 'X-Forwarded-For': address } });
}

async function fail(user: Pick<TestUser, 'email'>, times: number, address: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let time = 0; time < times; time++) answers.push(await signIn(user.email, 'wrong', address));
  return answers;
}

function expectLocked(answer: Answer): void {
  expectRefusal(answer, 429, 'too_many_requests');
  expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect(Number(answer.headers.get('Retry-After'))).toBeLessThanOrEqual(15 * 60);
}

test('after so many failures from one address every try is refused there, be there such an account or not', async () => {
  const user = await createUser(oauth);
  const unknown = { email: `${randomUUID()}@example.test` };

  const wrong = await fail(user, 3, here);
  const wrongUnknown = await fail(unknown, 3, here);
  for (const answer of [...wrong, ...wrongUnknown]) expectRefusal(answer, 400, 'invalid_grant');

  const answers = [
    await signIn(user.email, user.password, here),
    await signIn(user.email, 'wrong', here),
    await signIn(unknown.email, 'wrong', here),
  ];
  for (const answer of answers) {
    expectLocked(answer);
    expect(answer.text).toBe(answers[0]?.text);
    expect(headerNames(answer)).toEqual(headerNames(answers[0]));
  }
  expectTokens(await signIn(user.email, user.password, elsewhere), 'me');
});

test('before that the right password succeeds, and does not count', async () => {
  const user = await createUser(oauth);

  await fail(user, 2, here);

  for (let time = 0; time < 4; time++) expectTokens(await signIn(user.email, user.password, here), 'me');
  await fail(user, 1, here);
  expectLocked(await signIn(user.email, user.password, here));
});

test('of many tries at once with the right password none fails: those that are being verified count for nothing', async () => {
  const user = await createUser(oauth);

  const answers = await Promise.all(Array.from({ length: 20 }, () => signIn(user.email, user.password, here)));

  for (const answer of answers) expectTokens(answer, 'me');
  await fail(user, 3, here);
  expectLocked(await signIn(user.email, user.password, here));
});

test('another account is not locked, and the same name in another organization is another account', async () => {
  const organizationId = await createOrganization(oauth.database);
  const foreign = await createApplication(oauth, { organizationId, scopes: ['me'] });
  const user = await createUser(oauth);
  const other = await createUser(oauth);
  const namesake = await createUser(oauth, { organizationId, email: user.email });

  await fail(user, 3, here);

  expectLocked(await signIn(user.email, user.password, here));
  expectTokens(await signIn(other.email, other.password, here), 'me');
  expectTokens(await signIn(namesake.email, namesake.password, here, foreign), 'me');
});

test('the account is the same however its name is written', async () => {
  const user = await createUser(oauth, { email: 'Lise.Meitner@example.test' });

  await signIn(user.email, 'wrong', here);
  await signIn(user.email.toUpperCase(), 'wrong', here);
  await signIn(` ${user.email.toLowerCase()} `, 'wrong', here);

  expectLocked(await signIn(user.email, user.password, here));
  expectTokens(await signIn(user.email, user.password, elsewhere), 'me');
});

test('a lock ends after 15 minutes, however many tries there are meanwhile', async () => {
  const user = await createUser(oauth);
  await fail(user, 3, here);

  await pass(oauth, 14 * 60);
  await fail(user, 3, here);
  expectLocked(await signIn(user.email, user.password, here));

  await pass(oauth, 60);
  expectTokens(await signIn(user.email, user.password, here), 'me');
});

test('one stranger cannot lock the owner out', async () => {
  const user = await createUser(oauth);

  await fail(user, 20, elsewhere);

  expectTokens(await signIn(user.email, user.password, here), 'me');
});

test('from many addresses together the account is locked everywhere, for 15 minutes', async () => {
  const user = await createUser(oauth);
  for (let address = 1; address <= 5; address++) await fail(user, 3, `198.51.100.${address}`);

  const locked = await signIn(user.email, user.password, here);
  expectLocked(locked);

  await pass(oauth, 15 * 60);
  expectTokens(await signIn(user.email, user.password, here), 'me');
});

test('where the account has signed in before, strangers lock no one out, and the address has an allowance of its own', async () => {
  const user = await createUser(oauth);
  expectTokens(await signIn(user.email, user.password, here), 'me');
  for (let address = 1; address <= 5; address++) await fail(user, 3, `198.51.100.${address}`);

  expectLocked(await signIn(user.email, user.password, elsewhere));
  expectTokens(await signIn(user.email, user.password, here), 'me');

  for (const answer of await fail(user, 3, here)) expectRefusal(answer, 400, 'invalid_grant');
  expectLocked(await signIn(user.email, user.password, here));

  // A known address is known for this account only.
  const other = await createUser(oauth);
  for (let address = 1; address <= 5; address++) await fail(other, 3, `198.51.100.${address}`);
  expectLocked(await signIn(other.email, other.password, here));
});

test('one network is one address: an IPv6 /64, and an IPv4 address however it is written', async () => {
  const [ada, grace] = [await createUser(oauth), await createUser(oauth)];
  for (const address of ['2001:db8::1', '2001:db8::ffff:0:1', '2001:0DB8:0:0:1:2:3:4']) await fail(ada, 1, address);
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '192.0.2.7:50123']) await fail(grace, 1, address);

  expectLocked(await signIn(ada.email, ada.password, '2001:db8::abcd'));
  expectTokens(await signIn(ada.email, ada.password, '2001:db8:0:1::1'), 'me');
  expectLocked(await signIn(grace.email, grace.password, '192.0.2.7'));
  expectTokens(await signIn(grace.email, grace.password, '192.0.2.8'), 'me');
});

const headerNames = (answer: Answer | undefined) =>
  [...(answer?.headers.keys() ?? [])].filter((name) => name !== 'x-request-id');
