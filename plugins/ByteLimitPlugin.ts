import type { OperationPlan as GrafastOperationPlan } from 'postgraphile/grafast';
import { spendOn } from './byteBudget.ts';
import { type OperationPlan, type OutputPlan, outputPlansOf } from './fusion/internals.ts';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      ByteLimitPlugin: true;
    }
  }
}

/**
 * Ends an answer as soon as more of it has been written than it may have bytes: the same few rows may be asked for again and again.
 * Lists that are fused count what they write themselves.
 */
export const createByteLimitPlugin = (most: number): GraphileConfig.Plugin => {
  const limited = new WeakSet<GrafastOperationPlan>();
  return {
    name: 'ByteLimitPlugin',
    description: 'Counts what of an answer is written',
    version: '1.0.0',

    grafast: {
      middleware: {
        establishOperationPlan(next) {
          const plan = next();
          if (!limited.has(plan)) {
            limited.add(plan);
            for (const output of outputPlansOf((plan as unknown as OperationPlan).rootOutputPlan)) limit(output, most);
          }
          return plan;
        },
      },
    },
  };
};

function limit(plan: OutputPlan, most: number): void {
  const { mode } = plan.type;
  // They pass on what their children have written, and add little.
  if (mode === 'array' || mode === 'polymorphic') return;
  const ownLength = mode === 'object' || mode === 'root' ? lengthOfNames(plan) : null;
  const { executeString } = plan;
  plan.executeString = function (root, ...rest) {
    const text = executeString.call(this, root, ...rest);
    spendOn(root, ownLength === null || text === 'null' ? text.length : ownLength, most);
    return text;
  };
}

/** Of an object in JSON everything but its values. */
function lengthOfNames({ keys, type: { typeName = '' } }: OutputPlan): number {
  const members = Object.entries(keys).map(
    ([name, { type }]) => `"${name}":`.length + (type === '__typename' ? `"${typeName}"`.length : 0),
  );
  return members.reduce((sum, length) => sum + length, 2 + Math.max(0, members.length - 1));
}
