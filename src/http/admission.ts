import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { asideCount } from './aside.ts';
import { refuseOverload } from './refuseOverload.ts';

export type AdmissionSettings = {
  /** How many requests may wait for their turn, in the order in which they came; more are an overload. */
  readonly mostWaiting: number;
  /** How long one waits at most, in milliseconds. */
  readonly waitMs: number;
  /** Whether a further request would have to wait for a connection to the database. */
  readonly isDatabaseBusy: () => boolean;
  /** Hears when an overload begins, and when it ends how many were refused. */
  readonly onOverload: (overload: { readonly refused: number | null }) => void;
};

/**
 * Lets 32 requests in at once; the next ones wait here, where they cost next to nothing.
 *
 * An overload begins when too many wait, and ends when nobody had to be refused for a second: were it over with the last who waits,
 * the next crowd would have to wait for the next one to begin. Meanwhile requests are let in only as far as that helps: while the
 * thread has idle moments and connections are free, since more at once would keep each other waiting, and the answers to those who
 * are refused, too. The newest goes first: it will not have waited long, and its client is still there. Whoever has waited for
 * 10 ms is refused. So those who are served are served about as fast as ever, and the others know soon.
 *
 * Clients who ask again at once would keep an overload up that is none any more. So every 5 s it is tried whether they can be served
 * if they wait: nobody is refused until more than 64 do.
 */
export function createAdmission({ mostWaiting, waitMs, isDatabaseBusy, onOverload }: AdmissionSettings) {
  const waiting: Waiting[] = [];
  const threadLimit = createThreadLimit();
  /** How many are in that keep the thread or a connection busy, or wait elsewhere for their turn. */
  let busy = 0;
  /** In this overload; null while there is none. */
  let refused: number | null = null;
  let calmAt = 0;
  /** Whether it is being tried, and when it will be next. */
  let isEasing = false;
  let easeAt = 0;
  let ticking: NodeJS.Timeout | undefined;

  const begin = ({ request, response, answer }: Waiting) => {
    let isBusy = true;
    busy++;
    const pause = () => {
      if (!isBusy) return;
      isBusy = false;
      busy--;
      // Not from within what is answering.
      process.nextTick(admit);
    };
    const resume = () => {
      if (isBusy || response.writableEnded || response.closed) return;
      isBusy = true;
      busy++;
    };
    // Whoever is slow to send a body, or to take an answer, keeps nobody from being let in.
    response.once('prefinish', pause).once('close', pause);
    answer();
    setImmediate(() => {
      // A body that comes together with its headers is there by now.
      if (request.complete) return;
      pause();
      request.once('end', resume);
    });
  };

  const isStrict = () => refused !== null && !isEasing;
  const present = () => busy - asideCount();
  const isRoom = () => (refused === null ? present() < mostAtOnce : present() < threadLimit.get() && !isDatabaseBusy());

  const admit = () => {
    while (waiting.length > 0 && isRoom()) {
      const next = isStrict() ? waiting.pop() : waiting.shift();
      // Whoever has left meanwhile needs no answer.
      if (next && !next.response.closed) begin(next);
    }
    if (waiting.length === 0) rest();
  };

  const rest = () => {
    if (refused !== null) return;
    clearInterval(ticking);
    ticking = undefined;
  };

  const endOverload = (refusals: number) => {
    refused = null;
    isEasing = false;
    onOverload({ refused: refusals });
  };

  const beStrict = () => {
    isEasing = false;
    easeAt = performance.now() + easeEveryMs;
  };

  const tick = () => {
    if (refused !== null) threadLimit.adjust(present());
    admit();
    const now = performance.now();
    if (isStrict() && now > easeAt) isEasing = true;
    const before = now - (isStrict() ? overloadWaitMs : waitMs);
    // The oldest are at the front, whoever goes first.
    while (waiting[0] && waiting[0].since < before) refuse(waiting.shift());
    if (refused !== null && now > calmAt) endOverload(refused);
    if (waiting.length === 0) rest();
  };

  const refuse = (late: Waiting | undefined) => {
    if (refused !== null) {
      refused++;
      calmAt = performance.now() + calmMs;
    }
    if (late && !late.response.closed) refuseOverload(late.request, late.response);
  };

  /** Calls `answer` when it is the request's turn, or refuses it with 503. */
  return (request: IncomingMessage, response: ServerResponse, answer: () => void): void => {
    waiting.push({ request, response, answer, since: performance.now() });
    admit();
    if (waiting.length === 0) return;
    ticking ??= setInterval(tick, tickMs);
    if (refused === null && waiting.length > mostWaiting) {
      refused = 0;
      calmAt = performance.now() + calmMs;
      threadLimit.begin();
      beStrict();
      onOverload({ refused: null });
    }
    if (isEasing && waiting.length > mostWaitingInEase) beStrict();
    if (waiting.length > mostWaitingInOverload) refuse(waiting.shift());
  };
}

type Waiting = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: () => void;
  readonly since: number;
};

/** More would only be in each other's way; fewer would leave time unused where the database is far away. */
const mostAtOnce = 32;
const overloadWaitMs = 10;
const calmMs = 1000;
const easeEveryMs = 5000;
const mostWaitingInEase = 64;
/** Each holds a socket whose request is unread. */
const mostWaitingInOverload = 2000;
const tickMs = 5;

/** How many requests at once keep the thread busy without waiting for it: fewer while it never rests, more while it does. */
function createThreadLimit() {
  let limit = 0;
  let before: EventLoopUtilization;
  return {
    get: () => limit,
    begin() {
      limit = 2;
      before = performance.eventLoopUtilization();
    },
    adjust(atOnce: number) {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      // With one, the others are told while it waits for the database.
      if (utilization > 0.95) limit = Math.max(1, Math.min(limit, atOnce) - 1);
      else if (utilization < 0.9) limit = Math.min(mostAtOnce, limit + 1);
    },
  };
}
