import { readSettings } from './settings.js';

const settings = readSettings();

/*
 * The example in the headers section is no token. Sent as it is, it would have every request refused, also the one
 * that reads the schema, which Altair sends at once and which needs no token.
 */
const send = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  if (headers.get('Authorization') === settings.initialHeaders.Authorization) headers.delete('Authorization');
  return send(input, { ...init, headers });
};

// Altair's own scripts come before this one.
Reflect.get(globalThis, 'AltairGraphQL').init(settings);

document.getElementById('show-headers')?.addEventListener('click', () => {
  /** @type {HTMLElement | null} */
  const opener = document.querySelector('[track-id="show_set_headers"]');
  opener?.click();
});
