import { createButton, element } from './dom.js';
import { clearResult, edit, edited, focusEditor, openTab, run } from './editor.js';
import { say } from './notice.js';
import { currentSession } from './session.js';
import { settings } from './settings.js';

/** @typedef {{ label: string, task: string, query: string, variables?: object }} Example */

/** Those of the active token; the first stands in the editor from the start. */
export const fittingExamples = () => settings.examples[currentSession()?.kind ?? 'none'] ?? [];

/** Shows the examples of the active token, by task. */
export function showExamples() {
  const tasks = new Map(fittingExamples().map(({ task }) => [task, /** @type {Example[]} */ ([])]));
  for (const example of fittingExamples()) tasks.get(example.task)?.push(example);
  element('examples').replaceChildren(...Array.from(tasks, ([task, examples]) => groupOf(task, examples)));
}

/** @type {(task: string, examples: Example[]) => HTMLElement} */
function groupOf(task, examples) {
  const group = document.createElement('div');
  const title = document.createElement('span');
  title.textContent = task;
  group.role = 'group';
  group.ariaLabel = task;
  group.append(title, ...examples.map((example) => createButton(example.label, () => choose(example))));
  return group;
}

/**
 * Puts an example into the editor and runs it, so that no result of another request stays.
 * Outside the demo a mutation waits for the person.
 *
 * @param {Example} example
 */
async function choose(example) {
  await show(example);
  if (settings.demo || example.task !== 'Change') run();
  else say('This changes data: read it, then run it.');
  focusEditor();
}

/**
 * Puts an operation into the editor. What a person wrote stays in its tab.
 *
 * @param {{ query: string, variables?: object }} operation
 */
export async function show(operation) {
  const { query } = await edited();
  if (query.trim() !== '' && !isExample(query)) openTab();
  await edit(operation);
  clearResult();
}

/** Another kind of token has other examples. What the person wrote stays. */
export async function fitExample() {
  const { query } = await edited();
  const fitting = fittingExamples();
  if (fitting.some((example) => example.query === query)) return;
  if ((query.trim() === '' || isExample(query)) && fitting[0]) {
    await edit(fitting[0]);
    clearResult();
  }
}

/** @param {string} text */
const isExample = (text) =>
  Object.values(settings.examples)
    .flat()
    .some(({ query }) => query === text);
