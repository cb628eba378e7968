import { kindOfOperation, toRequest } from './request.js';

/**
 * A request as a command for a POSIX shell.
 * The token stands in a line of its own, where it is easily seen and replaced.
 *
 * @param {string} url
 * @param {string | null} token
 * @param {{ query: string, variables: string }} edited
 * @throws {SyntaxError} when the variables are no JSON
 */
export function toCurl(url, token, edited) {
  const isStream = kindOfOperation(edited.query) === 'subscription';
  return [
    ...(token ? [`TOKEN=${quote(token)}`] : []),
    `curl ${isStream ? '-sN' : '-s'} ${quote(url)} \\`,
    ...(token ? ['  -H "Authorization: Bearer $TOKEN" \\'] : []),
    "  -H 'Content-Type: application/json' \\",
    ...(isStream ? ["  -H 'Accept: text/event-stream' \\"] : []),
    `  -d ${quote(JSON.stringify(toRequest(edited)))}`,
  ].join('\n');
}

/** @param {string} text */
const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
