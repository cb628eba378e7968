import {
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
} from 'postgraphile/graphql';
import { rootOf } from '../errors.ts';
import { argumentOf } from './argumentOf.ts';
import type { CursorChecks } from './argumentProblems.ts';
import { DocumentError, type PreparedDocument } from './document.ts';
import { misplacedNulls, selectedIn } from './misplacedNulls.ts';
import { CostAnalysis, type QueryCost } from './queryCost.ts';
import { suggest } from './suggestions.ts';

/**
 * Query cost analysis, and validation of variables, page arguments and filters, before execution.
 * One statement carries a whole tree of connections, so an error in it could not be attributed to one of them.
 *
 * @throws {DocumentError} `BAD_USER_INPUT` with `extensions.argument`, and `variable` if one is wrong; one error for each
 */
export function checkArguments(
  schema: GraphQLSchema,
  prepared: PreparedDocument,
  variables: Readonly<Record<string, unknown>>,
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

/** The variables in the types that the operation declares. @throws {DocumentError} */
export function coerceVariables(
  schema: GraphQLSchema,
  prepared: PreparedDocument,
  variables: Readonly<Record<string, unknown>>,
  hideSuggestions = true,
): CheckedArguments['coerced'] {
  const definitions = prepared.operation.variableDefinitions ?? [];
  const { errors, coerced } = getVariableValues(schema, definitions, variables, { hideSuggestions, maxErrors: 50 });
  if (errors) {
    const declared = new Set(definitions.map(({ variable }) => variable.name.value));
    const others = hideSuggestions ? [] : Object.keys(variables).filter((name) => !declared.has(name));
    throw new DocumentError(errors.map((error) => badVariable(error, prepared, variables, others)));
  }
  // Without a prototype: a variable may be called `constructor`.
  return Object.setPrototypeOf(coerced, null);
}

/** Memoized: without variables the arguments are the same in each request, and have passed. */
const checkedWithoutVariables = new WeakMap<OperationDefinitionNode, CheckedArguments>();

/** The cost of an operation, and its variables in the types that it declares. */
export type CheckedArguments = {
  readonly cost: QueryCost;
  readonly coerced: Readonly<Record<string, unknown>>;
  /** How many rows its mutations get in lists; each row has a result. */
  readonly writtenRows: number;
};

/**
 * Adds the variable to GraphQL.js' error as `extensions.variable`.
 * `extensions.argument` is the argument that the variable is for. If the variable is absent, the message names one that was sent under
 * nearly its name.
 */
function badVariable(
  error: GraphQLError,
  prepared: PreparedDocument,
  variables: Readonly<Record<string, unknown>>,
  others: readonly string[],
): GraphQLError {
  const { nodes = [] } = error;
  const node = nodes[0];
  // A scalar that takes any value converts it to text, which overflows the stack if lists are nested too deep.
  const message = rootOf(error) instanceof RangeError ? 'A variable is nested too deep.' : error.message;
  const variable = node?.kind === Kind.VARIABLE_DEFINITION ? node.variable.name.value : undefined;
  const names = variable === undefined ? {} : { argument: argumentOf(variable, selectedIn(prepared)), variable };
  const isAbsent = variable !== undefined && !Object.hasOwn(variables, variable);
  const near = isAbsent ? suggest(variable, others, '', 'it by') : '';
  return new GraphQLError(message + near, { nodes, extensions: { code: 'BAD_USER_INPUT', ...names } });
}
