import type { GraphQLSchema } from 'graphql';
import { answerOf } from './answer.ts';
import { ask, dataOf, type Failure, isWithinLimits, type Run, servicesFor } from './ask.ts';
import type { Check, DocumentCheck, MutationCheck } from './checks.ts';
import { withFaults } from './draw.ts';
import { differenceOf } from './match.ts';
import { answerMutation, mutationOf } from './mutate.ts';
import { type Operation, Renderer } from './render.ts';
import type { State } from './state.ts';

/** Asks a document, once with its arguments in variables or within. */
export async function runDocument(
  drawnCheck: DocumentCheck,
  state: State,
  schema: GraphQLSchema,
  run: Run,
): Promise<Failure | null> {
  const ways = run.isShrinking ? [false, true] : [run.random.chance(0.3)];
  for (const isInline of ways) {
    const render = (roots: DocumentCheck['roots']) => new Renderer(state, schema, isInline).document(roots);
    const totals = render(drawnCheck.roots).query.match(/totalCount/g)?.length ?? 0;
    const check =
      totals > maxTotals && !withFaults ? { ...drawnCheck, roots: withoutTotals(drawnCheck.roots) } : drawnCheck;
    const failure = await runOperation(check, render(check.roots), state, run);
    if (failure) return failure;
  }
  return null;
}

/** A fourth `totalCount` of one connection with `orderBy` is known to fail. */
const maxTotals = 3;

const withoutTotals = (roots: DocumentCheck['roots']): DocumentCheck['roots'] =>
  JSON.parse(JSON.stringify(roots), (name, value) =>
    name === 'wants' ? value.filter((want: string) => want !== 'totalCount') : value,
  );

async function runOperation(
  check: DocumentCheck,
  operation: Operation,
  state: State,
  run: Run,
): Promise<Failure | null> {
  return expectAnswer(check, operation, answerOf(check.roots, check.who, state), state, run);
}

/** Asks every service, a compiling one twice. */
async function expectAnswer(
  check: Check,
  operation: Operation,
  expected: unknown,
  state: State,
  run: Run,
): Promise<Failure | null> {
  if (!isWithinLimits(operation)) return null;
  for (const service of servicesFor(state.world, run)) {
    // The second time it is compiled.
    for (const time of service.isCompiling ? ['first', 'second'] : ['only']) {
      run.queries++;
      const told = dataOf(await ask(service, state.world, check.who, operation));
      const difference = 'refused' in told ? told.refused : differenceOf(expected, told.data);
      if (difference)
        return {
          check,
          operation,
          message: `The ${time} answer${service.isCompiling ? '' : ' without compilation'} is wrong ${difference}`,
        };
    }
  }
  return null;
}

export const runMutation = (
  check: MutationCheck,
  state: State,
  schema: GraphQLSchema,
  run: Run,
): Promise<Failure | null> =>
  expectAnswer(check, mutationOf(check, state, schema), answerMutation(check, state), state, run);
