import { hashToken } from '../../src/token/accessTokens.ts';
import {
  type Answer,
  asClient,
  createApplication,
  createUser,
  expectRefusal,
  expectTokens,
  issueOwn,
  type OauthTest,
  shareOauthTest,
  signIn,
  token,
  untilWaiting,
} from './support.ts';

// Rows that a request relies on are deleted while it is being answered.

let oauth: OauthTest;
beforeAll(async () => {
  oauth = await shareOauthTest();
});

/** Sends a request in the middle of another transaction, which commits once the request waits for it. */
async function during(statement: string, values: unknown[], request: () => Promise<Answer>): Promise<Answer> {
  const { owner } = oauth.database;
  const other = await owner.connect();
  try {
    await other.query('begin');
    expect((await other.query(statement, values)).rowCount).toBe(1);
    const answer = request();
    await untilWaiting(oauth, 1);
    await other.query('commit');
    return await answer;
  } finally {
    other.release();
  }
}

test('a person who is deleted while signing in gets no token', async () => {
  const application = await createApplication(oauth, { scopes: ['me'] });
  const user = await createUser(oauth);
  const form = { grant_type: 'password', username: user.email, password: user.password, ...asClient(application) };

  const answer = await during('delete from app_public.users where id = $1', [user.id], () => token(oauth, { form }));

  expectRefusal(answer, 400, 'invalid_grant');
});

test('an application that is deleted while it asks gets no token', async () => {
  const application = await createApplication(oauth);
  const form = { grant_type: 'client_credentials', ...asClient(application) };

  const answer = await during('delete from oauth.applications where id = $1', [application.id], () =>
    token(oauth, { form }),
  );

  expectRefusal(answer, 400, 'invalid_grant');
});

test('a grant that ends while it is renewed is not renewed', async () => {
  const application = await createApplication(oauth, { scopes: ['me'] });
  const { refresh_token, user } = await signIn(oauth, asClient(application));
  const form = { grant_type: 'refresh_token', refresh_token, ...asClient(application) };

  const answer = await during('delete from oauth.grants where user_id = $1', [user.id], () => token(oauth, { form }));

  expectRefusal(answer, 400, 'invalid_grant');
});

test('an application whose grant ends while it asks gets another one', async () => {
  const application = await createApplication(oauth);
  const first = await issueOwn(oauth, application, 'app');
  const form = { grant_type: 'client_credentials', ...asClient(application) };

  const answer = await during('delete from oauth.grants where application_id = $1', [application.id], () =>
    token(oauth, { form }),
  );

  const { access_token } = expectTokens(answer, 'app');
  const { rows } = await oauth.database.owner.query(
    'select token_hash from oauth.access_tokens t join oauth.grants g on g.id = t.grant_id where application_id = $1',
    [application.id],
  );
  expect(rows.map((row) => row.token_hash)).toEqual([hashToken(access_token)]);
  expect(first.access_token).not.toBe(access_token);
});
