import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Request, Response } from 'express';
import { subkey } from '../../crypto/secrets.ts';
import { Html, html, renderDocument } from '../../html/html.ts';
import { hashToken } from '../../token/accessTokens.ts';
import { scopes } from '../../token/scopes.ts';
import { OAuthError } from '../errors.ts';
import { type Authorization, cookieName, type Person, type ReplyTo } from './sessions.ts';

export type Pages = ReturnType<typeof createPages>;

/**
 * The pages on the way to an application. They contain their style sheet and run no script.
 *
 * @param url the specification's `{base_url}`
 */
export function createPages(url: string) {
  const path = `${new URL(url).pathname.replace(/\/$/, '')}/oauth`;
  const addressOf = (action: string, { query }: Authorization) => `${path}/${action}?${query}`;

  return {
    /** Where the person answers this request. */
    addressOf: (authorization: Authorization) => addressOf('authorize', authorization),
    sendSignIn(response: Response, authorization: Authorization, form: SignInForm): void {
      const title = form.problem === undefined ? 'Sign in' : 'Error: Sign in';
      const action = addressOf('sign-in', authorization);
      send(response, "'self'", title, signInForm(action, authorization.application.name, form));
    },
    sendConsent(response: Response, authorization: Authorization, person: Person, tokens: ConsentTokens): void {
      const forms = consentForms((action) => addressOf(action, authorization), authorization, person, tokens);
      send(response, `'self' https: ${schemeOf(authorization.redirectUri)}`, 'Allow access', forms);
    },
    /** @param authorization with which the person can start again, if that is known */
    sendProblem(response: Response, refusal: OAuthError, authorization: Authorization | undefined): void {
      const again = authorization && addressOf('authorize', authorization);
      send(response, "'none'", 'This does not work', problemText(refusal, again));
    },
  };
}

/**
 * The scheme of the client's address, for `form-action`.
 * Chromium also applies this directive to the redirects after a form: to the client's address, and to where the client redirects from
 * there.
 * So the consent form may lead to https and to the client's own scheme. A password may be sent to this service only.
 */
const schemeOf = (redirectUri: string) => new URL(redirectUri).protocol;

/**
 * Never compressed, since the length could disclose the csrf_token to another site.
 * That site can have its own text reflected beside it (BREACH).
 */
function send(response: Response, formAction: string, title: string, main: Html): void {
  const policy = `default-src 'none'; style-src '${styleHash}'; img-src data:; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`;
  const head = html`<link rel="icon" href="${icon}" type="image/svg+xml">
<style>${new Html(style)}</style>`;
  const body = html`<header class="bar"><span class="brand"><img src="${icon}" alt="" width="20" height="20"> Graph Query Service</span></header>
<main class="card">
${main}
</main>`;
  response
    .set('Content-Security-Policy', policy)
    .type('html')
    .send(renderDocument(title, head, body));
}

const readText = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

