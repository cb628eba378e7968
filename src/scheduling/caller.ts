import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from '../clock.ts';
import type { Permit } from './admission.ts';

/** On whose behalf something is done. */
export type Caller = {
  /** Of the flow in which its requests wait: the organization of a verified token or client, or what an address has. */
  path: readonly string[];
  /** What the request holds of the main thread. */
  readonly permit: Permit;
  readonly waitBudget: WaitBudget;
  /** Hears when the organization is known, which it is from then on. */
  readonly onIdentified: (organizationId: string) => void;
};

/** How long a request may still wait for connections, in milliseconds. Waits at the same time spend it once. */
export type WaitBudget = { leftMs: number; waits: number; waitsSince: number };

export const createWaitBudget = (leftMs: number): WaitBudget => ({ leftMs, waits: 0, waitsSince: 0 });

const callers = new AsyncLocalStorage<Caller>();

/** Does something on behalf of a caller, in all that it awaits. */
export const withCaller = <T>(caller: Caller, work: () => T): T => callers.run(caller, work);

/** The flow of whatever is done now; one of its own is for what no request asked for. */
export const callerPath = (): readonly string[] => callers.getStore()?.path ?? ['service'];

/** Charges the request to an organization from now on: its token or client is verified. */
export function identifyCaller(organizationId: string): void {
  const caller = callers.getStore();
  if (!caller || caller.path[0] === organizationId) return;
  caller.path = [organizationId];
  caller.permit.moveTo(caller.path);
  caller.onIdentified(organizationId);
}

/** Waits for the request's turn again when its permit was paused while its body was read. */
export const resumeInTurn = async (): Promise<void> => callers.getStore()?.permit.resumeInTurn();

/** Does what needs neither this thread nor its connections, such as waiting for another thread, without the request's permit. */
export async function withoutPermit<T>(work: () => Promise<T>): Promise<T> {
  const permit = callers.getStore()?.permit;
  permit?.pause();
  try {
    return await work();
  } finally {
    permit?.resume();
  }
}

/** The request has waited for too long. */
export class WaitBudgetSpentError extends Error {
  override name = 'WaitBudgetSpentError';
}

/**
 * Waits for what takes from the caller's wait budget, which is one for all waits of a request; as long as it takes without a caller.
 *
 * @throws {WaitBudgetSpentError}
 */
export async function withinWaitBudget<T>(awaited: Promise<T>, clock: Clock = systemClock): Promise<T> {
  const budget = callers.getStore()?.waitBudget;
  if (!budget) return awaited;
  if (budget.waits++ === 0) budget.waitsSince = clock.now();
  const spentMs = () => clock.now() - budget.waitsSince;
  const { promise: end, reject } = Promise.withResolvers<never>();
  const clearTimer = clock.setTimeout(() => reject(new WaitBudgetSpentError()), Math.max(0, budget.leftMs - spentMs()));
  try {
    return await Promise.race([awaited, end]);
  } finally {
    clearTimer();
    if (--budget.waits === 0) budget.leftMs -= spentMs();
  }
}
