import type { RefusedError } from 'fair-queue';
import type { Log } from '../../log.ts';
import type { Clock } from '../../scheduling/clock.ts';

/**
 * Detects an overload: it begins when too many requests wait, and is over when no request was refused for a second.
 * The log has its beginning with the tenant of the first refused request, and its end with the number of refused requests.
 *
 * @returns what notes a refusal
 */
export function watchOverload(log: Log, clock: Clock, onChange: (isOverloaded: boolean) => void) {
  let refused = 0;
  let lastAt = 0;
  const waitForEnd = () => {
    clock.setTimeout(() => {
      if (clock.now() - lastAt < cooldownMs) return waitForEnd();
      log.info({ refused }, 'overload over');
      refused = 0;
      onChange(false);
    }, cooldownMs);
  };
  return (tenant: string | undefined, { reason }: RefusedError): void => {
    if (refused === 0 && reason !== 'full') return;
    lastAt = clock.now();
    if (refused++ > 0) return;
    log.warn({ tenant }, 'overload: shedding requests');
    waitForEnd();
    onChange(true);
  };
}

const cooldownMs = 1000;
