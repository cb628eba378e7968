/**
 * The body of a GraphQL request (GraphQL over HTTP) for what is in the editor.
 *
 * @param {{ query: string, variables: string }} edited
 * @throws {SyntaxError} when the variables are no JSON
 */
export function toRequest({ query, variables }) {
  // The server has to know which one is meant; the first is as good as any other.
  const [first, ...others] = query.matchAll(/^\s*(?:query|mutation|subscription)\s+(\w+)/gm);
  return {
    query,
    ...(variables.trim() && { variables: JSON.parse(variables) }),
    ...(others.length > 0 && { operationName: first?.[1] }),
  };
}

/**
 * What the first operation of a document does.
 *
 * @param {string} query
 * @returns {'query' | 'mutation' | 'subscription'}
 */
export const kindOfOperation = (query) =>
  /** @type {any} */ (/^\s*(query|mutation|subscription)\b/m.exec(query)?.[1] ?? 'query');

/**
 * Sends JSON, with a token and without cookies.
 *
 * @param {string} path
 * @param {string | null} token
 * @param {object} body
 */
export async function send(path, token, body) {
  const response = await fetch(path, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'Content-Type': 'application/json', ...(token !== null && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  return response.json().catch(() => ({
    errors: [{ message: `The service answered with status ${response.status} and no JSON.` }],
  }));
}
