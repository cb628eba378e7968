import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'postgraphile/graphql';
import { defaultPageSize } from '../../plugins/ConnectionArgumentsPlugin.ts';
import { isCursorOf } from '../../plugins/CursorDigestPlugin.ts';
import { readerOf } from '../../plugins/functions/functionArguments.ts';
import { isNodeId, type NodeKeys } from '../../plugins/NodeIdPlugin.ts';
import { unusableIn } from '../../plugins/unusableIn.ts';
import { DocumentRefused, type PreparedDocument } from './document.ts';
import { rootOf } from './errors.ts';
import { isConnectionType } from './limits.ts';
import { misplacedNulls } from './misplacedNulls.ts';

/** Rows that one page, and values that one filter, may have at most. */
const maxPageSize = 1000;

/**
 * Refuses bad variables, and bad page and filter arguments of connections, before anything is executed: in the statement that
 * carries a whole tree of connections, an error could no longer be told from its neighbours.
 *
 * @returns how much the answer can have at most if every page is full; lists that are no connections count once
 * @throws {DocumentRefused} `BAD_USER_INPUT` with `extensions.argument`, one error for each bad argument
 */
export function checkArguments(
  schema: GraphQLSchema,
  prepared: PreparedDocument,
  variables: Readonly<Record<string, unknown>>,
): Most {
  const { operation, fragments } = prepared;
  const definitions = operation.variableDefinitions ?? [];
  const { errors, coerced } = getVariableValues(schema, definitions, variables, {
    hideSuggestions: true,
    maxErrors: 50,
  });
  if (errors) throw new DocumentRefused(errors.map(badVariable));
  const nulls = misplacedNulls(schema, prepared, coerced);
  if (nulls.length > 0) throw new DocumentRefused(nulls);

  const problems: GraphQLError[] = [];
  const nodeKeys = schema.extensions.nodeKeys as NodeKeys;
  const mostOfFragment = new Map<string, Most>();

  const mostOf = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): Most => {
    let rows = 0;
    let values = 0;
    let once = 0;
    for (const node of selections) {
      const most = mostOfSelection(node, type);
      rows += most.rows;
      values += most.values;
      once += most.once;
    }
    return { rows, values, once };
  };

  const mostOfSelection = (node: SelectionNode, type: GraphQLNamedType | undefined): Most => {
    if (node.kind === Kind.FIELD) return mostOfField(node, type);
    if (node.kind === Kind.FRAGMENT_SPREAD) return mostOfSpread(node.name.value);
    return mostOf(node.selectionSet, node.typeCondition ? schema.getType(node.typeCondition.name.value) : type);
  };

  const mostOfSpread = (name: string): Most => {
    const known = mostOfFragment.get(name);
    if (known) return known;
    const fragment = fragments.get(name);
    const most = fragment ? mostOf(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value)) : oneValue;
    mostOfFragment.set(name, most);
    return most;
  };

  const mostOfField = (node: FieldNode, type: GraphQLNamedType | undefined): Most => {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
    if (!field) return oneValue;
    const inner = node.selectionSet ? mostOf(node.selectionSet, getNamedType(field.type)) : oneValue;
    if (isConnectionType(type)) return isPerRow(field) ? inner : onceOf(field, inner);
    if (field.name === 'node' && type === schema.getQueryType())
      return { ...inner, values: inner.values + valuesOfStatement };
    // A bad argument of a mutation fails its field alone.
    if (field.args.length === 0 || type === schema.getMutationType()) return inner;
    const isPaged = hasPages(field);
    if (!isPaged && !isFunction(field)) return inner;

    const values = getArgumentValues(field, node, coerced);
    problems.push(...problemsOf({ field, nodeKeys }, node, values));
    if (!isPaged) return inner;
    const size = pageSizeOf(values);
    return { rows: size * (1 + inner.rows), values: size * inner.values + inner.once, once: 0 };
  };

  const most = mostOf(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined);
  if (problems.length > 0) throw new DocumentRefused(problems);
  return most;
}

/** How many rows an answer can have, and how many leaves; what is asked of PostgreSQL apart weighs as many as take as long. */
export type Most = {
  readonly rows: number;
  readonly values: number;
  /** Of a connection: the values that it has beside those of its rows. */
  readonly once: number;
};

const oneValue: Most = { rows: 0, values: 1, once: 0 };

/** What reads every row, as a count does, or is a statement of its own, as `node` is. */
const valuesOfStatement = 1000;

const onceOf = ({ name }: Field, { values }: Most): Most => ({
  rows: 0,
  values: 0,
  once: values + (name === 'totalCount' ? valuesOfStatement : 0),
});

const isPerRow = ({ name }: Field) => name === 'nodes' || name === 'edges';

type Field = GraphQLField<unknown, unknown>;
type Values = Readonly<Record<string, unknown>>;

const hasPages = (field: Field) => field.args.some((argument) => argument.name === 'first' && !readerOf(argument));
const isFunction = (field: Field) => field.args.some(readerOf);

/** What a value is checked against. */
type Context = { readonly field: Field; readonly nodeKeys: NodeKeys };
type Check = (value: unknown, values: Values, context: Context) => string | null;

function problemsOf(context: Context, node: FieldNode, values: Values): GraphQLError[] {
  const given = Object.keys(values).filter((argument) => values[argument] != null);
  const inOrder = [...[...checks.keys()].filter((name) => given.includes(name)), ...given];
  return Array.from(new Set(inOrder)).flatMap((argument) => {
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

/** Of the refusal that reading an argument of a function throws. */
function messageOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof GraphQLError) return error.message;
    throw error;
  }
}

/** Argument → what is wrong with it, in the order in which a client is told. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['first', (first, { last }) => (last == null ? pageSize(first) : 'not together with last.')],
  ['last', pageSize],
  ['after', cursor],
  ['before', cursor],
  ['orderBy', (orders) => (isShort(orders, 10) ? null : 'at most 10 orders.')],
  ['ids', ids],
  ['externalIdentifiers', filter],
]);

function ids(values: unknown, _: Values, { nodeKeys }: Context): string | null {
  if (!isShort(values, maxPageSize)) return `at most ${maxPageSize} ids.`;
  return values.every((id) => isNodeId(nodeKeys, id)) ? null : 'not ids that the service has issued.';
}

/** Any other argument is a filter by the values of a column, of a type that was checked. */
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
    (most, filter) => (Array.isArray(filter) ? Math.min(most, filter.length) : most),
    page,
  );
}

function cursor(value: unknown, { orderBy }: Values, { field }: Context): string | null {
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

const isShort = (value: unknown, most: number): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= most;

/** GraphQL.js says which variable and why; the client sees the variable where an argument stands otherwise. */
function badVariable(error: GraphQLError): GraphQLError {
  const { nodes = [] } = error;
  const node = nodes[0];
  // A scalar that takes any value makes a text of it, for which there may be too many lists in lists.
  const message = rootOf(error) instanceof RangeError ? 'A variable is nested too deep.' : error.message;
  const argument = node?.kind === Kind.VARIABLE_DEFINITION ? { argument: node.variable.name.value } : {};
  return new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT', ...argument } });
}
