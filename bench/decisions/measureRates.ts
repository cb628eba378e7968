import { type Outcome, sendAtRate } from '../overload/sendAtRate.ts';
import { atMost, percentile } from '../support/measured.ts';
import type { Make } from './requests.ts';

const decisionsPerSecond = 1000;
const seconds = 10;
const connections = 40;

/**
 * Sends a thousand decisions a second to this port: how many are answered, and after how long.
 *
 * @param perRequest how many decisions are in a request
 */
export async function measureRate(what: string, port: number, make: Make, perRequest: number) {
  const perSecond = decisionsPerSecond / perRequest;
  // Made before, so that the service has the machine.
  const requests = Array.from({ length: 500 }, make);
  await sendAtRate({ port, requests, perSecond: perSecond / 4, seconds: 4, connections });
  const outcomes = await sendAtRate({ port, requests, perSecond, seconds, connections });
  return { what, outcomes, perRequest, ...latenciesOf(outcomes) };
}

function latenciesOf(outcomes: readonly Outcome[]) {
  const latencies = outcomes.map(({ latencyMs }) => latencyMs);
  const answered = outcomes.filter(({ status }) => status === 200).length;
  return { answered, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

type Rate = Awaited<ReturnType<typeof measureRate>>;

export const toRow = ({ what, outcomes, answered, perRequest, p50, p99 }: Rate) => ({
  'a thousand decisions a second': what,
  'decisions a request': perRequest,
  answered: `${answered} of ${outcomes.length}`,
  'p50, ms': p50.toFixed(1),
  'p99, ms': p99.toFixed(1),
});

/** All answered, and 99 of 100 within the bound. */
export const boundOf = ({ what, outcomes, answered, p99 }: Rate, maxMs: number) => [
  atMost(`${what}, unanswered`, outcomes.length - answered, 0, 'requests'),
  atMost(`${what}, p99`, p99, maxMs, 'ms'),
];
