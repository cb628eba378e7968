import type { GraphQLSchema } from 'graphql';
import { answerOf } from './answer.ts';
import { ask, dataOf, type Failure, isWithinLimits, type Run, servicesFor } from './ask.ts';
import type { Check, DocumentCheck, MutationCheck } from './checks.ts';
import { differenceOf } from './match.ts';
import { answerMutation, mutationOf } from './mutate.ts';
import { type Operation, Renderer } from './render.ts';
import type { State } from './state.ts';

/** Asks a document, once with its arguments in variables or within; then with other values in the same variables. */
export async function runDocument(
  check: DocumentCheck,
  state: State,
  schema: GraphQLSchema,
  run: Run,
): Promise<Failure | null> {
  const ways = run.isShrinking ? [false, true] : [run.random.chance(0.3)];
  for (const isInline of ways) {
    const operation = new Renderer(state, schema, isInline).document(check.roots);
    const failure = await runOperation(check, operation, state, run);
    if (failure) return failure;
    if (isInline || !check.exchanged) continue;
    const other = new Renderer(state, schema).document(check.exchanged);
    // While it is made smaller, they differ.
    if (other.query !== operation.query) continue;
    const wrong = await runOperation({ ...check, roots: check.exchanged }, other, state, run);
    if (wrong) return { ...wrong, check, message: `After ${JSON.stringify(operation.variables)}: ${wrong.message}` };
  }
  return null;
}

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
