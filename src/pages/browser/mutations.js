import { send } from './request.js';
import { settings } from './settings.js';

/**
 * @typedef {{ data?: unknown }} Answer
 * @typedef {{ query: string, operationName?: string, variables?: unknown }} Parameters
 */

/** The answers to mutations with the ids of their objects, by what is shown of them. The newest is the last. @type {Map<string, Answer>} */
const answers = new Map();

/** As many as a person may still look at. */
const maxAnswers = 20;

/**
 * Sends a mutation so that *Why?* can ask about its answer later, since it cannot be sent again for the ids of its objects.
 * The document selects them too. They are kept here, and are not in the result. A document that is refused with them is sent without.
 *
 * @template {Answer} Result
 * @template {Parameters} Sent
 * @param {Sent} parameters
 * @param {(parameters: Sent) => Promise<Result>} post
 * @returns {Promise<Result>}
 */
export async function sendMutation(parameters, post) {
  const { query, variables } = parameters;
  const traced = await send(`${settings.whyPath}/document`, null, {
    query,
    ...(variables !== undefined && { variables }),
  });
  if (traced.error) return post(parameters);
  const answer = await post({ ...parameters, query: traced.query });
  // Refused before anything was done.
  if (!('data' in answer)) return post(parameters);
  const shown = without(traced.idKey, answer);
  keep(JSON.stringify(shown), answer);
  return shown;
}

/** @type {(shown: string, answer: Answer) => void} */
function keep(shown, answer) {
  answers.delete(shown);
  answers.set(shown, answer);
  const [oldest = ''] = answers.keys();
  if (answers.size > maxAnswers) answers.delete(oldest);
}

/**
 * The answer of which this is shown, with the ids of its objects; what is shown itself, if it is not known any more.
 *
 * @param {Answer} shown
 * @returns {Answer}
 */
export const answerOf = (shown) => answers.get(JSON.stringify(shown)) ?? shown;

/**
 * @template Value
 * @param {string} key
 * @param {Value} value
 * @returns {Value} a copy in which no object has the key
 */
const without = (key, value) => JSON.parse(JSON.stringify(value, (name, inner) => (name === key ? undefined : inner)));
