import { createFairQueue, type Limits, type Permit, type RefusedError } from '../src/index.ts';
import { VirtualClock } from './simulation/VirtualClock.ts';

/** A queue on a virtual clock, which records the pieces of work that it begins and refuses. */
export function createPieces(limits: Limits) {
  const clock = new VirtualClock();
  const queue = createFairQueue(limits, clock);
  /** The pieces that began, and the reasons of those that were refused, in this order. */
  const begun: string[] = [];
  const refused: string[] = [];
  const permits = new Map<string, Permit>();

  /** Named by its flow, such as `tenant/flow`, and a number. */
  function submit(name: string, piece: { costMs?: number; bytes?: number; waitMs?: number } = {}): void {
    const permit = queue.submit({ path: pathOf(name), costMs: 1, ...piece }, outcomeOf(name));
    permits.set(name, permit);
  }

  const outcomeOf = (name: string) => ({
    begin: () => void begun.push(name),
    refuse: ({ reason }: RefusedError) => void refused.push(`${name}: ${reason}`),
  });

  /** Ends the pieces in turn: each must have begun by then, and takes so long. */
  function endAll(tookMs: (name: string) => number = () => 1): void {
    for (let ended = 0; ended < begun.length; ended++) {
      clock.compute(tookMs(begun[ended] ?? ''));
      permits.get(begun[ended] ?? '')?.release();
    }
  }

  return { clock, queue, begun, refused, permits, submit, outcomeOf, endAll };
}

const pathOf = (name: string) => (name.split(' ')[0] ?? '').split('/');

export function fail(): void {
  throw new Error('This must not be called');
}
