import { channel } from 'node:diagnostics_channel';
import { execute, hookArgs } from 'postgraphile/grafast';
import type { GraphQLError } from 'postgraphile/graphql';
import { TooLongError } from '../../../plugins/byteBudget.ts';
import {
  CompiledInstead,
  type CompiledOperation,
  type CompiledOperations,
} from '../../../plugins/compilation/CompilationPlugin.ts';
import { countStatements } from '../../../plugins/StatementCountPlugin.ts';
import { InvalidTokenError } from '../../token/accessTokens.ts';
import type { TransactionSettings } from '../../token/settings.ts';
import { limitExceeded } from '../document/measureOperations.ts';
import type { Graph } from '../schema/schema.ts';
import type { Operation } from './operation.ts';
import type { Statements } from './statements.ts';

export type Evaluation = {
  /** Null without claims, and then without statements. */
  readonly settings: TransactionSettings | null;
  readonly statements: Statements;
  readonly newContext: () => Partial<Grafast.Context>;
  /** Of the run that goes on; plans add to it what they know. */
  context: Partial<Grafast.Context>;
};

/** The data as JSON, and the errors as they were thrown. */
export type Result = { readonly data?: string | null; readonly errors?: readonly GraphQLError[] };

/** Diagnostics channel: why Grafast had to do it again. */
const failedRun = channel('compilation:failed run');

/**
 * Evaluates operations by what they were compiled to, once they are planned.
 * Grafast runs those that cannot be compiled. When a compiled run fails, what it has done is undone, and Grafast executes all of it anew.
 */
export function createEvaluator({ resolvedPreset }: Graph, maxBytes: number) {
  const runGrafast = async ({ prepared, variables }: Operation, evaluation: Evaluation, compilesOnly: boolean) => {
    const { settings, statements, newContext } = evaluation;
    const { document, operation, schema } = prepared;
    const args = await hookArgs({
      schema,
      resolvedPreset,
      document,
      operationName: operation.name?.value,
      variableValues: variables,
      contextValue: { ...newContext(), compilesOnly },
      outputDataAsString: true,
      requestContext: settings ? { pgSettings: settings } : {},
    });
    const context = args.contextValue as Grafast.Context;
    // Its clients have all but the driver's own, which no plan uses.
    context.withPgClient = statements.withPgClient as Grafast.Context['withPgClient'];
    evaluation.context = context;
    // There is no @defer, @stream or subscription in the schema, by which the result would be an iterator.
    const { data, errors } = (await execute(args)) as Result;
    return { ...(data !== undefined && { data }), ...(errors && { errors: errors.map(toRefusal) }) };
  };

  const toRefusal = (error: GraphQLError) =>
    error.originalError instanceof TooLongError ? limitExceeded('bytes', maxBytes) : error;

  /** @returns null when Grafast has to do it */
  const runCompiled = async (compiled: CompiledOperation, { coerced }: Operation, evaluation: Evaluation) => {
    const { settings, statements, newContext } = evaluation;
    if (!settings) return null;
    const { planning } = evaluation.context;
    const withPgClient = statements.withPgClientBeside as Grafast.Context['withPgClient'];
    const context = {
      ...newContext(),
      pgSettings: settings,
      withPgClient,
      statementCount: countStatements(compiled.plan),
      ...(planning && { planning }),
    };
    evaluation.context = context;
    try {
      return { data: await compiled.run(coerced, context, (statement) => statements.query(settings, statement)) };
    } catch (error) {
      // Nothing else is the outcome of a token that was revoked.
      if (error instanceof InvalidTokenError) throw error;
      if (error instanceof TooLongError) return { errors: [limitExceeded('bytes', maxBytes)] };
      failedRun.publish({ error });
      await statements.again();
      return null;
    }
  };

  return async (requested: Operation, evaluation: Evaluation): Promise<Result> => {
    const { operation, schema } = requested.prepared;
    const operations = schema.extensions.compiledOperations as CompiledOperations | undefined;
    const mayCompile = operations !== undefined && evaluation.settings !== null;
    let compiled = mayCompile ? operations.find(operation, requested.coerced, evaluation.context) : null;
    if (!compiled) {
      const result: Result = await runGrafast(requested, evaluation, mayCompile);
      const instead = result.errors?.[0]?.originalError;
      if (!(instead instanceof CompiledInstead)) return result;
      ({ compiled } = instead);
    }
    return (await runCompiled(compiled, requested, evaluation)) ?? runGrafast(requested, evaluation, false);
  };
}
