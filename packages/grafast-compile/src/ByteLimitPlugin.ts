import { spendOn } from './byteBudget.ts';
import { createPlanPlugin } from './createPlanPlugin.ts';
import { internalsOf, type OutputPlan } from './internals.ts';
import { outputPlansOf } from './plans.ts';

/**
 * Limits the bytes of an answer while it is written: few rows may be selected again and again.
 * Compiled operations count what they write themselves.
 */
export const createByteLimitPlugin = (max: number): GraphileConfig.Plugin =>
  createPlanPlugin('ByteLimitPlugin', (plan) => {
    for (const output of outputPlansOf(internalsOf(plan).rootOutputPlan)) limit(output, max);
  });

function limit(plan: OutputPlan, max: number): void {
  const { mode } = plan.type;
  // They pass on what their children have written, and add little.
  if (mode === 'array' || mode === 'polymorphic') return;
  const ownLength = mode === 'object' || mode === 'root' ? lengthOfNames(plan) : null;
  const { executeString } = plan;
  plan.executeString = function (root, ...rest) {
    const text = executeString.call(this, root, ...rest);
    spendOn(root, ownLength === null || text === 'null' ? text.length : ownLength, max);
    return text;
  };
}

/** The length of an object in JSON without its values. */
function lengthOfNames({ keys, type: { typeName = '' } }: OutputPlan): number {
  const members = Object.entries(keys).map(
    ([name, { type }]) => `"${name}":`.length + (type === '__typename' ? `"${typeName}"`.length : 0),
  );
  return members.reduce((sum, length) => sum + length, 2 + Math.max(0, members.length - 1));
}
