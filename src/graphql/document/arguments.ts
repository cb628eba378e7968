import type { GraphQLSchema, OperationDefinitionNode } from 'postgraphile/graphql';
import type { CursorChecks } from './argumentProblems.ts';
import type { PreparedDocument } from './document.ts';
import { DocumentError } from './documentError.ts';
import { misplacedNulls } from './misplacedNulls.ts';
import { CostAnalysis, type QueryCost } from './queryCost.ts';
import { coerceVariables, type Variables } from './variables.ts';

/**
 * Query cost analysis, and validation of variables, page arguments and filters, before execution.
 * One statement carries a whole tree of connections, so an error in it could not be attributed to one of them.
 *
 * @throws {DocumentError} `BAD_USER_INPUT` with `extensions.argument`, and `variable` if one is wrong; one error for each
 */
export function checkArguments(
  schema: GraphQLSchema,
  prepared: PreparedDocument,
  variables: Variables,
  cursorKeys: CursorChecks,
  hideSuggestions = true,
): CheckedArguments {
  const { operation } = prepared;
  const known = checkedWithoutVariables.get(operation);
  if (known) return known;
  const coerced = coerceVariables(schema, prepared, variables, hideSuggestions);
  const nulls = misplacedNulls(schema, prepared, coerced);
  if (nulls.length > 0) throw new DocumentError(nulls);

  const analysis = new CostAnalysis(schema, prepared, coerced, cursorKeys);
  const cost = analysis.costOfOperation();
  const { problems, writtenRows } = analysis;
  if (problems.length > 0) throw new DocumentError(problems);
  const checked = { cost, coerced, writtenRows };
  if (!operation.variableDefinitions?.length) checkedWithoutVariables.set(operation, checked);
  return checked;
}

/** Memoized: without variables the arguments are the same in each request, and have passed. */
const checkedWithoutVariables = new WeakMap<OperationDefinitionNode, CheckedArguments>();

/** The cost of an operation, and its variables in the types that it declares. */
export type CheckedArguments = {
  readonly cost: QueryCost;
  readonly coerced: Variables;
  /** How many rows its mutations get in lists; each row has a result. */
  readonly writtenRows: number;
};
