import { answerOf, createPkce, exchange, only, requestOf, shareAuthorization, Visitor } from './authorizeSupport.ts';
import { asClient, bearer, type OauthTest, send, type TestApplication, type TestUser } from './support.ts';

let oauth: OauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  ({ oauth, application, user } = await shareAuthorization());
});

test('a person signs in, allows it, and the client gets tokens for the code', async () => {
  const visitor = new Visitor(oauth);
  const pkce = createPkce();

  const page = await visitor.open(requestOf(application, pkce));
  const signedIn = await visitor.submit(only(page.forms), { username: user.email, password: user.password });
  const consent = await visitor.consent(signedIn.headers.get('Location') ?? '');
  const { code = '', ...rest } = answerOf(await visitor.submit(consent.approval));

  expect(rest).toEqual({ state: 'state of the client', iss: oauth.url });
  const { access_token } = await exchange(oauth, code, pkce, asClient(application));
  const { body } = await send(oauth, '/oauth/token/info', { method: 'GET', headers: bearer(access_token) });
  expect(body).toMatchObject({ scope: ['me'], application: { uid: application.clientId } });
  expect(body.resource_owner_id).toEqual(expect.any(String));
});
