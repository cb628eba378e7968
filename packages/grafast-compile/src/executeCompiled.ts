import { channel } from 'node:diagnostics_channel';
import { GraphQLError, type GraphQLSchema, type OperationDefinitionNode } from 'postgraphile/graphql';
import { TooLongError } from './byteBudget.ts';
import { CompiledInstead } from './CompilationPlugin.ts';
import type { CompiledOperation } from './CompiledOperations.ts';
import { operationsOf } from './schemaState.ts';

/** An operation, and how the application executes it in either way. */
export type OperationRequest = {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  /** As graphql's `getVariableValues` coerces them. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The context, where plans depend on it. */
  readonly context: object;
  /** Executes with Grafast, whose context has this, too. The data must be a text (`outputDataAsString`). */
  runGrafast(context: Partial<Grafast.Context>): Promise<OperationResult>;
  /** Runs the compiled operation. */
  runCompiled(compiled: CompiledOperation): Promise<string>;
  /**
   * Undoes what a failed run has done, since Grafast then executes all of it.
   * When it rejects, so does the operation. Without it, Grafast executes every mutation.
   */
  undo?(error: unknown): Promise<void>;
};

/** The data as JSON, and the errors as Grafast gives them. */
export type OperationResult = { readonly data?: string | null; readonly errors?: readonly GraphQLError[] };

/**
 * Executes an operation by what it was compiled to; the first time, it is compiled before it runs.
 * Grafast executes what cannot be compiled, and what has failed compiled: it reports an error with its path and place.
 */
export async function executeCompiled(request: OperationRequest): Promise<OperationResult> {
  const { schema, operation, variables, context } = request;
  const operations = operationsOf(schema);
  const mayRunTwice = operation.operation === 'query' || (operation.operation === 'mutation' && request.undo);
  if (!operations || !mayRunTwice) return request.runGrafast({});
  let compiled = operations.find(operation, variables, context);
  if (!compiled) {
    const result = await request.runGrafast({ compilesOnly: true });
    const instead = result.errors?.[0]?.originalError;
    if (!(instead instanceof CompiledInstead)) return result;
    ({ compiled } = instead);
  }
  try {
    return { data: await request.runCompiled(compiled) };
  } catch (error) {
    if (error instanceof TooLongError) return { errors: [new GraphQLError(error.message, { originalError: error })] };
    failedRun.publish({ error });
    await request.undo?.(error);
    return request.runGrafast({});
  }
}

/** Diagnostics channel: why Grafast had to do it again. */
const failedRun = channel('grafast-compile:failed run');
