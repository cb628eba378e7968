import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'postgraphile/graphql';
import { decodeNodeId } from '../../plugins/NodeIdPlugin.ts';
import { DocumentRefused, type PreparedDocument } from './document.ts';

/** Rows that one page, and values that one filter, may have at most. */
const maxPageSize = 1000;

/**
 * Refuses bad variables, and bad page and filter arguments of connections, before anything is executed: in the statement that
 * carries a whole tree of connections, an error could no longer be told from its neighbours.
 *
 * @throws {DocumentRefused} `BAD_USER_INPUT` with `extensions.argument`, one error for each bad argument
 */
export function checkArguments(
  schema: GraphQLSchema,
  prepared: PreparedDocument,
  variables: Readonly<Record<string, unknown>>,
): void {
  const { errors, coerced } = getVariableValues(schema, prepared.operation.variableDefinitions ?? [], variables);
  if (errors) throw new DocumentRefused(errors.map(badVariable));

  const problems = connectionFields(schema, prepared).flatMap(({ field, node }) => {
    const values = getArgumentValues(field, node, coerced);
    return Object.entries(checks).flatMap(([argument, check]) => {
      const value = values[argument];
      const message = value == null ? null : check(value, values);
      return message === null
        ? []
        : [
            new GraphQLError(`${argument}: ${message}`, {
              nodes: node,
              extensions: { code: 'BAD_USER_INPUT', argument },
            }),
          ];
    });
  });
  if (problems.length > 0) throw new DocumentRefused(problems);
}

type Values = Readonly<Record<string, unknown>>;

/** Argument → what is wrong with it, in the order in which a client is told. */
const checks: Readonly<Record<string, (value: unknown, values: Values) => string | null>> = {
  first: (first, { last }) => (last == null ? pageSize(first) : 'not together with last.'),
  last: pageSize,
  after: cursor,
  before: cursor,
  orderBy: (orders) => (isShort(orders, 10) ? null : 'at most 10 orders.'),
  ids: (ids) => {
    if (!isShort(ids, maxPageSize)) return `at most ${maxPageSize} ids.`;
    return ids.every((id) => decodeNodeId(id)) ? null : 'not ids that the service has issued.';
  },
  externalIdentifiers: (identifiers) => {
    if (!isShort(identifiers, maxPageSize)) return `at most ${maxPageSize} identifiers.`;
    return identifiers.every(isText) ? null : 'contains a character that is not Unicode text.';
  },
};

function pageSize(size: unknown): string | null {
  return typeof size === 'number' && size >= 0 && size <= maxPageSize ? null : `must be from 0 to ${maxPageSize}.`;
}

/**
 * A cursor is a digest of the order and the values of its row by that order, as JSON in base64; the key is always one of them,
 * the rest are texts. What fits this shape is at worst another position among the caller's own rows.
 */
function cursor(value: unknown, { orderBy }: Values): string | null {
  const orders = Array.isArray(orderBy) ? orderBy.map(String) : [];
  const keyed = orders.findIndex((order) => order.startsWith('PRIMARY_KEY_'));
  const expected = (keyed < 0 ? [...orders, 'key'] : orders).map((order) =>
    /^(PRIMARY_KEY_|key$)/.test(order) ? isUuid : isTextOrNull,
  );
  const [digest, ...parts] = parseCursor(value);
  const fits =
    typeof digest === 'string' &&
    parts.length === expected.length &&
    expected.every((check, index) => check(parts[index]));
  return fits ? null : 'not a cursor of this connection in this order.';
}

function parseCursor(value: unknown): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(String(value), 'base64').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

const isUuid = (value: unknown) =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
const isText = (value: unknown) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
const isTextOrNull = (value: unknown) => value === null || isText(value);
const isShort = (value: unknown, most: number): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= most;

/** GraphQL.js says which variable and why; the client sees the variable where an argument stands otherwise. */
function badVariable({ message, nodes = [] }: GraphQLError): GraphQLError {
  const node = nodes[0];
  const argument = node?.kind === Kind.VARIABLE_DEFINITION ? { argument: node.variable.name.value } : {};
  return new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT', ...argument } });
}

type ConnectionField = { readonly field: GraphQLField<unknown, unknown>; readonly node: FieldNode };

const connectionFieldsOf = new WeakMap<PreparedDocument['operation'], readonly ConnectionField[]>();

/** The fields of the operation that are connections, each once however often its fragment is spread. */
function connectionFields(
  schema: GraphQLSchema,
  { document, operation }: PreparedDocument,
): readonly ConnectionField[] {
  const known = connectionFieldsOf.get(operation);
  if (known) return known;

  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);

  const found: ConnectionField[] = [];
  const pending: (FragmentDefinitionNode | PreparedDocument['operation'])[] = [operation];
  const seen = new Set<string>();
  for (let next = pending.pop(); next; next = pending.pop()) {
    const typeInfo = new TypeInfo(schema);
    visit(
      next,
      visitWithTypeInfo(typeInfo, {
        Field(node) {
          const field = typeInfo.getFieldDef();
          if (field?.args.some(isPageArgument)) found.push({ field, node });
        },
        FragmentSpread({ name }) {
          const fragment = fragments.get(name.value);
          if (!fragment || seen.has(name.value)) return;
          seen.add(name.value);
          pending.push(fragment);
        },
      }),
    );
  }
  connectionFieldsOf.set(operation, found);
  return found;
}

const isPageArgument = (argument: GraphQLArgument) => argument.name === 'first';
