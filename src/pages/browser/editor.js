/**
 * @typedef {object} TextModel a text in Monaco, as far as it is used here
 * @property {{ path: string }} uri
 * @property {() => string} getValue
 * @property {() => unknown} getFullModelRange
 * @property {(before: null, edits: { range: unknown, text: string }[], cursor: () => null) => void} pushEditOperations
 */

/** Resolves with the query in the editor, as soon as there is an editor. */
export async function editedQuery() {
  let model = findModel('operation.graphql');
  while (!model) {
    await new Promise(requestAnimationFrame);
    model = findModel('operation.graphql');
  }
  return model.getValue();
}

/**
 * Replaces what is in the editor, in a way that its undo takes back; waits until there is an editor.
 *
 * @param {string} query
 * @param {string} variables
 */
export async function edit(query, variables) {
  await editedQuery();
  replace('operation.graphql', query);
  replace('variables.json', variables);
}

/**
 * @param {string} name
 * @param {string} text
 */
function replace(name, text) {
  const model = findModel(name);
  model?.pushEditOperations(null, [{ range: model.getFullModelRange(), text }], () => null);
}

/**
 * @param {string} name
 * @returns {TextModel | undefined}
 */
function findModel(name) {
  /** @type {TextModel[]} */
  const models = Reflect.get(globalThis, 'monaco')?.editor.getModels() ?? [];
  return models.findLast(({ uri }) => uri.path.endsWith(name));
}
