import type { OperationPlan as GrafastOperationPlan } from 'postgraphile/grafast';
import { fuseOperation } from './fuseOperation.ts';
import type { OperationPlan } from './internals.ts';

/** Loop fusion: writes each list of a query as JSON in one pass over its rows; see README.md. */
export const createFusionPlugin = (maxBytes: number): GraphileConfig.Plugin => {
  const fused = new WeakSet<GrafastOperationPlan>();
  return {
    name: 'FusionPlugin',
    description: 'Writes lists of rows as JSON without the steps between',
    version: '1.0.0',

    grafast: {
      middleware: {
        establishOperationPlan(next) {
          const plan = next();
          if (!fused.has(plan)) {
            fused.add(plan);
            fuseOperation(plan as unknown as OperationPlan, maxBytes);
          }
          return plan;
        },
      },
    },
  };
};
