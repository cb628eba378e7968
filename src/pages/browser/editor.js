/**
 * @typedef {object} TextModel a text in Monaco, as far as it is used here
 * @property {{ path: string }} uri
 * @property {() => string} getValue
 * @property {(text: string) => void} setValue
 * @property {() => unknown} getFullModelRange
 * @property {(position: object) => number} getOffsetAt
 * @property {(before: null, edits: { range: unknown, text: string }[], cursor: () => null) => void} pushEditOperations
 *
 * @typedef {object} Editor an editor of Monaco, as far as it is used here
 * @property {() => TextModel | null} getModel
 * @property {() => object | null} getPosition
 * @property {() => void} focus
 */

/** Monaco's API, once GraphiQL has loaded it. */
export const monaco = () => Reflect.get(globalThis, 'monaco');

/** Whether GraphiQL has its editors. Without the one that shows the answer it runs nothing, and says nothing about it. */
export const isReady = () =>
  ['operation.graphql', 'variables.json', 'response.json'].every((name) => findEditor(name) !== undefined);

/**
 * Resolves with what is in the editor, as soon as GraphiQL can run it.
 *
 * @returns {Promise<{ query: string, variables: string }>}
 */
export async function edited() {
  while (!isReady()) await new Promise(requestAnimationFrame);
  return { query: textOf('operation.graphql'), variables: textOf('variables.json') };
}

/**
 * Replaces what is in the editor, in a way that its undo takes back, and opens the pane of variables.
 *
 * @param {{ query: string, variables?: object }} example
 */
export async function edit({ query, variables }) {
  await edited();
  replace('operation.graphql', query);
  replace('variables.json', variables ? JSON.stringify(variables, null, 2) : '');
  /** @type {HTMLElement | null} */
  const tab = document.querySelector('.graphiql-editor-tools [data-name="variables"]');
  if (variables) tab?.click();
}

/** Runs what is in the editor. */
export const run = () => executeButton()?.click();

/** Ends what runs, such as a stream, and takes its result away. */
export function clearResult() {
  if (executeButton()?.ariaLabel?.startsWith('Stop')) run();
  findModel('response.json')?.setValue('');
}

const executeButton = () => /** @type {HTMLElement | null} */ (document.querySelector('.graphiql-execute-button'));

/** Opens an empty tab, which GraphiQL makes the active one. */
export function openTab() {
  /** @type {HTMLElement | null} */
  const button = document.querySelector('.graphiql-tab-add');
  button?.click();
}

export const focusEditor = () => findEditor('operation.graphql')?.focus();

/** The result, and where the cursor is in it. */
export function result() {
  const position = findEditor('response.json')?.getPosition();
  const model = findModel('response.json');
  return { text: model?.getValue() ?? '', offset: (position && model?.getOffsetAt(position)) ?? 0 };
}

/** @param {string} name */
const textOf = (name) => findModel(name)?.getValue() ?? '';

/** @type {(name: string, text: string) => void} */
function replace(name, text) {
  const model = findModel(name);
  model?.pushEditOperations(null, [{ range: model.getFullModelRange(), text }], () => null);
}

/** @type {(name: string) => TextModel | undefined} */
function findModel(name) {
  /** @type {TextModel[]} */
  const models = monaco()?.editor.getModels() ?? [];
  return models.findLast(({ uri }) => uri.path.endsWith(name));
}

/** @type {(name: string) => Editor | undefined} */
function findEditor(name) {
  /** @type {Editor[]} */
  const editors = monaco()?.editor.getEditors() ?? [];
  return editors.findLast((editor) => editor.getModel()?.uri.path.endsWith(name));
}
