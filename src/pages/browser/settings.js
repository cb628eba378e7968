/**
 * What the server tells the page's scripts; GraphiQL gets all but `altair`.
 *
 * @type {{
 *   issuer: string, endpoint: string, oauthPath: string, publicIntrospection: boolean,
 *   ruruPath: string, whyPath: string | null,
 *   examples: Record<string, import('./examples.js').Example[]>,
 *   scopes: { name: string, kind: import('./session.js').Kind, role: string, forbidden: string }[],
 *   demo: import('./principals.js').Principal[] | null,
 *   altair: { initialHeaders: { Authorization: string } },
 * }}
 */
export const settings = JSON.parse(document.getElementById('settings')?.textContent ?? '{}');

/**
 * What the service says of the first scope of a token, by precedence.
 *
 * @param {string} scope several, separated by spaces
 */
export const firstScope = (scope) => settings.scopes.find(({ name }) => scope.split(' ').includes(name));
