import { type Html, html } from '../../html/html.ts';
import { scopes } from '../../token/scopes.ts';
import type { OAuthError } from '../errors.ts';
import type { Authorization } from './readAuthorization.ts';
import type { Person } from './sessions.ts';

/** `username` is the text from the last try. */
export type SignInForm = { csrfToken: string; username?: string; problem?: string };

export const signInForm = (
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
export type ConsentTokens = { csrfToken: string; signOutToken: string };

/** @param addressOf an action of the authorization request */
export const consentForms = (
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
export const problemText = (refusal: OAuthError, again: string | undefined): Html => {
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
