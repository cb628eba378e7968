import type { OperationPlan } from 'postgraphile/grafast';
import { hasKnownPlans } from './schemaState.ts';

/** A plugin that changes each plan once, before it runs, if plans have the shape that was tested. Grafast caches plans. */
export function createPlanPlugin(name: string, change: (plan: OperationPlan) => void): GraphileConfig.Plugin {
  const changed = new WeakSet<OperationPlan>();
  return {
    name,

    grafast: {
      middleware: {
        establishOperationPlan(next, { schema }) {
          const plan = next();
          if (!changed.has(plan) && hasKnownPlans(schema)) change(plan);
          changed.add(plan);
          return plan;
        },
      },
    },
  };
}
