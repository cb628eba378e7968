import { createButton, element } from './dom.js';
import { offerSearch } from './search.js';
import { currentSession } from './session.js';

/** Of `sessionStorage`, which ends with the tab. */
const key = 'graph-query-service:documentation-token';

if (document.getElementById('token-form')) askForToken();
else showPage();

function askForToken() {
  const token = sessionStorage.getItem(key) ?? currentSession()?.accessToken;
  if (token) void unlock(token);
  element('token-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    void unlock(String(form.get('token')).trim());
  });
  for (const button of document.querySelectorAll('button')) button.disabled = false;
}

/** @param {string} [token] that the schema is read with, where it is not public */
function showPage(token) {
  for (const code of document.querySelectorAll('.code')) addCopyButton(code);
  offerSearch(token);
}

/** @param {Element} code */
function addCopyButton(code) {
  const button = createButton('Copy', async () => {
    const text = code.querySelector('pre') ?? code;
    getSelection()?.selectAllChildren(text);
    // Without TLS there is no clipboard, but for pages of this machine.
    await (navigator.clipboard?.writeText(text.textContent ?? '') ?? document.execCommand('copy'));
    button.textContent = 'Copied';
  });
  button.addEventListener('blur', () => {
    button.textContent = 'Copy';
  });
  code.querySelector('figcaption')?.append(button);
}

/**
 * Gets this page again, with a token, and shows it in place of the question for one. This tab keeps the token for the other pages.
 *
 * @param {string} token
 */
async function unlock(token) {
  const response = await fetch(location.pathname, {
    credentials: 'omit',
    headers: { Authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  if (!response.ok) {
    sessionStorage.removeItem(key);
    element('problem').textContent = 'That token is unknown, expired or revoked.';
    return;
  }
  sessionStorage.setItem(key, token);
  const page = new DOMParser().parseFromString(text, 'text/html');
  document.title = page.title;
  document.body.replaceWith(page.body);
  showPage(token);
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
