import { hash } from '@node-rs/argon2';
import {
  asClient,
  createApplication,
  createUser,
  expectRefusal,
  expectTokens,
  type OwnOauthTest,
  startOauthTest,
  type TestApplication,
  type TestUser,
  token,
  untilWaiting,
} from './support.ts';

let oauth: OwnOauthTest;
let application: TestApplication;
beforeAll(async () => {
  // Production's cost, by the defaults.
  oauth = await startOauthTest({ ARGON2_MEMORY_KIB: '', ARGON2_PASSES: '' });
  application = await createApplication(oauth, { scopes: ['me'] });
});
afterAll(() => oauth.stop());

const signIn = ({ email }: TestUser, password: string) =>
  token(oauth, { form: { grant_type: 'password', username: email, password, ...asClient(application) } });

const setHash = (user: TestUser, passwordHash: string) =>
  oauth.database.owner.query('update oauth.credentials set password_hash = $2 where user_id = $1', [
    user.id,
    passwordHash,
  ]);

async function readHash(user: TestUser): Promise<string> {
  const { rows } = await oauth.database.owner.query('select password_hash from oauth.credentials where user_id = $1', [
    user.id,
  ]);
  return rows[0].password_hash;
}

/** With the parameters of another time. */
const weakHash = (password: string) => hash(password, { memoryCost: 8192, timeCost: 1, parallelism: 1 });

const present = '$argon2id$v=19$m=65536,t=3,p=4$';

test('is renewed when its parameters are out of date and the password is right', async () => {
  const user = await createUser(oauth);
  const weak = await weakHash(user.password);
  await setHash(user, weak);

  expectRefusal(await signIn(user, 'wrong'), 400, 'invalid_grant');
  expect(await readHash(user)).toBe(weak);

  expectTokens(await signIn(user, user.password), 'me');
  const renewed = await readHash(user);
  expect(renewed.slice(0, present.length)).toBe(present);

  expectRefusal(await signIn(user, 'wrong'), 400, 'invalid_grant');
  expectTokens(await signIn(user, user.password), 'me');
  expect(await readHash(user)).toBe(renewed);
});

test('is not renewed over a password that is set meanwhile', async () => {
  const user = await createUser(oauth);
  await setHash(user, await weakHash(user.password));
  const set = await weakHash('another password');
  const other = await oauth.database.owner.connect();
  await other.query('begin');
  await other.query('update oauth.credentials set password_hash = $2 where user_id = $1', [user.id, set]);

  const answer = signIn(user, user.password);
  await untilWaiting(oauth, 1);
  await other.query('commit');
  other.release();

  expectTokens(await answer, 'me');
  expect(await readHash(user)).toBe(set);
  expectRefusal(await signIn(user, user.password), 400, 'invalid_grant');
});
