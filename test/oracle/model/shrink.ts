import type { Step } from './steps.ts';

/** The least sequence that still fails: first without steps, then without fields, then without arguments. */
export async function shrink(
  steps: readonly Step[],
  fails: (steps: readonly Step[]) => Promise<boolean>,
): Promise<readonly Step[]> {
  let least = steps;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const smaller of smallerThan(least)) {
      if (await fails(smaller)) {
        least = smaller;
        isSmaller = true;
        break;
      }
    }
  }
  return least;
}

function* smallerThan(steps: readonly Step[]): Generator<readonly Step[]> {
  const put = (index: number, step: Step) => steps.map((other, place) => (place === index ? step : other));
  // From the end, since what comes after the fault goes at once.
  for (let index = steps.length - 1; index >= 0; index -= 1) yield steps.filter((_, place) => place !== index);
  for (const [index, step] of steps.entries()) {
    if (step.fields.length > 1)
      for (const field of step.fields)
        yield put(index, { ...step, fields: step.fields.filter((other) => other !== field) });
    const { key: _, ...withoutKey } = step;
    if (step.key !== undefined) yield put(index, withoutKey);
    const { isRepeated: __, ...once } = step;
    if (step.isRepeated) yield put(index, once);
    for (const [place, field] of step.fields.entries())
      for (const args of smallerArguments(field.args))
        yield put(index, {
          ...step,
          fields: step.fields.map((other, at) => (at === place ? { ...field, args } : other)),
        });
  }
}

function* smallerArguments(args: Readonly<Record<string, unknown>>): Generator<Record<string, unknown>> {
  for (const [name, value] of Object.entries(args)) {
    yield Object.fromEntries(Object.entries(args).filter(([other]) => other !== name));
    if (!Array.isArray(value)) continue;
    for (const [index, item] of value.entries()) {
      if (value.length > 1) yield { ...args, [name]: value.filter((_, place) => place !== index) };
      if (typeof item !== 'object' || item === null) continue;
      for (const inner of smallerArguments(item as Record<string, unknown>))
        yield { ...args, [name]: value.map((other, place) => (place === index ? inner : other)) };
    }
  }
}
