import { showClaims } from './claims.js';
import { beginCodeFlow } from './codeFlow.js';
import { offerComparison } from './compare.js';
import { toCurl } from './curl.js';
import { element, messageOf } from './dom.js';
import { clearResult, edited } from './editor.js';
import { fitExample, showExamples } from './examples.js';
import { say } from './notice.js';
import { principalOptions, sessionOf } from './principals.js';
import { chooseSession, currentSession, readSessions, sessionChanges } from './session.js';
import { settings } from './settings.js';
import { canRefresh, refresh, signInBy, signOut, tokenForRequest } from './tokens.js';
import { offerReasons } from './why.js';

/**
 * The panel above GraphiQL: the active token with its claims and how to get others, examples,
 * the request as a command.
 */
export function showPanel() {
  const dialog = /** @type {HTMLDialogElement} */ (element('sign-in-dialog'));
  let chosen = currentSession()?.id;
  show();
  setInterval(() => showClaims(currentSession()), 15_000);
  sessionChanges.addEventListener('change', () => {
    show();
    say('');
    dialog.close();
    // The result of another caller must not stand beside the claims of this token.
    if (chosen !== currentSession()?.id) clearResult();
    chosen = currentSession()?.id;
    void fitExample();
  });

  element('sign-in').addEventListener('click', () => dialog.showModal());
  for (const button of document.querySelectorAll('dialog .close'))
    button.addEventListener('click', () => button.closest('dialog')?.close());
  onClick('sign-out', signOut);
  onClick('refresh', async () => {
    const session = currentSession();
    if (session) await refresh(session);
  });
  onClick('copy', async () => {
    const token = await tokenForRequest();
    await copy(toCurl(new URL(settings.endpoint, location.href).href, token, await edited()));
    say(`Copied as a command for a shell${token ? `; its first line is the token of ${currentSession()?.name}` : ''}.`);
  });
  let choices = 0;
  element('token').addEventListener('change', async ({ target }) => {
    const { value } = /** @type {HTMLSelectElement} */ (target);
    const choice = ++choices;
    try {
      const session = await sessionOf(value);
      // The last choice holds, although signing in for an earlier one may take longer.
      if (choice === choices) chooseSession(session?.id ?? '');
    } catch (error) {
      show();
      say(messageOf(error));
    }
  });
  offerComparison((error) => say(messageOf(error)));
  offerReasons(onClick);
  onSubmit('application-form', async (form) => {
    const client = { client_id: form.get('client_id'), client_secret: form.get('client_secret') };
    chooseSession((await signInBy({ grant_type: 'client_credentials', ...client })).id);
  });
  onSubmit('user-form', (form) => beginCodeFlow(form.get('client_id')));
}

function show() {
  const session = currentSession();
  showClaims(session);
  element('token').replaceChildren(...tokenOptions(), ...principalOptions());
  element('refresh').hidden = !session || !canRefresh(session);
  element('sign-out').hidden = session === null;
  element('sign-in').textContent = session ? 'Add a token' : 'Sign in';
  showExamples();
}

function tokenOptions() {
  const { sessions, chosen } = readSessions();
  const options = Object.values(sessions).map(
    ({ id, name, principal }) => new Option(`as ${principal ?? name}`, id, false, id === chosen),
  );
  return [new Option('No token', '', false, !(chosen in sessions)), ...options];
}

/** @type {(id: string, act: (form: { get(name: string): string }) => Promise<void>) => void} */
function onSubmit(id, act) {
  const form = /** @type {HTMLFormElement} */ (element(id));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const problem = element('sign-in-problem');
    problem.textContent = '';
    try {
      await act({ get: (name) => String(data.get(name) ?? '').trim() });
    } catch (error) {
      problem.textContent = messageOf(error);
    }
  });
}

/** @type {(id: string, act: () => Promise<void>) => void} */
function onClick(id, act) {
  element(id).addEventListener('click', () => act().catch((error) => say(messageOf(error))));
}

/** @param {string} text */
async function copy(text) {
  if (!navigator.clipboard) throw new Error('The browser allows this only over https, or on localhost.');
  await navigator.clipboard.writeText(text);
}
