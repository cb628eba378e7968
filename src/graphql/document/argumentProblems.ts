import { type FieldNode, GraphQLError, type GraphQLField } from 'postgraphile/graphql';
import { defaultPageSize } from '../../../plugins/ConnectionArgumentsPlugin.ts';
import { type CursorKeys, decodePosition } from '../../../plugins/changeCursor.ts';
import { readerOf } from '../../../plugins/functions/functionArguments.ts';
import { isCursorOf } from '../../../plugins/isCursorOf.ts';
import { areNodeIds, type NodeKeys } from '../../../plugins/NodeIdPlugin.ts';
import { timeCheckOf } from '../../../plugins/TimeInputPlugin.ts';
import { unusableIn } from '../../../plugins/unusableIn.ts';

/** How many rows a page, and how many values a filter, may have. */
const maxPageSize = 1000;

export type Field = GraphQLField<unknown, unknown>;
export type Values = Readonly<Record<string, unknown>>;

/** Validates page arguments and filters: an error for each argument that is wrong. */
export function problemsOf(context: Context, node: FieldNode, values: Values): GraphQLError[] {
  const given = Object.keys(values).filter((argument) => values[argument] != null);
  return given.sort(byCheck).flatMap((argument) => {
    const message = problemOf(context, argument, values);
    if (message === null) return [];
    return [new GraphQLError(message, { nodes: node, extensions: { code: 'BAD_USER_INPUT', argument } })];
  });
}

/** The field whose argument is checked, and what ids and cursors are recognized by. */
type Context = { readonly field: Field; readonly nodeKeys: NodeKeys; readonly cursorKeys: CursorChecks };
export type CursorChecks = Pick<CursorKeys, 'cursorChecksums'>;
type Check = (value: unknown, values: Values, context: Context) => string | null;

function problemOf(context: Context, argument: string, values: Values): string | null {
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

export function pageSizeOf({ first, last, ids, externalIdentifiers }: Values): number {
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
