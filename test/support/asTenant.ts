import { createWaitBudget, withCaller } from '../../src/scheduling/caller.ts';

/** Does something on behalf of a request of this tenant, whose permit does not matter. */
export function asTenant<T>(tenant: string, work: () => T, waitBudgetMs = 2000): T {
  const permit = { pause: noop, resume: noop, resumeQueued: async () => undefined, end: noop, moveTo: noop };
  return withCaller({ path: [tenant], permit, waitBudget: createWaitBudget(waitBudgetMs), onIdentified: noop }, work);
}

const noop = () => undefined;
