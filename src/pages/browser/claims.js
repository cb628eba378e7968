import { element } from './dom.js';
import { firstScope } from './settings.js';

/** @import { Session } from './session.js' */

/**
 * Shows the claims of the active token: what policies decide by, and when it ends.
 *
 * @param {Session | null} session
 */
export function showClaims(session) {
  const status = element('status');
  const minutes = session ? Math.floor((session.expiresAt - Date.now()) / 60_000) : 0;
  status.dataset.kind = session?.kind ?? 'none';
  status.dataset.ending = String(session !== null && minutes < 5);
  element('claims').replaceChildren(...(session ? claimsOf(session, minutes) : ['sign in to read data']));
}

/** @type {(session: Session, minutes: number) => Node[]} */
function claimsOf(session, minutes) {
  const { kind, scope, organization, clientId, name, email, expiresAt } = session;
  /** @type {[string, string | undefined][]} */
  const claims = [
    ['role', firstScope(scope)?.role],
    ['organization', organization],
    ['application', clientId],
    ['person', kind === 'user' ? (email ?? name) : 'none'],
    ['scope', scope],
    [minutes < 0 ? 'ended at' : 'ends at', `${timeOf(expiresAt)}${inWords(minutes)}`],
  ];
  return claims.flatMap(([term, value]) => (value === undefined ? [] : [pair(term, value)]));
}

/** @type {(term: string, value: string) => Node} */
function pair(term, value) {
  const group = document.createElement('div');
  const dt = document.createElement('dt');
  const dd = document.createElement('dd');
  dt.textContent = term;
  dd.textContent = value;
  group.append(dt, ' ', dd);
  return group;
}

const timeOf = (/** @type {number} */ time) => new Date(time).toTimeString().slice(0, 5);

/** @param {number} minutes */
function inWords(minutes) {
  if (minutes < 0) return '';
  if (minutes < 1) return ', within a minute';
  const hours = Math.floor(minutes / 60);
  return `, in ${hours > 0 ? `${hours} h ` : ''}${minutes % 60} min`;
}
