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
import { moveClock, startClock, stopClock } from './support.ts';

// The limits of one account: 3 failures from one address, 15 from all together, in 15 minutes.

let oauth: OwnOauthTest;
let application: TestApplication;
beforeAll(async () => {
  oauth = await startOauthTest({ THROTTLE_FAILURES_PER_ACCOUNT: '3', TRUST_PROXY: '1' });
  application = await createApplication(oauth, { scopes: ['me'] });
});
afterAll(() => oauth.stop());
beforeEach(stopClock);
afterEach(startClock);

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

test('after so many failures from one address the right password fails there, as a wrong one does', async () => {
  const user = await createUser(oauth);

  const [wrong] = await fail(user, 3, here);
  const locked = await signIn(user.email, user.password, here);

  expectRefusal(locked, 400, 'invalid_grant');
  expect(locked.text).toBe(wrong?.text);
  expect(headerNames(locked)).toEqual(headerNames(wrong));
  expectTokens(await signIn(user.email, user.password, elsewhere), 'me');
});

test('before that the right password succeeds, and does not count', async () => {
  const user = await createUser(oauth);

  await fail(user, 2, here);

  for (let time = 0; time < 4; time++) expectTokens(await signIn(user.email, user.password, here), 'me');
  await fail(user, 1, here);
  expectRefusal(await signIn(user.email, user.password, here), 400, 'invalid_grant');
});

test('another account is not locked, and the same name in another organization is another account', async () => {
  const organizationId = await createOrganization(oauth.database);
  const foreign = await createApplication(oauth, { organizationId, scopes: ['me'] });
  const user = await createUser(oauth);
  const other = await createUser(oauth);
  const namesake = await createUser(oauth, { organizationId, email: user.email });

  await fail(user, 3, here);

  expectRefusal(await signIn(user.email, user.password, here), 400, 'invalid_grant');
  expectTokens(await signIn(other.email, other.password, here), 'me');
  expectTokens(await signIn(namesake.email, namesake.password, here, foreign), 'me');
});

test('the account is the same however its name is written', async () => {
  const user = await createUser(oauth, { email: 'Lise.Meitner@example.test' });

  await signIn(user.email, 'wrong', here);
  await signIn(user.email.toUpperCase(), 'wrong', here);
  await signIn(` ${user.email.toLowerCase()} `, 'wrong', here);

  expectRefusal(await signIn(user.email, user.password, here), 400, 'invalid_grant');
  expectTokens(await signIn(user.email, user.password, elsewhere), 'me');
});

test('a lock ends after 15 minutes, however often somebody tries meanwhile', async () => {
  const user = await createUser(oauth);
  await fail(user, 3, here);

  moveClock(15 * 60 - 1);
  await fail(user, 3, here);
  expectRefusal(await signIn(user.email, user.password, here), 400, 'invalid_grant');

  moveClock(15 * 60);
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
  expectRefusal(locked, 400, 'invalid_grant');

  moveClock(15 * 60);
  expectTokens(await signIn(user.email, user.password, here), 'me');
});

test('one network is one address: an IPv6 /64, and an IPv4 address however it is written', async () => {
  const [ada, grace] = [await createUser(oauth), await createUser(oauth)];
  for (const address of ['2001:db8::1', '2001:db8::ffff:0:1', '2001:0DB8:0:0:1:2:3:4']) await fail(ada, 1, address);
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '192.0.2.7:50123']) await fail(grace, 1, address);

  expectRefusal(await signIn(ada.email, ada.password, '2001:db8::abcd'), 400, 'invalid_grant');
  expectTokens(await signIn(ada.email, ada.password, '2001:db8:0:1::1'), 'me');
  expectRefusal(await signIn(grace.email, grace.password, '192.0.2.7'), 400, 'invalid_grant');
  expectTokens(await signIn(grace.email, grace.password, '192.0.2.8'), 'me');
});

const headerNames = (answer: Answer | undefined) =>
  [...(answer?.headers.keys() ?? [])].filter((name) => name !== 'x-request-id');
