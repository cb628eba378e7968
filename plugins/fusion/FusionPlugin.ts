import type { OperationPlan as GrafastOperationPlan } from 'postgraphile/grafast';
import { fuseOperation } from './fuseOperation.ts';
import type { OperationPlan } from './internals.ts';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      FusionPlugin: true;
    }
  }
}

/** Writes the lists of queries as JSON in one go each, from rows as PostgreSQL sends them; README.md says how, and when not. */
export const createFusionPlugin = (mostBytes: number): GraphileConfig.Plugin => {
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
            fuseOperation(plan as unknown as OperationPlan, mostBytes);
          }
          return plan;
        },
      },
    },
  };
};
