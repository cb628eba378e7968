import type { Request } from 'express';
import type { Config } from '../config.ts';

/** Credentials of the demo organization. */
export type DemoAccess = {
  /** The secret of its application `demo-backend`, with scope `app`. */
  readonly clientSecret: string;
  /** The password of its user `ada@demo.test`. */
  readonly password: string;
};

/**
 * Whether a request may get the demo's credentials.
 * It must come from this machine, to a name of this machine, and through no proxy. If a web site's name resolves to this machine, the
 * request has that name.
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
