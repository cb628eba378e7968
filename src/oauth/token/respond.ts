import type { ExchangeDoneFunction } from 'oauth2orize';
import type { TokenReply } from './issueTokens.ts';

/** Settles oauth2orize's callback: an unhandled rejection would leave the request hanging. */
export function respond(issued: ExchangeDoneFunction, reply: Promise<TokenReply>): void {
  reply
    .then(({ access_token, refresh_token, ...rest }) => issued(null, access_token, refresh_token, rest))
    .catch((error: unknown) => issued(error instanceof Error ? error : new Error('not an error', { cause: error })));
}
