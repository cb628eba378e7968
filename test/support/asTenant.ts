import { createWaitBudget, withCaller } from '../../src/scheduling/caller.ts';

/** Does something on behalf of a request of this tenant, whose permit does not matter. */
export function asTenant<T>(tenant: string, work: () => T, waitBudgetMs = 2000): T {
  const permit = { pause: noop, resume: noop, move: noop };
  const waitBudget = createWaitBudget(waitBudgetMs);
  const caller = { path: [tenant], permit, waitBudget, onIdentified: noop, requeue: async () => undefined };
  return withCaller(caller, work);
}

const noop = () => undefined;
