/**
 * A request as a command for a POSIX shell.
 * The token stands in a line of its own, where it is easily seen and replaced.
 *
 * @param {string} url
 * @param {string | null} token
 * @param {{ query: string, variables: string }} edited
 * @throws {SyntaxError} when the variables are no JSON
 */
export function toCurl(url, token, { query, variables }) {
  // The server has to know which one is meant; the first is as good as any other.
  const [first, ...others] = query.matchAll(/^\s*(?:query|mutation|subscription)\s+(\w+)/gm);
  const isStream = /^\s*(query|mutation|subscription)\b/m.exec(query)?.[1] === 'subscription';
  const body = {
    query,
    ...(variables.trim() && { variables: JSON.parse(variables) }),
    ...(others.length > 0 && { operationName: first?.[1] }),
  };
  return [
    ...(token ? [`TOKEN=${quote(token)}`] : []),
    `curl ${isStream ? '-sN' : '-s'} ${quote(url)} \\`,
    ...(token ? ['  -H "Authorization: Bearer $TOKEN" \\'] : []),
    "  -H 'Content-Type: application/json' \\",
    ...(isStream ? ["  -H 'Accept: text/event-stream' \\"] : []),
    `  -d ${quote(JSON.stringify(body))}`,
  ].join('\n');
}

/** @param {string} text */
const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
