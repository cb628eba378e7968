import { type CompiledOperation, executeCompiled, type OperationResult, TooLongError } from 'grafast-compile';
import { execute, hookArgs } from 'postgraphile/grafast';
import type { GraphQLError } from 'postgraphile/graphql';
import { countStatements } from '../../../plugins/StatementCountPlugin.ts';
import { InvalidTokenError } from '../../token/accessTokens.ts';
import type { TransactionSettings } from '../../token/settings.ts';
import { limitExceeded } from '../document/limitExceeded.ts';
import type { Graph } from '../schema/schema.ts';
import type { Operation } from './operation.ts';
import { planInTurn } from './planInTurn.ts';
import type { Statements } from './statements.ts';

export type Evaluation = {
  /** Null without claims, and then without statements. */
  readonly settings: TransactionSettings | null;
  readonly statements: Statements;
  readonly newContext: () => Partial<Grafast.Context>;
  /** The context of the present run, to which plans add what they know. */
  context: Partial<Grafast.Context>;
};

/**
 * Evaluates operations: compiled if they have been planned before, otherwise by Grafast.
 * If a compiled run fails, its changes are undone, and Grafast executes the whole operation anew.
 */
export function createEvaluator({ resolvedPreset }: Graph, maxBytes: number) {
  const runGrafast = async (
    { prepared, variables }: Operation,
    evaluation: Evaluation,
    added: Partial<Grafast.Context>,
  ) => {
    const { settings, statements, newContext } = evaluation;
    const { document, operation, schema } = prepared;
    const args = await hookArgs({
      schema,
      resolvedPreset,
      document,
      operationName: operation.name?.value,
      variableValues: variables,
      contextValue: { ...newContext(), ...added },
      outputDataAsString: true,
      requestContext: settings ? { pgSettings: settings } : {},
    });
    const context = args.contextValue as Grafast.Context;
    // Its clients have all but the driver's own, which no plan uses.
    context.withPgClient = statements.withPgClient as Grafast.Context['withPgClient'];
    evaluation.context = context;
    // There is no @defer, @stream or subscription in the schema, by which the result would be an iterator.
    return (await planInTurn(prepared, () => execute(args))) as OperationResult;
  };

  const evaluate = (requested: Operation, evaluation: Evaluation): Promise<OperationResult> => {
    const { operation, schema } = requested.prepared;
    const { settings, statements, context } = evaluation;
    if (!settings) return runGrafast(requested, evaluation, {});
    return executeCompiled({
      schema,
      operation,
      variables: requested.coerced,
      context,
      runGrafast: (added) => runGrafast(requested, evaluation, added),
      runCompiled: (compiled) => runCompiled(compiled, requested, evaluation, settings),
      async undo(error) {
        // If the token was revoked, that is the outcome, and nothing is executed again.
        if (error instanceof InvalidTokenError) throw error;
        await statements.again();
      },
    });
  };

  const toRefusal = (error: GraphQLError) =>
    error.originalError instanceof TooLongError ? limitExceeded('bytes', maxBytes) : error;

  return async (requested: Operation, evaluation: Evaluation): Promise<OperationResult> => {
    const result = await evaluate(requested, evaluation);
    return result.errors ? { ...result, errors: result.errors.map(toRefusal) } : result;
  };
}

function runCompiled(
  { plan, run }: CompiledOperation,
  { coerced }: Operation,
  evaluation: Evaluation,
  settings: TransactionSettings,
) {
  const { statements, newContext } = evaluation;
  const { planning } = evaluation.context;
  const withPgClient = statements.withPgClientBeside as Grafast.Context['withPgClient'];
  const context = {
    ...newContext(),
    pgSettings: settings,
    withPgClient,
    statementCount: countStatements(plan),
    ...(planning && { planning }),
  };
  evaluation.context = context;
  return run(coerced, context, (statement) => statements.query(settings, statement));
}
