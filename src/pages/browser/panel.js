import { beginCodeFlow } from './codeFlow.js';
import { edit, editedQuery } from './editor.js';
import { firstScope } from './scopes.js';
import { currentSession, sessionChanges, setSession } from './session.js';

/** @import { Session } from './session.js' */
/** @typedef {{ label: string, query: string, variables?: Record<string, unknown> }} Example */

/**
 * The panel above GraphiQL: which token is active, how to get another one, and example queries for it.
 *
 * @param {{ oauthPath: string, examples: Record<string, Example[]> }} settings
 * @param {import('./tokens.js').Tokens} tokens
 */
export function showPanel({ oauthPath, examples }, tokens) {
  const dialog = /** @type {HTMLDialogElement} */ (element('sign-in-dialog'));
  const examplesFor = (/** @type {Session | null} */ session) => examples[session?.kind ?? 'none'] ?? [];

  const show = () => {
    const session = currentSession();
    showStatus(session);
    element('refresh').hidden = !tokens.canRefresh;
    element('sign-out').hidden = session === null;
    element('sign-in').textContent = session ? 'Change' : 'Sign in';
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
    const edited = await editedQuery();
    const isIn = (/** @type {Example[]} */ list) => list.some(({ query }) => query === edited);
    const fitting = examplesFor(currentSession());
    const isReplaceable = edited.trim() === '' || (isIn(Object.values(examples).flat()) && !isIn(fitting));
    if (isReplaceable && fitting[0]) put(fitting[0]);
  };

  element('sign-in').addEventListener('click', () => dialog.showModal());
  element('close-dialog').addEventListener('click', () => dialog.close());
  element('sign-out').addEventListener('click', () => attempt(() => tokens.signOut()));
  element('refresh').addEventListener('click', () => attempt(() => tokens.refresh()));
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
      const code = codes.find((known) => known in explanations);
      if (code === 'UNAUTHENTICATED') setSession(null);
      say(code === undefined ? '' : (explanations[code]?.(currentSession()) ?? ''));
    },
  };
}

/**
 * Why a request failed, and what helps.
 *
 * @type {Record<string, (session: Session | null) => string>}
 */
const explanations = {
  UNAUTHENTICATED: () => 'No valid token: there is none, it has expired, or it was revoked. Sign in.',
  FORBIDDEN: (session) =>
    `FORBIDDEN: ${firstScope(session?.scope ?? '')?.forbidden ?? 'this needs a token.'} Choose Change to get another token.`,
};

/** @param {Session | null} session */
function showStatus(session) {
  const status = element('status');
  const minutes = session ? Math.floor((session.expiresAt - Date.now()) / 60_000) : 0;
  status.dataset.kind = session?.kind ?? 'none';
  status.dataset.ending = String(session !== null && minutes < 5);
  element('token-kind').textContent = session ? kinds[session.kind] : 'No token';
  element('token-scopes').textContent = session ? `scope ${session.scope}` : 'sign in to read data';
  element('token-expiry').textContent = session ? inWords(minutes) : '';
  status.title = session ? `Client ${session.clientId}` : '';
}

const kinds = { app: 'Application token', user: 'User token', basic: 'Basic token' };

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
  button.addEventListener('click', () => put(example));
  return button;
}

/** @param {Example} example */
function put({ query, variables }) {
  void edit(query, variables ? JSON.stringify(variables, null, 2) : '');
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

/** @param {() => Promise<void>} act */
async function attempt(act) {
  try {
    await act();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} id */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element "${id}".`);
  return found;
}
