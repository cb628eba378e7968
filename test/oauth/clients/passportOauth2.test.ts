import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import session from 'express-session';
import passport from 'passport';
import { Strategy } from 'passport-oauth2';
import { opened } from '../../support/openThings.ts';
import { Visitor } from '../authorizeSupport.ts';
import { bearer, createApplication, createUser, type OauthTest, send, shareOauthTest } from '../support.ts';

let oauth: OauthTest;
let site: { url: string; stop(): Promise<void> };
beforeAll(async () => {
  oauth = await shareOauthTest();
  site = await startSite(oauth);
});
afterAll(async () => {
  await site.stop();
});

/** A web site whose visitors sign in with us, by passport-oauth2 with PKCE and state. It shows them their token. */
async function startSite(test: OauthTest): Promise<{ url: string; stop(): Promise<void> }> {
  const app = express();
  const server: Server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const closed = opened('a web site');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const callbackURL = `${url}/callback`;
  const application = await createApplication(test, { scopes: ['me'], redirectUris: [callbackURL] });

  const visitors = new passport.Passport();
  const options = {
    authorizationURL: `${test.url}/oauth/authorize`,
    tokenURL: `${test.url}/oauth/token`,
    clientID: application.clientId,
    clientSecret: application.secret,
    callbackURL,
    scope: 'me',
    state: true,
    pkce: true,
  };
  visitors.use(
    new Strategy(options, (accessToken: string, _refresh: string, _profile: unknown, done: Done) =>
      done(null, { accessToken }),
    ),
  );
  app.use(session({ secret: 'of the site', resave: false, saveUninitialized: false, name: 'site' }));
  app.get('/login', visitors.authenticate('oauth2', { session: false }));
  app.get('/callback', visitors.authenticate('oauth2', { session: false }), (request, response) => {
    response.json(request.user);
  });

  const stop = async () => {
    await new Promise((resolve) => server.close(resolve));
    closed();
  };
  return { url, stop };
}

type Done = (error: unknown, user?: Express.User) => void;

test('a web site with passport-oauth2 signs a person in', async () => {
  const user = await createUser(oauth);
  const atSite = new Visitor(site);
  const atService = new Visitor(oauth);

  const login = await atSite.get('/login');
  const request = new URL(login.headers.get('Location') ?? '');
  expect(request.href).toMatch(`${oauth.url}/oauth/authorize?`);
  const { approval } = await atService.signIn(Object.fromEntries(request.searchParams), user);
  const allowed = await atService.submit(approval);
  const callback = await atSite.get(allowed.headers.get('Location') ?? '');

  expect(callback.status).toBe(200);
  const { accessToken } = JSON.parse(callback.text);
  const info = await send(oauth, '/oauth/token/info', { method: 'GET', headers: bearer(accessToken) });
  expect(info.body).toMatchObject({ scope: ['me'] });
});

test('a web site with passport-oauth2 hears that a person did not allow it', async () => {
  const user = await createUser(oauth);
  const atSite = new Visitor(site);
  const atService = new Visitor(oauth);
  const login = await atSite.get('/login');
  const request = new URL(login.headers.get('Location') ?? '');
  const { denial } = await atService.signIn(Object.fromEntries(request.searchParams), user);

  const denied = await atService.submit(denial);
  const callback = await atSite.get(denied.headers.get('Location') ?? '');

  // passport's answer to a request that was not authenticated.
  expect(callback.status).toBe(401);
});
