import { readResults } from './events.js';
import { sendMutation } from './mutations.js';
import { explain } from './notice.js';
import { settings } from './settings.js';
import { tokenForRequest } from './tokens.js';

/** @typedef {{ data?: unknown, errors?: { message: string, extensions?: { code?: string } }[] }} Result */

/**
 * How GraphiQL sends its requests: with the current token, and without cookies.
 *
 * @param {{ query: string, operationName?: string, variables?: unknown }} parameters
 * @param {{ headers?: Record<string, string> }} [options] with the headers of the headers section
 * @returns {Promise<Result | AsyncIterableIterator<unknown>>} the results of a subscription one by one
 */
export async function fetcher(parameters, { headers = {} } = {}) {
  const { publicIntrospection } = settings;
  const isIntrospection = parameters.operationName === 'IntrospectionQuery';
  // What needs no token must not fail for one that has ended.
  const token = isIntrospection && publicIntrospection ? null : await tokenForRequest();
  if (isIntrospection && !publicIntrospection && !token && !Object.keys(headers).length) {
    throw new Error('The schema of this service can be read only with a token: sign in.');
  }
  /** @param {typeof parameters} sent */
  const post = (sent) => request(sent, token, headers);
  const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key');
  const isTraced = settings.whyPath && /^\s*mutation\b/m.test(parameters.query) && !hasKey;
  const result = await (isTraced ? sendMutation(parameters, post) : post(parameters));
  if (!isIntrospection && !(Symbol.asyncIterator in result))
    explain((result.errors ?? []).flatMap(({ extensions }) => extensions?.code ?? []));
  return result;
}

/**
 * @param {{ query: string, operationName?: string, variables?: unknown }} parameters
 * @param {string | null} token
 * @param {Record<string, string>} headers
 * @returns {Promise<Result & Partial<AsyncIterableIterator<unknown>>>}
 */
async function request(parameters, token, headers) {
  const closing = new AbortController();
  const response = await fetch(settings.endpoint, {
    method: 'POST',
    signal: closing.signal,
    credentials: 'omit',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json, text/event-stream',
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify(withoutLostName(parameters)),
  });
  if (response.headers.get('Content-Type')?.startsWith('text/event-stream')) return readResults(response, closing);
  return response.json().catch(() => ({
    errors: [{ message: `The service answered with status ${response.status} and no JSON.` }],
  }));
}

/**
 * GraphiQL finds operations a moment after each edit; until then it may name one that is gone.
 *
 * @template {{ query: string, operationName?: string }} Parameters
 * @param {Parameters} parameters
 */
function withoutLostName(parameters) {
  const { operationName, ...rest } = parameters;
  return operationName && rest.query.includes(operationName) ? parameters : rest;
}
