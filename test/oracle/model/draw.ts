import { type Random, randomOf } from '../random.ts';
import { drawArguments, fieldNames } from './arguments.ts';
import { drawSelection } from './selections.ts';
import type { Step, StepField } from './steps.ts';

/** Draws the requests of a sequence, with about ten mutations. */
export function drawSequence(random: Random): Step[] {
  const steps: Step[] = [];
  for (let mutations = 0; mutations < 10; ) {
    const fields = drawFields(random, Math.min(10 - mutations, random.pick([1, 1, 1, 2, 3])));
    mutations += fields.length;
    steps.push({
      organization: random.chance(0.2) ? 1 : 0,
      caller: random.chance(0.9) ? 'app' : random.pick(['basic', 'person 0', 'person 1']),
      service: random.chance(0.6) ? 0 : 1,
      ...(random.chance(0.4) ? { key: `key-${random.below(4)}` } : {}),
      ...(random.chance(0.25) ? { isRepeated: true } : {}),
      fields,
    });
  }
  return steps;
}

function drawFields(random: Random, count: number): StepField[] {
  return Array.from({ length: count }, (_, index): StepField => {
    const field = random.pick(fieldNames);
    // Operations are compiled when they are repeated, so that most have one of few selections and all arguments as variables.
    const isCommon = random.chance(0.6);
    const selection = drawSelection(isCommon ? randomOf(random.below(3)) : random, field);
    return {
      ...(count > 1 ? { alias: `f${index}` } : {}),
      field,
      args: drawArguments(random, field),
      ...(!isCommon && random.chance(0.5) ? { isInline: true } : {}),
      selection,
    };
  });
}
