import { beginCodeFlow } from './codeFlow.js';
import { toCurl } from './curl.js';
import { edit, edited } from './editor.js';
import { firstScope } from './scopes.js';
import { chooseSession, currentSession, endSession, readSessions, sessionChanges } from './session.js';

/** @import { Session } from './session.js' */
/** @typedef {{ label: string, query: string, variables?: Record<string, unknown> }} Example */

/**
 * The panel above GraphiQL: the active token and how to get others, examples,
 * the request as a command.
 *
 * @param {{ endpoint: string, oauthPath: string, examples: Record<string, Example[]> }} settings
 * @param {import('./tokens.js').Tokens} tokens
 */
export function showPanel({ endpoint, oauthPath, examples }, tokens) {
  const dialog = /** @type {HTMLDialogElement} */ (element('sign-in-dialog'));
  const examplesFor = (/** @type {Session | null} */ session) => examples[session?.kind ?? 'none'] ?? [];

  const show = () => {
    const session = currentSession();
    showStatus(session);
    element('token').replaceChildren(...tokenOptions());
    element('refresh').hidden = !session || !tokens.canRefresh(session);
    element('sign-out').hidden = session === null;
    element('sign-in').textContent = session ? 'Add a token' : 'Sign in';
    element('examples').replaceChildren(...examplesFor(session).map(toButton));
  };
  show();
  setInterval(() => showStatus(currentSession()), 15_000);

  sessionChanges.addEventListener('change', () => {
    show();
    say('');
    dialog.close();
    void fitExample();
  });

  /** Another kind of token has other examples. What the person wrote stays. */
  const fitExample = async () => {
    const { query } = await edited();
    const isIn = (/** @type {Example[]} */ list) => list.some((example) => example.query === query);
    const fitting = examplesFor(currentSession());
    const isReplaceable = query.trim() === '' || (isIn(Object.values(examples).flat()) && !isIn(fitting));
    if (isReplaceable && fitting[0]) void edit(fitting[0]);
  };

  element('sign-in').addEventListener('click', () => dialog.showModal());
  element('close-dialog').addEventListener('click', () => dialog.close());
  onClick('sign-out', () => tokens.signOut());
  onClick('refresh', async () => {
    const session = currentSession();
    if (session) await tokens.refresh(session);
  });
  onClick('copy', async () => {
    const token = await tokens.forRequest();
    await copy(toCurl(new URL(endpoint, location.href).href, token, await edited()));
    say(`Copied as a command for a shell${token ? `; its first line is the token of ${currentSession()?.name}` : ''}.`);
  });
  element('token').addEventListener('change', ({ target }) => {
    chooseSession(/** @type {HTMLSelectElement} */ (target).value);
  });
  onSubmit('application-form', (form) => tokens.signInAsApplication(form.get('client_id'), form.get('client_secret')));
  onSubmit('user-form', (form) => beginCodeFlow(oauthPath, form.get('client_id')));

  return {
    say,
    /**
     * What stands in the editor from the start.
     *
     * @returns {Example}
     */
    firstExample: () => examplesFor(currentSession())[0] ?? { label: '', query: '' },
    /** @param {string[]} codes */
    explain: (codes) => {
      if (codes.includes('UNAUTHENTICATED')) {
        endSession();
        say('No valid token: there is none, it has expired, or it was revoked. Sign in.');
      } else say(codes.includes('FORBIDDEN') ? whyForbidden(currentSession()) : '');
    },
  };
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

/** @param {Example} example */
function toButton(example) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = example.label;
  button.addEventListener('click', () => edit(example));
  return button;
}

/** @param {string} text */
function say(text) {
  const notice = element('notice');
  notice.textContent = text;
  notice.hidden = text === '';
}

/**
 * @param {string} id
 * @param {(form: { get(name: string): string }) => Promise<void>} act
 */
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
      problem.textContent = error instanceof Error ? error.message : String(error);
    }
  });
}

/**
 * @param {string} id
 * @param {() => Promise<void>} act
 */
function onClick(id, act) {
  element(id).addEventListener('click', () =>
    act().catch((/** @type {unknown} */ error) => say(error instanceof Error ? error.message : String(error))),
  );
}

/** @param {string} text */
async function copy(text) {
  if (!navigator.clipboard) throw new Error('The browser allows this only over https, or on localhost.');
  await navigator.clipboard.writeText(text);
}

/** @param {string} id */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element "${id}".`);
  return found;
}
