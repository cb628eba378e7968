import type { Request } from 'express';
import type { Config } from '../config.ts';

/** What opens the demo organization. */
export type DemoAccess = {
  /** Of its application `demo-backend`, with scope `app`. */
  readonly clientSecret: string;
  /** Of its user `ada@demo.test`. */
  readonly password: string;
};

/**
 * Whether a request may be handed the demo's credentials.
 * It comes from this machine, to a name of this machine, and through no proxy. A web site that has its own name resolve to this machine
 * sends its own name.
 */
export function isFromThisMachine({ publicUrl, host }: Config, request: Request): boolean {
  return (
    publicUrl === undefined &&
    isLoopback(host) &&
    isLoopback(request.socket.remoteAddress?.replace('::ffff:', '')) &&
    isLoopback(URL.parse(`http://${request.headers.host}`)?.hostname) &&
    !('forwarded' in request.headers || 'x-forwarded-for' in request.headers || 'via' in request.headers)
  );
}

const isLoopback = (host: string | undefined) =>
  host !== undefined && ['127.0.0.1', '::1', '[::1]', 'localhost'].includes(host);
