import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../clock.ts';
import { asideCount } from './aside.ts';
import { createOverload, mostBeforeCrowd, type Overload } from './overload.ts';
import { refuseOverload } from './refuseOverload.ts';

export type AdmissionSettings = {
  /** How many are let in at once: more would only be in each other's way. */
  readonly mostAtOnce: number;
  /** How many requests may wait for their turn; more are an overload. */
  readonly mostWaiting: number;
  /** How long one waits here at most, in milliseconds. */
  readonly waitMs: number;
  /** Whether a further request would have to wait for a connection to the database. */
  readonly isDatabaseBusy: () => boolean;
  /** Hears when an overload begins, and when it ends how many were refused. */
  readonly onOverload: (overload: { readonly refused: number | null }) => void;
};

/**
 * Lets a number of requests in at once; the next ones wait here, where they cost next to nothing.
 *
 * An overload begins when too many wait, and ends when nobody had to be refused for a second: were it over with the last who waits,
 * the next crowd would have to wait for the next one to begin. Meanwhile requests are let in only as far as that helps: while the
 * thread has idle moments and connections are free, since more at once would keep each other waiting, and the answers to those who
 * are refused, too. It is the newest's turn, once all that has come is read, and if that did not take long: it will not have waited,
 * here or in its socket, and its client is still there. Whoever has waited for 5 ms is refused, and while the thread never rests, all but
 * the newest at once: a newer one will come. So those who are served are served about as fast as ever, and the others know soon. How it
 * begins, and how it is tried whether it can end, see `Phase`.
 */
export function createAdmission(
  { mostAtOnce, mostWaiting, waitMs, isDatabaseBusy, onOverload }: AdmissionSettings,
  clock: Clock = systemClock,
) {
  const waiting: Waiting[] = [];
  /** How many are in that keep the thread or a connection busy, or wait elsewhere for their turn. */
  let busy = 0;
  let begunInTurn = 0;
  let overload: Overload | null = null;
  let stopTicking: (() => void) | undefined;
  let isTurning = false;

  const begin = ({ request, response, answer, since }: Waiting) => {
    countInTurn();
    let isBusy = true;
    busy++;
    const pause = () => {
      if (!isBusy) return;
      isBusy = false;
      busy--;
      // Not from within what is answering.
      process.nextTick(admitInTurn);
    };
    const resume = () => {
      if (isBusy || response.writableEnded || response.closed) return;
      isBusy = true;
      busy++;
    };
    // Whoever is slow to send a body, or to take an answer, keeps nobody from being let in.
    response.once('prefinish', pause).once('close', pause);
    answer(clock.now() - since);
    setImmediate(() => {
      // A body that comes together with its headers is there by now.
      if (request.complete) return;
      pause();
      request.once('end', resume);
    });
  };

  const countInTurn = () => {
    if (begunInTurn++ > 0) return;
    setImmediate(() => {
      begunInTurn = 0;
      admitInTurn();
    });
  };

  const present = () => busy - asideCount();
  const room = () => Math.max(0, (overload?.most ?? mostAtOnce) - present());
  const isNewestFirst = () => overload?.phase === 'young' || overload?.phase === 'strict';
  // One at a turn makes the next one short, so that the next newest is new.
  const mayBegin = () =>
    begunInTurn < (isNewestFirst() ? 1 : mostInTurn) && room() > 0 && !(overload && isDatabaseBusy());

  const admit = () => {
    while (waiting.length > 0 && mayBegin()) {
      const next = isNewestFirst() ? waiting.pop() : waiting.shift();
      // Whoever has left meanwhile needs no answer.
      if (next && !next.response.closed) begin(next);
    }
    rest();
  };

  const refuseLate = () => {
    const now = clock.now();
    const isStrict = overload?.phase === 'strict';
    const boundMs = isStrict ? overloadWaitMs : waitMs;
    const mostKept = isStrict && overload?.most === 1 ? 1 : Number.POSITIVE_INFINITY;
    // The oldest are at the front, whoever goes first.
    while (waiting[0] && (waiting.length > mostKept || now - waiting[0].since > boundMs)) refuse(waiting.shift());
  };

  /** In an overload at the end of the event loop's turn, when all that has come is read. */
  const admitInTurn = () => {
    if (!overload) return admit();
    if (isTurning) return;
    isTurning = true;
    setImmediate(() => {
      isTurning = false;
      // After a long turn nobody who waits is new; who comes next is, or else the next tick's turn will be short.
      if (!isNewestFirst() || overload?.wasShortTurn()) admit();
      refuseLate();
    });
  };

  const rest = () => {
    if (overload || waiting.length > 0) return;
    stopTicking?.();
    stopTicking = undefined;
  };

  const tick = () => {
    overload?.adjust(present());
    admitInTurn();
    if (!overload) refuseLate();
    if (overload?.isOver()) {
      if (overload.isCertain) onOverload({ refused: overload.refused });
      overload = null;
    }
    rest();
  };

  const refuse = (late: Waiting | undefined) => {
    overload?.count();
    if (late && !late.response.closed) refuseOverload(late.request, late.response);
  };

  /** Calls `answer` when it is the request's turn, with how long it has waited for that, or refuses it with 503. */
  return (request: IncomingMessage, response: ServerResponse, answer: (waitedMs: number) => void): void => {
    waiting.push({ request, response, answer, since: clock.now() });
    admitInTurn();
    if (waiting.length === 0) return;
    stopTicking ??= clock.setInterval(tick, tickMs);
    // Whoever waits for the next turn only is none of them.
    const crowd = waiting.length - room();
    if (crowd > Math.min(mostBeforeCrowd, mostWaiting)) overload ??= createOverload(mostAtOnce, mostWaiting, clock);
    if (overload?.see(crowd)) onOverload({ refused: null });
    if (waiting.length > mostWaitingInOverload) refuse(waiting.shift());
  };
}

type Waiting = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: (waitedMs: number) => void;
  readonly since: number;
};

/** Were all of a crowd begun in one turn of the event loop, it would have grown long before anybody saw it. */
const mostInTurn = 4;
const overloadWaitMs = 5;
/** Each holds a socket whose request is unread. */
const mostWaitingInOverload = 2000;
const tickMs = 5;
