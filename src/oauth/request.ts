import type { Claims } from '../token/settings.ts';
import type { Authorization, Person } from './authorize/sessions.ts';
import type { Client } from './client.ts';

declare global {
  namespace Express {
    /** The fields that the OAuth server's handlers set on a request. */
    interface Request {
      /** Set by `authenticateBearer`. */
      oauthClaims?: Claims;
      /** Set by `authenticateClient`. */
      oauthClient?: Client;
      /** Set by `readAuthorization`. */
      oauthAuthorization?: Authorization;
      /** Set by `createSessions`: the person signed in to the application's organization; null without. */
      oauthPerson?: Person | null;
    }
  }
}
