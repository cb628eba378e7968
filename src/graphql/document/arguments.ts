import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'postgraphile/graphql';
import { defaultPageSize, isCursorOf } from '../../../plugins/ConnectionArgumentsPlugin.ts';
import { type CursorKeys, decodePosition } from '../../../plugins/changeFeed.ts';
import { readerOf } from '../../../plugins/functions/FunctionArgumentsPlugin.ts';
import { areNodeIds, type NodeKeys } from '../../../plugins/NodeIdPlugin.ts';
import { timeCheckOf } from '../../../plugins/TimeInputPlugin.ts';
import { unusableIn } from '../../../plugins/values.ts';
import type { PreparedDocument } from './document.ts';
import { DocumentError } from './documentError.ts';
import { fieldOf, isConnectionType } from './measureOperations.ts';
import { coerceVariables, misplacedNulls, type Variables } from './variables.ts';

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

/**
 * Query cost analysis: the upper bound of the answer's size, if every page is full.
 * Lists that are no connections count once. It reads each argument only once, and so finds what is wrong with it on the way.
 */
class CostAnalysis {
  readonly problems: GraphQLError[] = [];
  /** How many rows the mutations get in lists. */
  writtenRows = 0;

  readonly #schema: GraphQLSchema;
  readonly #prepared: PreparedDocument;
  readonly #coerced: Values;
  readonly #nodeKeys: NodeKeys;
  readonly #cursorKeys: CursorChecks;
  readonly #costOfFragment = new Map<string, QueryCost>();

  constructor(schema: GraphQLSchema, prepared: PreparedDocument, coerced: Values, cursorKeys: CursorChecks) {
    this.#schema = schema;
    this.#prepared = prepared;
    this.#coerced = coerced;
    this.#cursorKeys = cursorKeys;
    this.#nodeKeys = schema.extensions.nodeKeys;
  }

  costOfOperation(): QueryCost {
    const { operation } = this.#prepared;
    return this.#costOf(operation.selectionSet, this.#schema.getRootType(operation.operation) ?? undefined);
  }

