import { element } from './dom.js';
import { edited, monaco } from './editor.js';
import { principalOptions, sessionOf } from './principals.js';
import { kindOfOperation, send, toRequest } from './request.js';
import { currentSession, readSessions, sessionChanges } from './session.js';
import { settings } from './settings.js';
import { tokenForRequest } from './tokens.js';

/** @import { Session } from './session.js' */

/**
 * @typedef {object} Side an answer of a comparison
 * @property {Session} session whose it is
 * @property {string} text
 * @property {number} offset where the cursor is in it
 */

/** Counts the comparisons that were asked for, of which the last is shown. */
let asked = 0;

/** The editor of the open comparison, and whose answers it shows. @type {{ editor: any, sessions: [Session, Session], side: 0 | 1 } | null} */
let comparison = null;

/**
 * Offers to run the query in the editor as another caller, too, beside the active token's answer.
 *
 * @param {(error: unknown) => void} onProblem
 */
export function offerComparison(onProblem) {
  const select = /** @type {HTMLSelectElement} */ (element('run-as'));
  const dialog = /** @type {HTMLDialogElement} */ (element('comparison-dialog'));
  showOthers(select);
  sessionChanges.addEventListener('change', () => showOthers(select));
  select.addEventListener('change', async () => {
    const { value } = select;
    select.value = '';
    try {
      await compare(value, dialog);
    } catch (error) {
      onProblem(error);
    }
  });
  // The editor would keep the key for itself.
  dialog.addEventListener(
    'keydown',
    (event) => {
      if (event.key === 'Escape') dialog.close();
    },
    { capture: true },
  );
  dialog.addEventListener('close', () => {
    const models = comparison?.editor.getModel();
    comparison?.editor.dispose();
    models?.original.dispose();
    models?.modified.dispose();
    comparison = null;
    element('run-as').focus();
  });
}

/** @param {HTMLSelectElement} select */
function showOthers(select) {
  const { sessions, chosen } = readSessions();
  const others = Object.values(sessions).filter(({ id }) => id !== chosen);
  const title = new Option('Run as …', '');
  title.disabled = true;
  select.replaceChildren(
    title,
    ...others.map(({ id, name, principal }) => new Option(principal ?? name, id)),
    ...principalOptions(),
  );
  select.value = '';
  select.hidden = select.options.length === 1 || !(chosen in sessions);
}

/** @type {(value: string, dialog: HTMLDialogElement) => Promise<void>} */
async function compare(value, dialog) {
  const turn = ++asked;
  const text = await edited();
  if (kindOfOperation(text.query) !== 'query')
    throw new Error('Only a query is run as another caller: this would do something twice.');
  const request = toRequest(text);
  const [first, second] = [currentSession(), await sessionOf(value)];
  if (!first || !second) throw new Error('Sign in first: two tokens are compared.');
  const [one, other] = await Promise.all(
    [first, second].map(async (session) => send(settings.endpoint, await tokenForRequest(session), request)),
  );
  if (turn !== asked) return;
  element('comparison-title').textContent = `${labelOf(first)}, and beside it ${labelOf(second)}`;
  element('comparison-summary').textContent = 'Comparing …';
  dialog.showModal();
  show(
    [first, second],
    [one, other].map((answer) => JSON.stringify(answer, null, 2)),
  );
}

const labelOf = (/** @type {Session} */ { principal, name, scope }) => `${principal ?? name} (scope ${scope})`;

/** @type {(sessions: [Session, Session], texts: string[]) => void} */
function show(sessions, [one = '', other = '']) {
  const { editor, Uri } = monaco();
  const model = (/** @type {string} */ text, /** @type {string} */ name) =>
    editor.createModel(text, 'json', Uri.parse(`comparison:/${name}.json`));
  const diff = editor.createDiffEditor(element('comparison'), {
    readOnly: true,
    fontFamily: getComputedStyle(element('comparison')).fontFamily,
    automaticLayout: true,
    // Tab leads on, to the button below.
    tabFocusMode: true,
    // It would throw what it was about to do when the editor is closed.
    occurrencesHighlight: 'off',
    renderSideBySide: true,
    // A narrow window shows one answer, and would cut off most values.
    diffWordWrap: matchMedia('(max-width: 640px)').matches ? 'on' : 'off',
    lineNumbersMinChars: 3,
    // Its lines have no background here.
    stickyScroll: { enabled: false },
    renderOverviewRuler: false,
    scrollBeyondLastLine: false,
    minimap: { enabled: false },
    originalAriaLabel: labelOf(sessions[0]),
    modifiedAriaLabel: labelOf(sessions[1]),
  });
  const shown = { editor: diff, sessions, side: /** @type {0 | 1} */ (0) };
  comparison = shown;
  diff.setModel({ original: model(one, 'first'), modified: model(other, 'second') });
  diff.onDidUpdateDiff(() => {
    const changes = diff.getLineChanges() ?? [];
    element('comparison-summary').textContent = summarize(changes.length, sessions);
    if (changes[0]) shown.side = goTo(diff, changes[0]);
  });
  diff.getOriginalEditor().onDidFocusEditorText(() => {
    shown.side = 0;
  });
  diff.getModifiedEditor().onDidFocusEditorText(() => {
    shown.side = 1;
  });
  diff.getOriginalEditor().focus();
}

/**
 * Puts the cursor on a difference: in the first answer, unless only the second has it.
 *
 * @type {(diff: any, change: { originalStartLineNumber: number, originalEndLineNumber: number, modifiedStartLineNumber: number }) => 0 | 1} the side
 */
function goTo(diff, { originalStartLineNumber, originalEndLineNumber, modifiedStartLineNumber }) {
  const isInFirst = originalEndLineNumber > 0;
  const editor = isInFirst ? diff.getOriginalEditor() : diff.getModifiedEditor();
  const lineNumber = isInFirst ? originalStartLineNumber : modifiedStartLineNumber;
  editor.setPosition({ lineNumber, column: 1 });
  editor.revealLineInCenterIfOutsideViewport(lineNumber);
  editor.focus();
  return isInFirst ? 0 : 1;
}

/** @type {(count: number, sessions: [Session, Session]) => string} */
const summarize = (count, [first, second]) =>
  count === 0
    ? 'The answers are the same.'
    : `${count} ${count === 1 ? 'difference' : 'differences'}: − is only in the answer to ${first.principal ?? first.name}, + only in that to ${second.principal ?? second.name}.`;

/**
 * What the cursor is on in the open comparison, and the sessions compared.
 *
 * @returns {{ side: Side, sessions: Session[] } | null}
 */
export function compared() {
  if (!comparison) return null;
  const { editor, sessions, side } = comparison;
  const at = side === 0 ? editor.getOriginalEditor() : editor.getModifiedEditor();
  const model = at.getModel();
  return {
    side: { session: sessions[side], text: model.getValue(), offset: model.getOffsetAt(at.getPosition()) },
    sessions,
  };
}
