import {
  PgDeleteSingleStep,
  PgInsertSingleStep,
  PgSelectStep,
  PgUnionAllStep,
  PgUpdateSingleStep,
} from 'postgraphile/@dataplan/pg';
import { type OperationPlan, Step } from 'postgraphile/grafast';

/**
 * Counts the statements of each operation plan, and times the planning.
 * A query with several statements runs them in one snapshot.
 */
export const StatementCountPlugin: GraphileConfig.Plugin = {
  name: 'StatementCountPlugin',

  grafast: {
    middleware: {
      establishOperationPlan(next, { context }) {
        const startedAt = performance.now();
        const plan = next();
        context.planning = { startedAt, durationMs: performance.now() - startedAt };
        context.statementCount = countStatements(plan);
        return plan;
      },
    },
  },
};

const counts = new WeakMap<OperationPlan, number>();

const stepClasses = [PgSelectStep, PgUnionAllStep, PgInsertSingleStep, PgUpdateSingleStep, PgDeleteSingleStep];

export function countStatements(plan: OperationPlan): number {
  const known = counts.get(plan);
  if (known !== undefined) return known;
  // A statement that became part of another is no longer among the steps.
  const steps = plan.getStepsByStepClass<Step>(Step);
  const count = steps.filter((step) => stepClasses.some((stepClass) => step instanceof stepClass)).length;
  counts.set(plan, count);
  return count;
}
