import { currentSession } from './session.js';
import { readSettings } from './settings.js';
import { Tokens } from './tokens.js';

/**
 * @type {{
 *   endpointURL: string, initialHeaders: { Authorization: string }, oauthPath: string, publicIntrospection: boolean
 * }}
 */
const { oauthPath, publicIntrospection, ...settings } = readSettings();
const tokens = new Tokens({ oauthPath, endpoint: settings.endpointURL });
const send = globalThis.fetch;

/** How Altair sends its requests. */
globalThis.fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  // The example in the headers section is no token, and stands for that of GraphiQL's sign-in. What reads a public schema
  // needs none, and must not fail for one that has ended.
  if (headers.get('Authorization') === settings.initialHeaders.Authorization) {
    const isPublic = publicIntrospection && String(init?.body).includes('IntrospectionQuery');
    const token = isPublic ? null : await tokens.forRequest();
    if (token) headers.set('Authorization', `Bearer ${token}`);
    else headers.delete('Authorization');
  }

  const response = await send(input, { ...init, headers, credentials: 'omit' });
  // Altair aborts each request when it has read the answer, and the browser would count it as failed.
  return new Response(await response.blob(), response);
};

// Altair's own scripts come before this one.
Reflect.get(globalThis, 'AltairGraphQL').init({
  ...settings,
  endpointURL: new URL(settings.endpointURL, location.href).href,
});

const session = currentSession();
const hint = document.getElementById('token-hint');
if (session && hint) hint.textContent = `Requests carry the token of GraphiQL, as ${session.name},`;

document.getElementById('show-headers')?.addEventListener('click', () => {
  /** @type {HTMLElement | null} */
  const opener = document.querySelector('[track-id="show_set_headers"]');
  opener?.click();
});
