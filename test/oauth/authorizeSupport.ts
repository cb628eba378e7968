import { createHash, randomBytes } from 'node:crypto';
import {
  type Answer,
  createApplication,
  createUser,
  expectTokens,
  type OauthPlace,
  type OauthTest,
  shareOauthTest,
  type TestApplication,
  type TestUser,
  type Tokens,
  token,
} from './support.ts';

export const redirectUri = 'https://client.example.test/callback';

export type Pkce = { verifier: string; challenge: string };

export function createPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** An authorization request that is in order. */
export const requestOf = (application: TestApplication, { challenge }: Pkce = createPkce()) => ({
  response_type: 'code',
  client_id: application.clientId,
  redirect_uri: redirectUri,
  scope: 'me',
  state: 'state of the client',
  code_challenge: challenge,
  code_challenge_method: 'S256',
});

/** The shared server, a client that may ask for the scope of a person, and a person. */
export async function shareAuthorization(): Promise<{
  oauth: OauthTest;
  application: TestApplication;
  user: TestUser;
}> {
  const oauth = await shareOauthTest();
  const application = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  return { oauth, application, user: await createUser(oauth) };
}

export type Visit = { status: number; headers: Headers; text: string; forms: Form[] };

/** A form of a page: where it goes, and what it carries unless the person types something else. */
export type Form = { action: string; fields: Record<string, string> };

/** A browser without scripts: it keeps cookies, sees forms, and follows no redirect by itself. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #url: string;

  constructor({ url }: { url: string }) {
    this.#url = url;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Visit> {
    return this.send(path, { headers });
  }

  open(request: Record<string, string>, headers: Record<string, string> = {}): Promise<Visit> {
    return this.get(`/oauth/authorize?${new URLSearchParams(request)}`, headers);
  }

  submit(form: Form, typed: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Visit> {
    return this.send(form.action, { method: 'POST', headers, body: new URLSearchParams({ ...form.fields, ...typed }) });
  }

  async send(path: string, init: RequestInit): Promise<Visit> {
    const headers = new Headers(init.headers);
    if (!headers.has('Accept')) headers.set('Accept', 'text/html,application/xhtml+xml,*/*;q=0.8');
    headers.set('Cookie', [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(new URL(path, this.#url), { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.cookies.set(name, value);
    }
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, forms: formsOf(text) };
  }

  /** Opens the request, signs in, and is asked; the page's forms are those to allow, to deny and to sign out. */
  async signIn(
    request: Record<string, string>,
    user: { email: string; password: string },
  ): Promise<Visit & { approval: Form; denial: Form; signOut: Form }> {
    const page = await this.open(request);
    const signedIn = await this.submit(only(page.forms), { username: user.email, password: user.password });
    expect(signedIn.status).toBe(303);
    return this.consent(signedIn.headers.get('Location') ?? '');
  }

  async consent(path: string): Promise<Visit & { approval: Form; denial: Form; signOut: Form }> {
    const page = await this.get(path);
    const [approval, denial, signOut] = page.forms;
    if (!approval || !denial || !signOut) throw new Error(`Not asked for consent: ${page.status} ${page.text}`);
    return { ...page, approval, denial, signOut };
  }
}

function formsOf(page: string): Form[] {
  return [...page.matchAll(/<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(([, action = '', inside = '']) => ({
    action: unescaped(action),
    fields: Object.fromEntries(
      [...inside.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name,
        unescaped(value),
      ]),
    ),
  }));
}

const unescaped = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

export function only<T>(list: T[]): T {
  expect(list).toHaveLength(1);
  return list[0] as T;
}

/** The parameters that the client receives at its redirect URI. */
export function answerOf(visit: Visit, uri: string = redirectUri): Record<string, string> {
  expect(visit.status).toBe(303);
  const location = visit.headers.get('Location') ?? '';
  expect(location.slice(0, uri.length + 1)).toBe(`${uri}${uri.includes('?') ? '&' : '?'}`);
  expect(visit.headers.get('Cache-Control')).toBe('no-store');
  expect(visit.headers.get('Referrer-Policy')).toBe('no-referrer');
  return Object.fromEntries(new URLSearchParams(location.slice(uri.length + 1)));
}

/** A page for the person: no way to anywhere, nothing to keep, nothing to frame. */
export function expectPage(visit: Visit, status: number): void {
  expect({ status: visit.status, location: visit.headers.get('Location') }).toEqual({ status, location: null });
  expect(visit.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
  expect(visit.headers.get('Cache-Control')).toBe('no-store');
  expect(visit.headers.get('Referrer-Policy')).toBe('no-referrer');
  expect(visit.headers.get('Content-Security-Policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(visit.headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(visit.headers.get('X-Frame-Options')).toBe('DENY');
  // A window that a client has opened stays in its hands.
  expect(visit.headers.get('Cross-Origin-Opener-Policy')).toBe('unsafe-none');
  expect(visit.headers.get('WWW-Authenticate')).toBeNull();
}

/** The answer is neither a redirect nor stored. */
export function expectForbidden(visit: Visit): void {
  expect({ status: visit.status, location: visit.headers.get('Location') }).toEqual({ status: 403, location: null });
  expect(visit.headers.get('Cache-Control')).toBe('no-store');
}

export const sessionsOf = async ({ database: { owner } }: OauthPlace, { id }: TestUser) =>
  (await owner.query('select sid from oauth.sessions where user_id = $1', [id])).rows;

export const countCodesOf = async ({ database: { owner } }: OauthPlace, { id }: TestUser) =>
  (await owner.query('select from oauth.authorization_codes where user_id = $1', [id])).rowCount;

/** A code that a new visitor has allowed. */
export async function obtainCode(
  test: OauthTest,
  application: TestApplication,
  user: { email: string; password: string },
  pkce: Pkce,
  request: Record<string, string> = {},
): Promise<string> {
  const visitor = new Visitor(test);
  const { approval } = await visitor.signIn({ ...requestOf(application, pkce), ...request }, user);
  const { code } = answerOf(await visitor.submit(approval), request.redirect_uri);
  expect(code).toMatch(/^gqs_ac_[\w-]{49}$/);
  return code ?? '';
}

export const exchangeForm = (code: string, { verifier }: Pkce) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: redirectUri,
  code_verifier: verifier,
});

export async function exchange(
  test: OauthTest,
  code: string,
  pkce: Pkce,
  client: Record<string, string>,
): Promise<Tokens> {
  const answer: Answer = await token(test, { form: { ...exchangeForm(code, pkce), ...client } });
  return expectTokens(answer, 'me');
}
