import { setTimeout as delay } from 'node:timers/promises';
import type { TestProcess } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { addressOf } from '../../support/workers.ts';
import { type Answered, type Clients, type Kind, kinds } from './clients.ts';

export type Outage = {
  begin(): Promise<void>;
  end(): Promise<void>;
  /** All that clients may be told meanwhile. */
  readonly answers: readonly string[];
  /** And how late at most. */
  readonly withinMs: number;
  /** How much later long queries may be answered, which wait for their turn first. */
  readonly turnMs: number;
  /** The lines of the log that are not about one request. */
  readonly log: readonly string[];
  /** So many requests at most may be described in warnings of their own. */
  readonly mostDescribed?: number;
  readonly forMs?: number;
};

/** What clients are told when the database is away. */
export const away = ['503 UNAVAILABLE', '503 temporarily_unavailable'];

/** What the log tells about it. */
export const awayAndBack = ['the database is not ready', 'the database is ready'];

/** Within which everybody is served again. */
const recoveryMs = 2000;

/** Beyond what the machine takes for answers that need no database. */
const toleranceMs = 500;

/** Asks for `/healthz` again and again. @returns what ends that, and returns the longest time that an answer took */
function watchSpeed(service: TestProcess): () => Promise<number> {
  const stopping = new AbortController();
  const watching = (async () => {
    let longest = 0;
    while (!stopping.signal.aborted) {
      const since = performance.now();
      await (await fetch(`${addressOf(service)}/healthz`)).text();
      longest = Math.max(longest, performance.now() - since);
      await delay(20);
    }
    return longest;
  })();
  return () => {
    stopping.abort();
    return watching;
  };
}

/** Makes an outage while clients go on asking. @returns a row of a table: how it went */
export async function measureOutage(
  { service, clients }: { readonly service: TestProcess; readonly clients: Clients },
  { begin, end, answers, withinMs, turnMs, log, mostDescribed = 0, forMs = 2000 }: Outage,
): Promise<Record<string, string | number>> {
  const successes = (kind: Kind, since: number) => successesOf(clients, kind, since);
  const saidBefore = service.output.stderr.length;
  const endWatching = watchSpeed(service);
  await begin();
  const begunAt = performance.now();
  let endsAt = Number.POSITIVE_INFINITY;
  const during = () => clients.answers.filter((answer) => answer.begunAt > begunAt && answer.begunAt < endsAt);
  await delay(forMs);
  await until(() => kinds.every((kind) => during().some((answer) => answer.kind === kind)));
  endsAt = performance.now();
  await end();
  const endedAt = performance.now();
  await until(() => kinds.every((kind) => successes(kind, endedAt + recoveryMs).length > 3));
  await until(() => [...clients.unanswered].every((begunAt) => begunAt > endedAt));

  const allowedMs = toleranceMs + 2 * (await endWatching());
  const failures = clients.answers.filter((answer) => answer.begunAt >= endedAt && answer.told !== '200');
  const lastFailure = Math.max(endedAt, ...failures.map((answer) => answer.begunAt));
  const recovered = Math.max(...kinds.map((kind) => successes(kind, lastFailure)[0]?.endedAt ?? 0));
  const lines = linesSince(service, saidBefore);
  // Whoever was waiting when it began is among them.
  const concerned = clients.answers.filter((answer) => answer.endedAt > begunAt && answer.begunAt < endsAt);
  const took = (...of: Kind[]) => concerned.flatMap((answer) => (of.includes(answer.kind) ? [tookMs(answer)] : []));
  const longest = Math.round(Math.max(...took('query', 'mutation', 'token')));
  const longestOfLong = Math.round(Math.max(...took('long query')));
  const row = {
    ...Object.fromEntries(kinds.map((kind) => [kind, summaryOf(concerned.filter((answer) => answer.kind === kind))])),
    'longest ms': longest,
    'of long queries': longestOfLong,
    'recovered ms': Math.round(recovered - endedAt),
    log: lines.general.length,
  };

  // What was answered later was answered by a database that was back.
  const meanwhile = during().filter((answer) => answer.endedAt < endsAt);
  expect(meanwhile.filter(({ told }) => !answers.includes(told))).toEqual([]);
  expect(longest).toBeLessThan(withinMs + allowedMs);
  expect(longestOfLong).toBeLessThan(turnMs + withinMs + allowedMs);
  expect(recovered - endedAt).toBeLessThan(recoveryMs + allowedMs);
  expect(lines.general).toEqual(log);
  expect(lines.ofRequests.slice(mostDescribed)).toEqual([]);
  return row;
}

/** Those that were sent since. */
export const successesOf = (clients: Clients, kind: Kind, since: number): Answered[] =>
  clients.answers.filter((answer) => answer.kind === kind && answer.begunAt >= since && answer.told === '200');

const tookMs = ({ begunAt, endedAt }: Answered) => endedAt - begunAt;

function summaryOf(answers: Answered[]): string {
  const counts = Object.entries(Object.groupBy(answers, (answer) => answer.told));
  return counts.map(([text, { length } = []]) => `${length}× ${text}`).join(', ');
}

/** What was logged: of general interest, and warnings about single requests, of which there should be none. */
function linesSince({ output }: TestProcess, position: number) {
  const lines = output.stderr
    .slice(position)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string; requestId?: string; error?: { message: string } });
  return {
    general: lines
      .filter(({ requestId, msg }) => requestId === undefined && !unrelated.test(msg))
      .map(({ msg }) => msg),
    ofRequests: lines
      .filter(({ level, requestId }) => requestId !== undefined && level >= 40)
      .map(({ msg, error }) => `${msg}: ${error?.message}`),
  };
}

const unrelated = /^(purged|could not purge) what has expired/;
