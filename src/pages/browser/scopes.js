import { readSettings } from './settings.js';

/** @typedef {{ name: string, kind: import('./session.js').Kind, forbidden: string }} ScopeRow */

/** @type {{ scopes?: ScopeRow[] }} by precedence */
const { scopes = [] } = readSettings();

/**
 * What the service says of the first scope of a token.
 *
 * @param {string} scope several, separated by spaces
 */
export const firstScope = (scope) => scopes.find(({ name }) => scope.split(' ').includes(name));
