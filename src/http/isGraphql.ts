import type { IncomingMessage } from 'node:http';

/** As express knows a path: in any case, with or without a slash at its end, after a scheme and host if a proxy sends them. */
export function isGraphql({ url = '' }: IncomingMessage): boolean {
  return /^(?:https?:\/\/[^/?]*)?\/graphql\/?(?:\?|$)/i.test(url);
}