// The style of all pages of the service, and the additions of these.
const style = readText('../../html/page.css') + readText('pages.css');
const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`;
const icon = `data:image/svg+xml,${encodeURIComponent(readText('../../html/icon.svg').trim())}`;

/** `username` is the text from the last try. */
type SignInForm = { csrfToken: string; username?: string; problem?: string };

const signInForm = (
  action: string,
  applicationName: string,
  { csrfToken, username, problem }: SignInForm,
): Html => html`<h1>Sign in</h1>
<p class="lead">to continue to <strong>${applicationName}</strong></p>
${problem === undefined ? null : html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<form method="post" action="${action}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
<label for="username">E-mail address</label>
<input id="username" name="username" type="text" inputmode="email" autocomplete="username" autocapitalize="none" spellcheck="false" required value="${username}"${describedBy(problem)}${username ? null : autofocus}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${describedBy(problem)}${username ? autofocus : null}>
<button class="primary">Sign in</button>
</form>`;

const autofocus = html` autofocus`;

const describedBy = (problem: string | undefined) =>
  problem === undefined ? null : html` aria-invalid="true" aria-describedby="problem"`;

/** The token of the two answers, and that of signing out. */
type ConsentTokens = { csrfToken: string; signOutToken: string };

/** @param addressOf an action of the authorization request */
const consentForms = (
  addressOf: (action: string) => string,
  { application, redirectUri, scopes: asked }: Authorization,
  person: Person,
  tokens: ConsentTokens,
): Html => html`<h1>Allow <strong>${application.name}</strong> to use your account?</h1>
<p class="lead">You are signed in as ${person.fullName} (${person.email}).</p>
<p>The application will be able to read, but not to change:</p>
<ul>
${asked
  .flatMap((scope) => scopes[scope].consent ?? [])
  .map(
    (part) => html`<li>${part}</li>
`,
  )}</ul>
<p class="hint">You will be sent to <strong>${placeOf(redirectUri)}</strong>. Allow it only if you have just come from there.</p>
<div class="choices">
<form method="post" action="${addressOf('authorize')}">
<input type="hidden" name="csrf_token" value="${tokens.csrfToken}">
<button class="primary">Allow</button>
</form>
<form method="post" action="${addressOf('authorize')}">
<input type="hidden" name="_method" value="delete">
<input type="hidden" name="csrf_token" value="${tokens.csrfToken}">
<button>Deny</button>
</form>
</div>
<form class="sign-out hint" method="post" action="${addressOf('sign-out')}">
<input type="hidden" name="csrf_token" value="${tokens.signOutToken}">
Not you? <button class="link">Sign out</button>
</form>`;

/** The host by which a person knows a web site; an app on this device has none. */
function placeOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (!/^https?:$/.test(protocol) || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname))
    return 'an app on this device';
  return host;
}

/** @param again where the person can start again, if that is known */
const problemText = (refusal: OAuthError, again: string | undefined): Html => {
  const { title, text } = problems[refusal.status] ?? { title: 'This link does not work', text: refusal.message };
  return html`<h1>${title}</h1>
<p>${text}</p>
${
  again === undefined
    ? html`<p class="hint">Go back to the application and try again. If this happens again, tell the people who make it.</p>`
    : html`<p><a class="button" href="${again}">Start again</a></p>`
}`;
};

/** Problems that a person can solve; the refusal's own words are for the application's developers. */
const problems: Record<number, { title: string; text: string }> = {
  403: { title: 'This page has expired', text: 'It was open for too long, or you have answered it already.' },
  429: { title: 'Too many tries', text: 'Wait for a few minutes before you try again.' },
  500: { title: 'Something went wrong', text: 'It is not your fault. Try again later.' },
  503: { title: 'Not right now', text: 'The service is overloaded or away. Try again in a moment.' },
};

export type AnswerClient = ReturnType<typeof createAnswerClient>;

/** Sends the person back with an answer (RFC 6749 4.1.2, 4.1.2.1) that names us (RFC 9207). */
export function createAnswerClient(issuer: string) {
  return (request: Request, response: Response, { redirectUri, state }: ReplyTo, answer: Record<string, string>) => {
    const parameters = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: issuer });
    sendTo(request, response, `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${parameters}`);
  };
}

/** 303, so that a browser follows by GET without the form; as JSON for a client that accepts it. */
export function sendTo(request: Request, response: Response, uri: string): void {
  if (wantsJson(request)) response.json({ status: 'redirect', redirect_uri: uri });
  else response.status(303).set('Location', uri).end();
}

export const wantsJson = (request: Request) => request.accepts('html', 'json') === 'json';

/**
 * Signed double-submit cookie against CSRF, for the forms that sign in and out.
 * A form carries a keyed hash of the browser's cookie. Nothing is stored, since every client may open the sign-in page. The consent
 * screen has its own one-time token.
 */
export function createAntiForgery(key: Buffer, url: string) {
  const isHttps = url.startsWith('https:');
  const name = cookieName('browser', isHttps);
  const tokenKey = subkey(key, 'anti-forgery token');
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([\\w-]{43})(?:;|$)`);
  const browserOf = (request: Request) => pattern.exec(request.headers.cookie ?? '')?.[1];
  const hash = (browser: string) => createHmac('sha256', tokenKey).update(browser).digest('base64url');

  return {
    /** The token for a form in the answer to this request; gives the browser its cookie if it has none. */
    tokenFor(request: Request, response: Response): string {
      const known = browserOf(request);
      if (known !== undefined) return hash(known);
      const browser = randomBytes(32).toString('base64url');
      response.cookie(name, browser, { httpOnly: true, sameSite: 'lax', secure: isHttps, path: '/' });
      return hash(browser);
    },
    /** @throws {OAuthError} 403 */
    verify(request: Request, token = ''): void {
      const browser = browserOf(request);
      if (browser === undefined) throw invalidCsrfToken('the browser has no cookie');
      if (!isSame(token, hash(browser))) throw invalidCsrfToken('csrf_token is missing or of another browser');
    },
  };
}

export type AntiForgery = ReturnType<typeof createAntiForgery>;

/** The form was not shown to this session, was shown too long ago, or was submitted already. */
export const invalidCsrfToken = (reason: string) =>
  new OAuthError('invalid_request', 'csrf_token is missing, was given to another session, has expired or was used.', {
    status: 403,
    reason,
  });

/** Compares texts of any length, in a time that does not show where they differ. */
const isSame = (one: string, other: string) => timingSafeEqual(hashToken(one), hashToken(other));
