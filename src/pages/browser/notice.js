import { element } from './dom.js';
import { currentSession, endSession } from './session.js';
import { firstScope } from './settings.js';

/** @import { Session } from './session.js' */

/** @param {string} text the empty one hides the notice */
export function say(text) {
  const notice = element('notice');
  notice.textContent = text;
  notice.hidden = text === '';
}

/** @param {string[]} codes of the errors of an answer */
export function explain(codes) {
  if (codes.includes('UNAUTHENTICATED')) {
    endSession();
    say('No valid token: there is none, it has expired, or it was revoked. Sign in.');
  } else say(codes.includes('FORBIDDEN') ? whyForbidden(currentSession()) : '');
}

const whyForbidden = (/** @type {Session | null} */ session) =>
  `FORBIDDEN: ${firstScope(session?.scope ?? '')?.forbidden ?? 'this needs a token.'} Choose another token, or sign in.`;
