/**
 * @typedef {'app' | 'user' | 'basic'} Kind
 * @typedef {object} Session a token and what is known about it
 * @property {string} id of the client and the person: with each there is one session
 * @property {string} name the person's or the application's
 * @property {Kind} kind
 * @property {string} scope
 * @property {string} clientId
 * @property {string} accessToken
 * @property {string} refreshToken
 * @property {number} expiresAt in milliseconds since 1970
 * @property {string} [email] the person's
 * @property {string} [organization] where the service says it
 * @property {string} [principal] the label of a person or application of the demo
 */

/** Tells that a token came, changed, went or was chosen. */
export const sessionChanges = new EventTarget();

/**
 * All sessions by their ids.
 * They are kept in this tab's `sessionStorage`, so that a reload keeps them and closing the tab ends them.
 *
 * @returns {{ sessions: Record<string, Session>, chosen: string }}
 */
export const readSessions = () => JSON.parse(sessionStorage.getItem(key) ?? '{"sessions":{},"chosen":""}');

/**
 * The session whose token requests carry.
 *
 * @returns {Session | null}
 */
export function currentSession() {
  const { sessions, chosen } = readSessions();
  return sessions[chosen] ?? null;
}

/** @param {Session} session in place of an earlier one with its id */
export function putSession(session, chosen = session.id) {
  store({ ...readSessions().sessions, [session.id]: session }, chosen);
}

/** @param {string} id that of no session for requests without a token */
export const chooseSession = (id) => store(readSessions().sessions, id);

/** Forgets the current session. No other takes its place by itself: it would act as another user. */
export function endSession() {
  const { sessions, chosen } = readSessions();
  delete sessions[chosen];
  store(sessions, '');
}

/** @type {(sessions: Record<string, Session>, chosen: string) => void} */
function store(sessions, chosen) {
  sessionStorage.setItem(key, JSON.stringify({ sessions, chosen }));
  sessionChanges.dispatchEvent(new Event('change'));
}

const key = 'graph-query-service:sessions';
