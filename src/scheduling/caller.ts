import { AsyncLocalStorage } from 'node:async_hooks';
import { RefusedError } from 'fair-queue';
import type { Permit } from './admission.ts';
import { type Clock, systemClock } from './clock.ts';

/** The request context: the flow, permit and wait budget of the request for which work runs. */
type Caller = {
  /** Path of its flow: the organization of a verified token or client, or the address. */
  path: readonly string[];
  /** The request's share of the main thread. */
  readonly permit: Permit;
  readonly waitBudget: WaitBudget;
  /** Called once the organization is known. */
  readonly onIdentified: (organizationId: string) => void;
};

/** Wait budget, a deadline for waits only, in milliseconds. Concurrent waits spend it once. */
type WaitBudget = { leftMs: number; waits: number; waitsSince: number };

export const createWaitBudget = (leftMs: number): WaitBudget => ({ leftMs, waits: 0, waitsSince: 0 });

const callers = new AsyncLocalStorage<Caller>();

/** Runs `work`, and everything that it awaits, in the context of a caller. */
export const withCaller = <T>(caller: Caller, work: () => T): T => callers.run(caller, work);

/** Runs long work of a request, such as a stream, in which each wait has its own wait budget. */
export function withBudgetPerWait<T>(waitMs: number, work: () => T): T {
  const caller = callers.getStore();
  if (!caller) return work();
  const waitBudget = Object.defineProperty(createWaitBudget(waitMs), 'leftMs', { get: () => waitMs, set() {} });
  return callers.run({ ...caller, waitBudget }, work);
}

/** Runs work of the service itself that a request happens to start. */
export const withoutCaller = <T>(work: () => T): T => callers.exit(work);

/** The flow of the current request; work outside any request has a flow of its own. */
export const callerPath = (): readonly string[] => callers.getStore()?.path ?? ['service'];

/** Charges the request to an organization from now on, since its token or client is verified. */
export function identifyCaller(organizationId: string): void {
  const caller = callers.getStore();
  if (!caller || caller.path[0] === organizationId) return;
  caller.path = [organizationId];
  caller.permit.moveTo(caller.path);
  caller.onIdentified(organizationId);
}

/** Queues the request again if its permit was paused while its body was read. */
export const resumeQueued = async (): Promise<void> => callers.getStore()?.permit.resumeQueued();

/** Releases the request's permit while `work` runs elsewhere, such as argon2 or the offload thread. */
export async function withoutPermit<T>(work: () => Promise<T>): Promise<T> {
  const permit = callers.getStore()?.permit;
  permit?.pause();
  try {
    return await work();
  } finally {
    permit?.resume();
  }
}

/** Deadline exceeded: the request has waited for too long. */
export class WaitBudgetSpentError extends Error {
  override name = 'WaitBudgetSpentError';
}

/**
 * Awaits a promise within the caller's wait budget, which all its waits share; unlimited without one.
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

/** For `catch`: throws what a queue has refused as the caller's error, and every other error as it is. */
export const refusedAs =
  (toError: (cause: RefusedError) => Error) =>
  (error: unknown): never => {
    throw error instanceof RefusedError ? toError(error) : error;
  };
