import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  isInputObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'postgraphile/graphql';
import { defaultPageSize } from '../../../plugins/ConnectionArgumentsPlugin.ts';
import { decodePosition } from '../../../plugins/changeCursor.ts';
import { readerOf } from '../../../plugins/functions/functionArguments.ts';
import { isCursorOf } from '../../../plugins/isCursorOf.ts';
import { areNodeIds, type NodeKeys } from '../../../plugins/NodeIdPlugin.ts';
import { unusableIn } from '../../../plugins/unusableIn.ts';
import { rootOf } from '../errors.ts';
import { argumentOf } from './argumentOf.ts';
import { DocumentError, type PreparedDocument } from './document.ts';
import { fieldOf, isConnectionType } from './measureOperations.ts';
import { misplacedNulls, selectedIn } from './misplacedNulls.ts';

/** How many rows a page, and how many values a filter, may have. */
const maxPageSize = 1000;

/**
 * Query cost analysis, and validation of variables, page arguments and filters, before execution.
 * One statement carries a whole tree of connections, so an error in it could not be attributed to one of them.
 *
 * @returns the upper bound of the answer's size, if every page is full; lists that are no connections count once
 * @throws {DocumentError} `BAD_USER_INPUT` with `extensions.argument`, and `variable` if one is wrong; one error for each
 */
export function checkArguments(
  schema: GraphQLSchema,
  prepared: PreparedDocument,
  variables: Readonly<Record<string, unknown>>,
  hideSuggestions = true,
): CheckedArguments {
  const { operation, fragments } = prepared;
  const known = checkedWithoutVariables.get(operation);
  if (known) return known;
  const coerced = coerceVariables(schema, prepared, variables, hideSuggestions);
  const nulls = misplacedNulls(schema, prepared, coerced);
  if (nulls.length > 0) throw new DocumentError(nulls);

  let writtenRows = 0;
  const problems: GraphQLError[] = [];
  const nodeKeys = schema.extensions.nodeKeys as NodeKeys;
  const costOfFragment = new Map<string, QueryCost>();

  const costOf = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): QueryCost => {
    let rows = 0;
    let values = 0;
    let once = 0;
    for (const node of selections) {
      const cost = costOfSelection(node, type);
      rows += cost.rows;
      values += cost.values;
      once += cost.once;
    }
    return { rows, values, once };
  };

  const costOfSelection = (node: SelectionNode, type: GraphQLNamedType | undefined): QueryCost => {
    if (node.kind === Kind.FIELD) return costOfField(node, type);
    if (node.kind === Kind.FRAGMENT_SPREAD) return costOfSpread(node.name.value);
    return costOf(node.selectionSet, node.typeCondition ? schema.getType(node.typeCondition.name.value) : type);
  };

  const costOfSpread = (name: string): QueryCost => {
    const known = costOfFragment.get(name);
    if (known) return known;
    const fragment = fragments.get(name);
    const cost = fragment ? costOf(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value)) : oneValue;
    costOfFragment.set(name, cost);
    return cost;
  };

  const costOfField = (node: FieldNode, type: GraphQLNamedType | undefined): QueryCost => {
    const field = fieldOf(type, node.name.value);
    if (!field) return oneValue;
    const inner = node.selectionSet ? costOf(node.selectionSet, getNamedType(field.type)) : oneValue;
    if (isConnectionType(type)) return isPerRow(field) ? inner : onceOf(field, inner);
    if (field.name === 'node' && type === schema.getQueryType())
      return { ...inner, values: inner.values + valuesOfStatement };
    if (field.args.length === 0) return inner;
    // A bad argument of a mutation fails only its field.
    if (type === schema.getMutationType()) {
      const rows = takesRows(field) ? rowsIn(getArgumentValues(field, node, coerced)) : 0;
      writtenRows += rows;
      return { ...inner, rows: Math.max(1, rows) * inner.rows };
    }
    const isPaged = hasPages(field);
    if (!isPaged && !isFunction(field) && type !== schema.getSubscriptionType()) return inner;

    const values = getArgumentValues(field, node, coerced);
    problems.push(...problemsOf({ field, nodeKeys }, node, values));
    if (!isPaged) return inner;
    const size = pageSizeOf(values);
    return { rows: size * (1 + inner.rows), values: size * inner.values + inner.once, once: 0 };
  };

  const cost = costOf(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined);
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
  if (errors) throw new DocumentError(errors.map((error) => badVariable(error, prepared)));
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
 * Query cost: the rows and leaf values that an answer can have.
 * A field with its own statement counts as many values as take that long.
 */
export type QueryCost = {
  readonly rows: number;
  readonly values: number;
  /** The values of a connection that are not in its rows. */
  readonly once: number;
};

const oneValue: QueryCost = { rows: 0, values: 1, once: 0 };

/** The cost of a field that reads every row, as a count does, or has its own statement, as `node` does. */
const valuesOfStatement = 1000;

