import { readSettings } from './settings.js';

/** @type {{ endpointURL: string, initialHeaders: { Authorization: string } }} */
const settings = readSettings();

const send = globalThis.fetch;

/** How Altair sends its requests. */
globalThis.fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  // The example in the headers section is no token. Sent as it is, it would have every request refused, also the one
  // that reads the schema, which Altair sends at once and which needs no token.
  if (headers.get('Authorization') === settings.initialHeaders.Authorization) headers.delete('Authorization');

  const response = await send(input, { ...init, headers, credentials: 'omit' });
  // Altair aborts each request when it has read the answer, and the browser would count it as failed.
  return new Response(await response.blob(), response);
};

// Altair's own scripts come before this one.
Reflect.get(globalThis, 'AltairGraphQL').init({
  ...settings,
  endpointURL: new URL(settings.endpointURL, location.href).href,
});

document.getElementById('show-headers')?.addEventListener('click', () => {
  /** @type {HTMLElement | null} */
  const opener = document.querySelector('[track-id="show_set_headers"]');
  opener?.click();
});
