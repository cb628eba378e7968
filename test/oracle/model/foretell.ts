import { executeSync, GraphQLError, type GraphQLFieldResolver, parse, validate } from 'graphql';
import { apply } from './apply.ts';
import { type Change, changesBetween } from './changes.ts';
import type { Body, GraphError } from './client.ts';
import type { Operation } from './document.ts';
import { type GraphContext, resolveField, resolveType, schema } from './graph.ts';
import { DisagreementError, type Failure } from './outcome.ts';
import type { Caller, State } from './state.ts';
import { isFailure } from './syncResults.ts';

/** What a request has to be answered with; `isRefused` when it has to be refused before execution. */
export type Foretold =
  | { isRefused: true }
  | { isRefused: false; answer: Comparable; state: State; changes: Change[]; outcomes: string[] };

/** An answer without what may differ: words of messages, and the order of rows, of which lists are sets here. */
export type Comparable = { data: unknown; errors: unknown[] };

type Context = GraphContext & { actual: Body; changes: Change[]; outcomes: string[]; disagreement?: DisagreementError };

/** Executes an operation on the rows by graphql-js, by the schema alone. */
export function foretell(state: State, caller: Caller, { query, variables }: Operation, actual: Body): Foretold {
  const document = parse(query);
  if (validate(schema, document).length > 0) return { isRefused: true };
  const context: Context = { state, caller, actual, changes: [], outcomes: [] };
  const result = executeSync({
    schema,
    document,
    rootValue: {},
    contextValue: context,
    variableValues: variables,
    fieldResolver: resolve,
    typeResolver: resolveType,
  });
  if (context.disagreement) throw context.disagreement;
  if (result.data === undefined) return { isRefused: true };
  const broken = result.errors?.find(({ extensions }) => !extensions.code);
  if (broken) throw broken.originalError ?? broken;
  return {
    isRefused: false,
    answer: toComparable(result as unknown as Body),
    state: context.state,
    changes: context.changes,
    outcomes: context.outcomes,
  };
}

const resolve: GraphQLFieldResolver<Record<string, unknown>, Context> = (source, args, context, info) => {
  if (info.parentType.name !== 'Mutation') return resolveField(source, args, context, info);
  const { actual, state, caller } = context;
  const key = String(info.path.key);
  const answer = actual.data?.[key];
  const error = actual.errors?.find(({ path }) => path?.[0] === key);
  try {
    const outcome = apply(state, caller, info.fieldName, args, answer);
    context.outcomes.push(`${info.fieldName} ${'failures' in outcome ? 'fails' : 'is done'}`);
    if ('failures' in outcome) throw toError(outcome.failures, error);
    context.changes.push(...changesBetween(state, outcome.state));
    context.state = outcome.state;
    return outcome.payload;
  } catch (disagreement) {
    // A value that the service should have made is missing for the reason that its error gives.
    if (disagreement instanceof DisagreementError)
      context.disagreement = error ? new DisagreementError(`${key} has a payload`, 'a payload', error) : disagreement;
    throw disagreement;
  }
};

function toError(failures: readonly Failure[], actual: GraphError | undefined): GraphQLError {
  const { code, argument } = actual?.extensions ?? {};
  const isRight = failures.some((failure) => isFailure(failure, code, argument));
  const extensions: Record<string, unknown> = isRight ? { code, argument } : { ...failures[0] };
  return new GraphQLError('', { extensions });
}

export function toComparable({ data, errors = [] }: Body): Comparable {
  return {
    data: sortLists(JSON.parse(JSON.stringify(data ?? null))),
    errors: errors
      .map(({ path, extensions }) => ({
        path: path?.join('.'),
        code: extensions?.code,
        argument: extensions?.argument,
      }))
      .sort((one, other) => (String(one.path) < String(other.path) ? -1 : 1)),
  };
}

/** Lists of objects that have an id are sorted by it. */
function sortLists(value: unknown): unknown {
  if (Array.isArray(value)) {
    const sorted = value.map(sortLists);
    return sorted.every((item) => idIn(item) !== undefined)
      ? sorted.sort((one, other) => (String(idIn(one)) < String(idIn(other)) ? -1 : 1))
      : sorted;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, sortLists(inner)]));
}

function idIn(item: unknown): unknown {
  const { id, node } = (item ?? {}) as { id?: unknown; node?: { id?: unknown } };
  return id ?? node?.id;
}
