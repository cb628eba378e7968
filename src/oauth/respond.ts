import type { ExchangeDoneFunction } from 'oauth2orize';
import type { TokenReply } from './issueTokens.ts';

/**
 * Hands a reply, or what went wrong, to oauth2orize. Its callbacks know no promises: a rejection that nobody hands on
 * would leave the request hanging.
 */
export function respond(issued: ExchangeDoneFunction, reply: Promise<TokenReply>): void {
  reply
    .then(({ access_token, refresh_token, ...rest }) => issued(null, access_token, refresh_token, rest))
    .catch((error: unknown) => issued(error instanceof Error ? error : new Error('not an error', { cause: error })));
}
