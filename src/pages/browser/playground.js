import { signInFirst } from './principals.js';
import { currentSession } from './session.js';
import { settings } from './settings.js';
import { tokenForRequest } from './tokens.js';

const { altair, endpoint, publicIntrospection } = settings;
const send = globalThis.fetch;

/** How Altair sends its requests. */
globalThis.fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  // The example in the headers section is no token, and stands for that of GraphiQL's sign-in. What reads a public schema
  // needs none, and must not fail for one that has ended.
  if (headers.get('Authorization') === altair.initialHeaders.Authorization) {
    const isPublic = publicIntrospection && String(init?.body).includes('IntrospectionQuery');
    const token = isPublic ? null : await tokenForRequest();
    if (token) headers.set('Authorization', `Bearer ${token}`);
    else headers.delete('Authorization');
  }

  const response = await send(input, { ...init, headers, credentials: 'omit' });
  // Altair aborts each request when it has read the answer, and the browser would count it as failed.
  return new Response(await response.blob(), response);
};

// Its first request has the token. Without one the requests say what is wrong.
await signInFirst().catch(() => undefined);
// Altair's own scripts come before this one.
Reflect.get(globalThis, 'AltairGraphQL').init({ ...altair, endpointURL: new URL(endpoint, location.href).href });

const session = currentSession();
const hint = document.getElementById('token-hint');
if (session && hint)
  hint.textContent = `Requests carry the token of ${session.name}, as those of GraphiQL in this tab,`;

document.getElementById('show-headers')?.addEventListener('click', () => {
  /** @type {HTMLElement | null} */
  const opener = document.querySelector('[track-id="show_set_headers"]');
  opener?.click();
});
