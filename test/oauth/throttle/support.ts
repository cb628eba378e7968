import { type Answer, expectRefusal, type OwnOauthTest, type Sent, send } from '../support.ts';

// 10 requests a minute of an address, 50 of a client; 4 failures a minute of an address, 2 of an account there.
export const limits = {
  THROTTLE_REQUESTS_PER_MINUTE: '10',
  THROTTLE_FAILURES_PER_MINUTE: '4',
  THROTTLE_FAILURES_PER_ACCOUNT: '2',
};

let addresses = 0;
/** One that no test has used. */
export const newAddress = () => `2001:db8:${(++addresses).toString(16)}::1`;

/** Sends a request as a proxy in front of the server passes it on. */
export const from = (address: string, server: { url: string }, path: string, sent: Sent) =>
  send(server, path, { ...sent, headers: { ...sent.headers, 'X-Forwarded-For': address } });

export async function times<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let time = 0; time < count; time++) results.push(await work());
  return results;
}

/** The answer is a refusal for so many seconds. */
export function expectTooMany(answer: Answer): number {
  expectRefusal(answer, 429, 'too_many_requests');
  const seconds = Number(answer.headers.get('Retry-After'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
  return seconds;
}

/** Lets the windows of all counts pass by so many seconds of PostgreSQL's clock; fewer than 0 set it back. */
export const pass = async ({ database }: OwnOauthTest, seconds: number): Promise<void> => {
  await database.owner.query('update oauth.throttles set expire = expire - 1000 * $1::bigint', [seconds]);
};