  #costOf({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): QueryCost {
    let rows = 0;
    let values = 0;
    let once = 0;
    for (const node of selections) {
      const cost = this.#costOfSelection(node, type);
      rows += cost.rows;
      values += cost.values;
      once += cost.once;
    }
    return { rows, values, once };
  }

  #costOfSelection(node: SelectionNode, type: GraphQLNamedType | undefined): QueryCost {
    if (node.kind === Kind.FIELD) return this.#costOfField(node, type);
    if (node.kind === Kind.FRAGMENT_SPREAD) return this.#costOfSpread(node.name.value);
    const { typeCondition, selectionSet } = node;
    return this.#costOf(selectionSet, typeCondition ? this.#schema.getType(typeCondition.name.value) : type);
  }

  #costOfSpread(name: string): QueryCost {
    const known = this.#costOfFragment.get(name);
    if (known) return known;
    const fragment = this.#prepared.fragments.get(name);
    const cost = fragment
      ? this.#costOf(fragment.selectionSet, this.#schema.getType(fragment.typeCondition.name.value))
      : oneValue;
    this.#costOfFragment.set(name, cost);
    return cost;
  }

  #costOfField(node: FieldNode, type: GraphQLNamedType | undefined): QueryCost {
    const schema = this.#schema;
    const field = fieldOf(type, node.name.value);
    if (!field) return oneValue;
    const inner = node.selectionSet ? this.#costOf(node.selectionSet, getNamedType(field.type)) : oneValue;
    if (isConnectionType(type)) return isPerRow(field) ? inner : onceOf(field, inner);
    if (field.name === 'node' && type === schema.getQueryType())
      return { ...inner, values: inner.values + valuesOfStatement };
    if (isAnyObject(field)) return { ...inner, values: inner.values + valuesOfObject };
    if (field.args.length === 0) return inner;
    // A bad argument of a mutation fails only its field.
    if (type === schema.getMutationType()) {
      const rows = takesRows(field) ? rowsIn(getArgumentValues(field, node, this.#coerced)) : 0;
      this.writtenRows += rows;
      return { ...inner, rows: Math.max(1, rows) * inner.rows };
    }
    const isPaged = hasPages(field);
    if (!isPaged && !isFunction(field) && type !== schema.getSubscriptionType()) return inner;

    const values = getArgumentValues(field, node, this.#coerced);
    this.problems.push(...problemsOf({ field, nodeKeys: this.#nodeKeys, cursorKeys: this.#cursorKeys }, node, values));
    if (!isPaged) return inner;
    const size = pageSizeOf(values);
    return { rows: size * (1 + inner.rows), values: size * inner.values + inner.once, once: 0 };
  }
}

const oneValue: QueryCost = { rows: 0, values: 1, once: 0 };

/** The cost of a field that reads every row, as a count does, or has its own statement, as `node` does. */
const valuesOfStatement = 1000;

/** An object of any type, as of a change of the feed, which is read by its type. */
const valuesOfObject = 5;
const isAnyObject = (field: Field) => getNamedType(field.type).name === 'Node';

const onceOf = ({ name }: Field, { values }: QueryCost): QueryCost => ({
  rows: 0,
  values: 0,
  once: values + (name === 'totalCount' ? valuesOfStatement : 0),
});

const isPerRow = ({ name }: Field) => name === 'nodes' || name === 'edges';

const hasPages = (field: Field) => field.args.some((argument) => argument.name === 'first' && !readerOf(argument));
const isFunction = (field: Field) => field.args.some(readerOf);
/** Whether its lists are rows: it takes objects, or answers with a list of results. */
const takesRows = ({ args, type }: Field) => {
  const payload = getNamedType(type);
  const results = isObjectType(payload) ? Object.values(payload.getFields()) : [];
  return (
    args.some((argument) => isInputObjectType(getNamedType(argument.type))) ||
    results.some((result) => isListType(getNullableType(result.type)))
  );
};
const rowsIn = (values: Values) =>
  Math.max(0, ...Object.values(values).map((value) => (Array.isArray(value) ? value.length : 0)));

/** How many rows a page, and how many values a filter, may have. */
const maxPageSize = 1000;

type Field = GraphQLField<unknown, unknown>;
type Values = Readonly<Record<string, unknown>>;

/** Validates page arguments and filters: an error for each argument that is wrong. */
function problemsOf(context: Context, node: FieldNode, values: Values): GraphQLError[] {
  const given = Object.keys(values).filter((argument) => values[argument] != null);
  return given.sort(byCheck).flatMap((argument) => {
    const message = problemOfArgument(context, argument, values);
    if (message === null) return [];
    return [new GraphQLError(message, { nodes: node, extensions: { code: 'BAD_USER_INPUT', argument } })];
  });
}

/** The field whose argument is checked, and what ids and cursors are recognized by. */
type Context = { readonly field: Field; readonly nodeKeys: NodeKeys; readonly cursorKeys: CursorChecks };
type CursorChecks = Pick<CursorKeys, 'cursorChecksums'>;
type Check = (value: unknown, values: Values, context: Context) => string | null;

function problemOfArgument(context: Context, argument: string, values: Values): string | null {
  const declared = context.field.args.find(({ name }) => name === argument);
  const read = readerOf(declared ?? {});
  if (read) return messageOf(() => read(values[argument]));
  const message = (checks.get(argument) ?? filter)(values[argument], values, context);
  if (message !== null) return `${argument}: ${message}`;
  return (declared && timeCheckOf(declared.type)?.(values[argument], argument)) ?? null;
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

function cursor(value: unknown, { orderBy }: Values, { field, cursorKeys }: Context): string | null {
  if (!field.extensions.pagedResource) return decodePosition(value, cursorKeys) ? null : 'not a cursor of this feed.';
  const orders = Array.isArray(orderBy) ? orderBy.map(String) : [];
  return isCursorOf(field, orders, parseCursor(value)) ? null : 'not a cursor of this connection in this order.';
}

/** A document may have the cursor of one variable at each of its connections. */
const maxCursorLength = 100_000;

function parseCursor(value: unknown): readonly unknown[] {
  const cursor = String(value);
  if (cursor.length > maxCursorLength) return [];
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

const isShort = (value: unknown, max: number): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= max;
