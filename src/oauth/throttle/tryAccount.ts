import { createFairQueue } from 'fair-queue';
import { networkOf } from '../../http/admission.ts';
import { withoutPermit } from '../../scheduling/caller.ts';
import { systemClock } from '../../scheduling/clock.ts';
import { refusedAs } from '../../scheduling/refusedAs.ts';
import { temporarilyUnavailable } from '../errors.ts';
import { lifetimes } from '../lifetimes.ts';
import type { Count, Counter } from './counter.ts';

/**
 * Makes a try to sign in count against its account, unless it succeeds.
 * Few failures are allowed from one address, and several times that many from all addresses together. An address from which the account
 * has signed in before has only its own limit, so that strangers cannot lock an account. Tries at one account from one address run one
 * by one, so that unfinished ones do not use up the rest.
 *
 * The `account` is the user's id, or another key when there is no such user. The `attempt` resolves to null when it failed. When too many
 * have failed, `refuse` throws before anything is verified, so that there is no timing side channel.
 *
 * @param maxFailures from one address, in 15 minutes
 * @param refuse throws when the count exceeds its limit
 */
export function createTryAccount(
  counter: (name: string, limit: number, windowSeconds: number) => Counter,
  maxFailures: number,
  refuse: (count: Count) => void,
) {
  const failuresHere = counter('failures_of_account_and_address', maxFailures, 15 * 60);
  const failuresAnywhere = counter('failures_of_account', 5 * maxFailures, 15 * 60);
  const signedIn = counter('sign_ins_of_account_and_address', 1, lifetimes.knownAddressSeconds);
  const tries = createFairQueue(
    { slots: Number.POSITIVE_INFINITY, slotsPerTenant: 2, maxWaiting: 1000, maxWaitingPerTenant: 32, maxIdleFlows: 0 },
    systemClock,
  );

  const attemptCounted = async <T>(account: string, here: string, attempt: () => Promise<T | null>) => {
    const known = await signedIn.read(here);
    // A try is counted before it is made; otherwise many at once would each find a try left. Tries beyond the limit of one address do not
    // count against the account.
    refuse(await failuresHere.count(here));
    const takeBack = async () => {
      await Promise.all([failuresHere.takeBack(here), known.tooMany || failuresAnywhere.takeBack(account)]);
    };
    if (!known.tooMany) refuse(await failuresAnywhere.count(account));
    try {
      const result = await attempt();
      if (result === null) return null;
      await takeBack();
      if (known.retryAfterSeconds < lifetimes.knownAddressSeconds / 2) await signedIn.set(here);
      return result;
    } catch (error) {
      // No password was tried.
      await takeBack();
      throw error;
    }
  };

  return async <T>(account: string, address: string, attempt: () => Promise<T | null>): Promise<T | null> => {
    const here = `${account} ${networkOf(address)}`;
    const begun = Promise.withResolvers<void>();
    // They compete for nothing with those at other accounts, so that the cost does not matter.
    const trying = tries
      .run({ path: [here], costMs: 1 }, () => {
        begun.resolve();
        return attemptCounted(account, here, attempt);
      })
      .catch(refusedAs(() => temporarilyUnavailable('too many tries at one account wait')));
    await withoutPermit(() => Promise.race([begun.promise, trying]));
    return trying;
  };
}
