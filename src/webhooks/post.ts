import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { lookUpPublic, NotPublicError, problemOfUrl } from './addresses.ts';

export type Attempt = {
  /** Null when the receiver did not answer. */
  readonly statusCode: number | null;
  /** Words for the client, without the receiver's answer; null when the receiver accepted the delivery. */
  readonly error: string | null;
};

export type PostOptions = {
  /** Whether http and addresses that are not public are allowed. */
  readonly allowsPrivate: boolean;
  /** Ends the attempt when the process stops. */
  readonly signal: AbortSignal;
  readonly deadlineMs?: number;
  /** Resolves names, only to public addresses unless others are allowed. */
  readonly lookup?: LookupFunction | undefined;
};

/**
 * Posts JSON to a URL that a client has given: to public addresses only, within 10 s (SSRF).
 * The address is checked when it is connected to, after DNS, so that the name cannot change in between. A redirect is not followed, no
 * proxy is used, and only the status of the answer is read. Each post has its own connection.
 *
 * @throws when `signal` ended it: then it is unknown whether the receiver has accepted it
 */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  { allowsPrivate, signal, deadlineMs = 10_000, lookup = allowsPrivate ? undefined : lookUpPublic }: PostOptions,
): Promise<Attempt> {
  const problem = problemOfUrl(url, allowsPrivate);
  if (problem) return failed(problem);
  const deadline = AbortSignal.timeout(deadlineMs);
  try {
    const statusCode = await statusOf(url, headers, body, AbortSignal.any([signal, deadline]), lookup);
    return { statusCode, error: problemOfStatus(statusCode) };
  } catch (error) {
    if (signal.aborted) throw error;
    if (deadline.aborted) return failed(`The receiver did not answer within ${deadlineMs / 1000} s.`);
    return failed(problemOfPost(error));
  }
}

const failed = (error: string): Attempt => ({ statusCode: null, error });

const notPublic = 'The URL does not lead to a public address.';

function statusOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
  lookup: LookupFunction | undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const onResponse = (response: IncomingMessage) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    };
    const length = Buffer.byteLength(body);
    const options = {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': length,
        'user-agent': 'graph-query-service',
        ...headers,
      },
      signal,
      ...(lookup && { lookup }),
    };
    // Its own agent, since the global one may use a proxy (NODE_USE_ENV_PROXY), behind which no address is checked.
    const request = url.toLowerCase().startsWith('https:')
      ? requestHttps(url, { ...options, agent: new HttpsAgent() }, onResponse)
      : requestHttp(url, { ...options, agent: new HttpAgent() }, onResponse);
    request.on('error', reject).end(body);
  });
}

function problemOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const answered = `The receiver answered with status ${status}`;
  return status >= 300 && status < 400 ? `${answered}; redirects are not followed.` : `${answered}.`;
}

/** Without the error's message, which names addresses. */
function problemOfPost(error: unknown): string {
  if (error instanceof NotPublicError) return notPublic;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|ETIMEOUT|EBADNAME|EREFUSED)/.test(code))
    return 'The host name has no address.';
  if (/CERT|TLS|SSL|SELF_SIGNED|ALTNAME|SIGNATURE/.test(code)) return 'The certificate of the receiver is not valid.';
  return 'The connection to the receiver failed.';
}
