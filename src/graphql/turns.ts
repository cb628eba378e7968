import { DatabaseUnavailable } from '../database/unavailable.ts';

/**
 * Lets `most` at once do something, the others in the order in which they came. `take` resolves when it is one's turn, with
 * what to call at its end.
 *
 * @throws {DatabaseUnavailable} when `waitMs` have passed, or the signal was aborted, before it was
 */
export function createTurns(most: number, waitMs: number) {
  const waiting = new Set<() => void>();
  let taken = 0;

  const done = () => {
    const [next] = waiting;
    if (next) next();
    else taken--;
  };

  const wait = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const end = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
      const leave = () => {
        waiting.delete(begin);
        reject(new DatabaseUnavailable({ cause: end.reason }));
      };
      const begin = () => {
        waiting.delete(begin);
        end.removeEventListener('abort', leave);
        resolve();
      };
      waiting.add(begin);
      if (end.aborted) leave();
      else end.addEventListener('abort', leave);
    });

  return {
    async take(signal: AbortSignal): Promise<() => void> {
      if (taken < most) taken++;
      else await wait(signal);
      return done;
    },
  };
}
