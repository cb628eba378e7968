import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  validate,
} from 'graphql';
import { type Caller, sightOf } from './access.ts';
import type { Cursors } from './cursors.ts';
import { refusedArguments } from './refusals.ts';
import type { Rows } from './rows.ts';
import type { Context } from './schema.ts';

export type Variables = Readonly<Record<string, unknown>>;

/** What is compared of an answer: all of its data, and where and why it failed. */
export type Answer = {
  readonly status: number;
  readonly data: unknown;
  readonly errors: readonly Failure[];
  /** Of the oracle's: what a document is refused for. */
  readonly refusedFor?: string;
};

export type Failure = { readonly code: string; readonly path: string | null };

/**
 * What the service must answer: graphql-js over the rows.
 *
 * @throws {TooManyRowsError} where an answer would be too large
 */
export function answerOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Variables,
  { rows, caller, cursors }: { rows: Rows; caller: Caller; cursors: readonly Cursors[] },
): Answer {
  if (validate(schema, document).length > 0) return refused('GRAPHQL_VALIDATION_FAILED', 'validation');
  const operation = document.definitions.find(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  );
  const { coerced } = getVariableValues(schema, operation?.variableDefinitions ?? [], variables);
  if (!coerced) return refused('BAD_USER_INPUT', 'variables');
  const [wrong] = refusedArguments(schema, document, coerced, cursors);
  if (wrong) return refused('BAD_USER_INPUT', wrong);

  const contextValue: Context = { sight: sightOf(rows, caller), caller, cursors, budget: { rows: maxRows } };
  // Nothing here waits, so that it is no promise.
  const { data, errors } = execute({ schema, document, variableValues: variables, contextValue }) as ExecutionResult;
  return { status: 200, data: plain(data), errors: (errors ?? []).map(failureOf).sort(byPath) };
}

/** A fifth of what an operation may return. */
const maxRows = 2000;

const refused = (code: string, refusedFor: string): Answer => ({
  status: 400,
  data: undefined,
  errors: [{ code, path: null }],
  refusedFor,
});

function failureOf(error: GraphQLError): Failure {
  // A mistake of the oracle's own.
  if (!error.extensions.code) throw error.originalError ?? error;
  return { code: String(error.extensions.code), path: error.path?.join('.') ?? null };
}

export const byPath = (a: Failure, b: Failure): number => `${a.path} ${a.code}`.localeCompare(`${b.path} ${b.code}`);

/** Without the null prototypes that graphql-js gives. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
