import { beginCodeFlow } from './codeFlow.js';
import { toCurl } from './curl.js';
import { createButton, element, messageOf } from './dom.js';
import { edit, edited } from './editor.js';
import { chooseSession, currentSession, endSession, readSessions, sessionChanges } from './session.js';
import { firstScope, settings } from './settings.js';
import { canRefresh, refresh, signInAsApplication, signOut, tokenForRequest } from './tokens.js';

/** @import { Session } from './session.js' */

/**
 * The panel above GraphiQL: the active token and how to get others, examples,
 * the request as a command.
 */
export function showPanel() {
  const dialog = /** @type {HTMLDialogElement} */ (element('sign-in-dialog'));
  show();
  setInterval(() => showStatus(currentSession()), 15_000);
  sessionChanges.addEventListener('change', () => {
    show();
    say('');
    dialog.close();
    void fitExample();
  });

  element('sign-in').addEventListener('click', () => dialog.showModal());
  element('close-dialog').addEventListener('click', () => dialog.close());
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
  element('token').addEventListener('change', ({ target }) => {
    chooseSession(/** @type {HTMLSelectElement} */ (target).value);
  });
  onSubmit('application-form', (form) => signInAsApplication(form.get('client_id'), form.get('client_secret')));
  onSubmit('user-form', (form) => beginCodeFlow(form.get('client_id')));
}

function show() {
  const session = currentSession();
  showStatus(session);
  element('token').replaceChildren(...tokenOptions());
  element('refresh').hidden = !session || !canRefresh(session);
  element('sign-out').hidden = session === null;
  element('sign-in').textContent = session ? 'Add a token' : 'Sign in';
  const buttons = fittingExamples().map((example) => createButton(example.label, () => edit(example)));
  element('examples').replaceChildren(...buttons);
}

/** Those of the active token; the first stands in the editor from the start. */
export const fittingExamples = () => settings.examples[currentSession()?.kind ?? 'none'] ?? [];

/** Another kind of token has other examples. What the person wrote stays. */
async function fitExample() {
  const { query } = await edited();
  const isIn = (/** @type {typeof fitting} */ list) => list.some((example) => example.query === query);
  const fitting = fittingExamples();
  const isReplaceable = query.trim() === '' || (isIn(Object.values(settings.examples).flat()) && !isIn(fitting));
  if (isReplaceable && fitting[0]) void edit(fitting[0]);
}

/** @param {string[]} codes of the errors of an answer */
export function explain(codes) {
  if (codes.includes('UNAUTHENTICATED')) {
    endSession();
    say('No valid token: there is none, it has expired, or it was revoked. Sign in.');
  } else say(codes.includes('FORBIDDEN') ? whyForbidden(currentSession()) : '');
}

const whyForbidden = (/** @type {Session | null} */ session) =>
  `FORBIDDEN: ${firstScope(session?.scope ?? '')?.forbidden ?? 'this needs a token.'} Add a token, or choose another.`;

/** @param {Session | null} session */
function showStatus(session) {
  const status = element('status');
  const minutes = session ? Math.floor((session.expiresAt - Date.now()) / 60_000) : 0;
  status.dataset.kind = session?.kind ?? 'none';
  status.dataset.ending = String(session !== null && minutes < 5);
  element('token-scopes').textContent = session ? `scope ${session.scope}` : 'sign in to read data';
  element('token-expiry').textContent = session ? inWords(minutes) : '';
  status.title = session ? `Client ${session.clientId}` : '';
}

function tokenOptions() {
  const { sessions, chosen } = readSessions();
  const options = Object.values(sessions).map(({ id, name }) => new Option(`as ${name}`, id, false, id === chosen));
  return [new Option('No token', '', false, !(chosen in sessions)), ...options];
}

/** @param {number} minutes */
function inWords(minutes) {
  if (minutes < 0) return 'expired';
  if (minutes < 1) return 'expires within a minute';
  const hours = Math.floor(minutes / 60);
  return `expires in ${hours > 0 ? `${hours} h ` : ''}${minutes % 60} min`;
}

/** @param {string} text */
export function say(text) {
  const notice = element('notice');
  notice.textContent = text;
  notice.hidden = text === '';
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
