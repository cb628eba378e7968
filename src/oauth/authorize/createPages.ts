import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Response } from 'express';
import { Html, html, renderDocument } from '../../html/html.ts';
import type { OAuthError } from '../errors.ts';
import { type ConsentTokens, consentForms, problemText, type SignInForm, signInForm } from './forms.ts';
import type { Authorization } from './readAuthorization.ts';
import type { Person } from './sessions.ts';

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
