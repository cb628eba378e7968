import { until } from '../support/until.ts';
import { type Answer, expectRefusal, type OauthTest } from './support.ts';

/** The canonical log line of the request. */
export async function lineOf(
  { logs }: Pick<OauthTest, 'logs'>,
  { headers }: { headers: Headers },
): Promise<Record<string, unknown>> {
  const id = headers.get('X-Request-Id');
  const find = () =>
    logs.map((line) => JSON.parse(line)).find(({ requestId, msg }) => msg === 'request' && requestId === id);
  // It is written when the response has closed.
  await until(() => find() !== undefined);
  return find();
}

export type Refusal = { status: number; error: string; description: string; reason: string };

/** The client reads the description and nothing more; the log has the reason. */
export async function expectReason(
  oauth: Pick<OauthTest, 'logs'>,
  answer: Answer,
  { status, error, description, reason }: Refusal,
): Promise<void> {
  expectRefusal(answer, status, error);
  expect(answer.body.error_description).toBe(description);
  const line = await lineOf(oauth, answer);
  expect({ status: line.status, code: line.code, reason: line.reason }).toEqual({ status, code: error, reason });
}