const onceOf = ({ name }: Field, { values }: QueryCost): QueryCost => ({
  rows: 0,
  values: 0,
  once: values + (name === 'totalCount' ? valuesOfStatement : 0),
});

const isPerRow = ({ name }: Field) => name === 'nodes' || name === 'edges';

type Field = GraphQLField<unknown, unknown>;
type Values = Readonly<Record<string, unknown>>;

const hasPages = (field: Field) => field.args.some((argument) => argument.name === 'first' && !readerOf(argument));
const isFunction = (field: Field) => field.args.some(readerOf);
const takesRows = (field: Field) => field.args.some(({ type }) => isInputObjectType(getNamedType(type)));
const rowsIn = (values: Values) =>
  Math.max(0, ...Object.values(values).map((value) => (Array.isArray(value) ? value.length : 0)));

/** The field whose argument is checked. */
type Context = { readonly field: Field; readonly nodeKeys: NodeKeys };
type Check = (value: unknown, values: Values, context: Context) => string | null;

function problemsOf(context: Context, node: FieldNode, values: Values): GraphQLError[] {
  const given = Object.keys(values).filter((argument) => values[argument] != null);
  return given.sort(byCheck).flatMap((argument) => {
    const message = problemOf(context, argument, values);
    if (message === null) return [];
    return [new GraphQLError(message, { nodes: node, extensions: { code: 'BAD_USER_INPUT', argument } })];
  });
}

function problemOf(context: Context, argument: string, values: Values): string | null {
  const read = readerOf(context.field.args.find(({ name }) => name === argument) ?? {});
  if (read) return messageOf(() => read(values[argument]));
  const message = (checks.get(argument) ?? filter)(values[argument], values, context);
  return message === null ? null : `${argument}: ${message}`;
}

/** The error message from reading a function's argument; null when it succeeds. */
function messageOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof GraphQLError) return error.message;
    throw error;
  }
}

/** The check of each argument, in the order in which errors are reported. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['first', (first, { last }) => (last == null ? pageSize(first) : 'not together with last.')],
  ['last', pageSize],
  ['after', cursor],
  ['before', cursor],
  ['orderBy', (orders) => (isShort(orders, 10) ? null : 'at most 10 orders.')],
  ['ids', ids],
  ['externalIdentifiers', filter],
]);

const checked = [...checks.keys()];
const rankOf = (argument: string) => (checks.has(argument) ? checked.indexOf(argument) : checked.length);
const byCheck = (one: string, other: string) => rankOf(one) - rankOf(other);

function ids(values: unknown, _: Values, { nodeKeys }: Context): string | null {
  if (!isShort(values, maxPageSize)) return `at most ${maxPageSize} ids.`;
  return areNodeIds(nodeKeys, values) ? null : 'not ids that the service has issued.';
}

/** Checks any other argument: a filter by the values of a column, whose type was checked. */
function filter(value: unknown): string | null {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.length > maxPageSize) return `at most ${maxPageSize} values.`;
  const problem = values.map(unusableIn).find(Boolean);
  return problem ? `${problem}.` : null;
}

function pageSize(size: unknown): string | null {
  return typeof size === 'number' && size >= 0 && size <= maxPageSize ? null : `must be from 0 to ${maxPageSize}.`;
}

function pageSizeOf({ first, last, ids, externalIdentifiers }: Values): number {
  const page = Number(first ?? last ?? defaultPageSize);
  return [ids, externalIdentifiers].reduce<number>(
    (size, filter) => (Array.isArray(filter) ? Math.min(size, filter.length) : size),
    page,
  );
}

function cursor(value: unknown, { orderBy }: Values, { field }: Context): string | null {
  if (!field.extensions.pagedResource) return decodePosition(value) ? null : 'not a cursor of this feed.';
  const orders = Array.isArray(orderBy) ? orderBy.map(String) : [];
  return isCursorOf(field, orders, parseCursor(value)) ? null : 'not a cursor of this connection in this order.';
}

function parseCursor(value: unknown): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(String(value), 'base64').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

const isShort = (value: unknown, max: number): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= max;

/**
 * Adds the variable to GraphQL.js' error as `extensions.variable`.
 * `extensions.argument` is the argument that the variable is for.
 */
function badVariable(error: GraphQLError, prepared: PreparedDocument): GraphQLError {
  const { nodes = [] } = error;
  const node = nodes[0];
  // A scalar that takes any value converts it to text, which overflows the stack if lists are nested too deep.
  const message = rootOf(error) instanceof RangeError ? 'A variable is nested too deep.' : error.message;
  const variable = node?.kind === Kind.VARIABLE_DEFINITION ? node.variable.name.value : undefined;
  const names = variable === undefined ? {} : { argument: argumentOf(variable, selectedIn(prepared)), variable };
  return new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT', ...names } });
}
