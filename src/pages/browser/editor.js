/**
 * @typedef {object} TextModel a text in Monaco, as far as it is used here
 * @property {{ path: string }} uri
 * @property {() => string} getValue
 * @property {() => unknown} getFullModelRange
 * @property {(before: null, edits: { range: unknown, text: string }[], cursor: () => null) => void} pushEditOperations
 */

/**
 * Resolves with what is in the editor, as soon as there is an editor.
 *
 * @returns {Promise<{ query: string, variables: string }>}
 */
export async function edited() {
  while (!findModel('operation.graphql')) await new Promise(requestAnimationFrame);
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
  const models = Reflect.get(globalThis, 'monaco')?.editor.getModels() ?? [];
  return models.findLast(({ uri }) => uri.path.endsWith(name));
}
