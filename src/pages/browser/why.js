import { compared } from './compare.js';
import { element } from './dom.js';
import { edited, result } from './editor.js';
import { pathAt, valueAt } from './json.js';
import { answerOf } from './mutations.js';
import { kindOfOperation, send, toRequest } from './request.js';
import { currentSession } from './session.js';
import { settings } from './settings.js';
import { tokenForRequest } from './tokens.js';

/**
 * @import { Side } from './compare.js'
 * @import { Step } from './json.js'
 * @import { Session } from './session.js'
 *
 * @typedef {{ id: string, field?: string }} Question a row by its id, or what a field of it leads to
 * @typedef {{ error?: string, sentences?: string[], parts?: { policy: string, part: string, holds: boolean }[] }} Reason
 * @typedef {{ query: string, idKey: string, fields: Record<string, string[]>, asked: Record<string, string> }} Traced
 */

/**
 * Tells which policy shows the object at the cursor, or hides the null, to the active token; in a comparison, to both.
 *
 * @param {(id: string, act: () => Promise<void>) => void} onClick
 */
export function offerReasons(onClick) {
  if (!settings.whyPath) return;
  onClick('why', async () => {
    const session = currentSession();
    if (!session) throw new Error('Sign in first: it is asked why the active token sees what it sees.');
    await explain({ session, ...result() }, [session]);
  });
  onClick('why-here', async () => {
    const { side, sessions } = compared() ?? {};
    if (side && sessions) await explain(side, sessions);
  });
}

/** @type {(side: Side, sessions: Session[]) => Promise<void>} */
async function explain(side, sessions) {
  const question = await questionAt(side).catch((error) => ({ problem: error.message }));
  const reasons =
    'problem' in question
      ? [textOf('p', question.problem)]
      : await Promise.all(sessions.map(async (session) => render(session, await ask(session, question))));
  element('reasons').replaceChildren(...reasons);
  const dialog = /** @type {HTMLDialogElement} */ (element('why-dialog'));
  // A second click may have come before the first was answered.
  if (!dialog.open) dialog.showModal();
}

/** @type {(session: Session, question: Question) => Promise<Reason>} */
const ask = async (session, question) => send(String(settings.whyPath), await tokenForRequest(session), question);

/**
 * Finds the row that the cursor is on.
 *
 * @param {Side} side
 * @returns {Promise<Question>}
 * @throws {Error} when there is none, with what to do about it
 */
async function questionAt({ session, text, offset }) {
  if (text.trim() === '')
    throw new Error('Run a query first; then put the cursor on an object or a null of its result.');
  const [root, ...path] = pathAt(text, offset);
  const last = path.at(-1);
  if (root !== 'data' || last === undefined)
    throw new Error('Put the cursor on an object or a null below "data", in the result.');
  const shown = JSON.parse(text);
  const { traced, answer } = await trace(session, shown);
  if (valueAt(shown.data, path) !== null) return { id: idAround(answer.data, path, traced) };

  const asked = path.length === 1 && Object.hasOwn(traced.asked, last) ? traced.asked[last] : undefined;
  if (asked !== undefined) return { id: asked };
  const reason = shown.errors?.find((/** @type {any} */ error) => error.path?.join() === path.join())?.message;
  if (path.length === 1 || reason)
    throw new Error(reason ?? 'This null is no row: an error beside "data" may say why.');
  const id = idIn(valueAt(answer.data, path.slice(0, -1)), traced);
  if (id === null) throw new Error('The object with this null has no id: ask about the object around it.');
  return { id, field: traced.fields[last]?.[0] ?? String(last) };
}

/**
 * The answer with the ids of its objects. A query is sent again for them. A mutation was sent with them, since it would be done twice.
 *
 * @type {(session: Session, shown: any) => Promise<{ traced: Traced, answer: any }>}
 */
async function trace(session, shown) {
  const request = toRequest(await edited());
  const traced = await send(`${settings.whyPath}/document`, null, request);
  if (traced.error) throw new Error(traced.error);
  if (kindOfOperation(request.query) !== 'query') return { traced, answer: answerOf(shown) };
  const answer = await send(settings.endpoint, await tokenForRequest(session), { ...request, query: traced.query });
  if (!answer.data) throw new Error(answer.errors?.[0]?.message ?? 'The query has no answer any more: run it again.');
  return { traced, answer };
}

/** @type {(data: unknown, path: Step[], traced: Traced) => string} */
function idAround(data, path, traced) {
  for (let length = path.length; length > 0; length--) {
    const id = idIn(valueAt(data, path.slice(0, length)), traced);
    if (id !== null) return id;
  }
  throw new Error('No object with an id is here: put the cursor on one.');
}

/** @type {(value: unknown, traced: Traced) => string | null} */
function idIn(value, { idKey }) {
  const { [idKey]: traced, id } = Object(value);
  return [traced, id].find((one) => typeof one === 'string') ?? null;
}

/** @type {(session: Session, reason: Reason) => HTMLElement} */
function render({ principal, name }, { error, sentences = [], parts = [] }) {
  const section = document.createElement('section');
  section.append(
    textOf('h2', principal ?? name),
    ...[error ?? [], sentences].flat().map((sentence) => textOf('p', sentence)),
  );
  if (parts.length > 0) {
    const details = document.createElement('details');
    const table = document.createElement('table');
    const row = (/** @type {'th' | 'td'} */ tag, /** @type {string[]} */ cells) => {
      const tr = table.insertRow();
      tr.append(...cells.map((cell) => textOf(tag, cell)));
    };
    row('th', ['Policy', 'Part', 'For this row']);
    for (const { policy, part, holds } of parts) row('td', [policy, part, holds ? 'holds' : 'does not hold']);
    details.append(textOf('summary', 'Each part of each policy'), table);
    section.append(details);
  }
  return section;
}

/** @type {(tag: string, text: string) => HTMLElement} */
function textOf(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}
