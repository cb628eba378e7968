import { readFileSync } from 'node:fs';
import { buildSchema, GraphQLError, type GraphQLFieldResolver, type GraphQLScalarType } from 'graphql';
import { decodeId, encodeId } from '../ids.ts';
import type { AccessGrant, Card, CardAssignment, Unit, User } from '../rows.ts';
import { idOf, type Typed, typed, typedWebhook } from './ids.ts';
import { type Caller, keyOf, type rowsOf, type State, type TypeName } from './state.ts';
import { accessibleUnits, pathOf, validGrants, visible } from './visible.ts';

/** What resolvers are given; mutations replace the state. */
export type GraphContext = { state: State; readonly caller: Caller };

export const schema = buildSchema(readFileSync(new URL('../../graphql/schema.graphql', import.meta.url), 'utf8'));

(schema.getType('UUID') as GraphQLScalarType).parseValue = (value) => {
  const digits = typeof value === 'string' ? value.replaceAll('-', '').toLowerCase() : '';
  if (!/^[0-9a-f]{32}$/.test(digits)) throw new GraphQLError('This is no UUID');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
(schema.getType('UUID') as GraphQLScalarType).parseLiteral = (node) =>
  (schema.getType('UUID') as GraphQLScalarType).parseValue('value' in node ? node.value : null);

type Resolver = (source: never, context: GraphContext, args: Record<string, unknown>) => unknown;

/** Rows without filters and orders, and pages from the front: the rest is another oracle's subject. Lists are compared as sets. */
const resolvers: Readonly<Record<string, Readonly<Record<string, Resolver>>>> = {
  Query: {
    viewer: (_: unknown, { state, caller }) => {
      if (caller.scope !== 'me') throw forbidden();
      return visible(state, caller, 'User').map((user) => typed('User', user))[0] ?? null;
    },
    app: (_: unknown, { caller }) => {
      if (caller.scope !== 'app') throw forbidden();
      return { __typename: 'App' };
    },
    node: (_: unknown, context, { id }) => nodeOf(context, String(id)),
  },
  App: {
    users: (_: unknown, context) => connection(context, 'User'),
    units: (_: unknown, context) => connection(context, 'Unit'),
    rootUnits: (_: unknown, context) => connection(context, 'Unit', ({ parentId }) => parentId === null),
    cards: (_: unknown, context) => connection(context, 'Card'),
    cardAssignments: (_: unknown, context) => connection(context, 'CardAssignment'),
    accessGrants: (_: unknown, context) => connection(context, 'AccessGrant'),
    webhooks: (_: unknown, { state, caller }) =>
      pageOf(state.webhooks.filter(({ organizationId }) => organizationId === caller.organizationId).map(typedWebhook)),
  },
  User: {
    id: (user: User) => idOf('User', user),
    externalAuthenticationToken: (user: User, { caller }) => {
      if (caller.scope !== 'app') throw forbidden();
      return user.externalAuthenticationToken;
    },
    cardAssignments: (user: User, context) => list(context, 'CardAssignment', ({ userId }) => userId === user.id),
    accessGrants: (user: User, context) => connection(context, 'AccessGrant', ({ userId }) => userId === user.id),
    accessibleUnits: (user: User, context, { first }) => {
      const ids = accessibleUnits(context.state, user.id).map(({ id }) => id);
      const units = list(context, 'Unit', ({ id }) => ids.includes(id));
      return pageOf(units, typeof first === 'number' ? first : undefined);
    },
  },
  Unit: {
    id: (unit: Unit) => idOf('Unit', unit),
    parent: (unit: Unit, context) => list(context, 'Unit', ({ id }) => id === unit.parentId)[0] ?? null,
    children: (unit: Unit, context) => connection(context, 'Unit', ({ parentId }) => parentId === unit.id),
    accessGrants: (unit: Unit, context) => connection(context, 'AccessGrant', ({ unitId }) => unitId === unit.id),
    usersWithAccess: (unit: Unit, context) => {
      const isThere = context.state.rows.units.some(({ id }) => id === unit.id);
      const unitIds = isThere ? pathOf(context.state, unit).map(({ id }) => id) : [];
      const grants = validGrants(context.state).filter(({ unitId }) => unitIds.includes(unitId));
      return connection(context, 'User', ({ id }) => grants.some(({ userId }) => userId === id));
    },
  },
  Card: {
    id: (card: Card) => idOf('Card', card),
    cardAssignments: (card: Card, context) => list(context, 'CardAssignment', ({ cardId }) => cardId === card.id),
  },
  CardAssignment: {
    id: (assignment: CardAssignment) => idOf('CardAssignment', assignment),
    user: (assignment: CardAssignment, context) => one(context, 'User', assignment.userId),
    card: (assignment: CardAssignment, context) => one(context, 'Card', assignment.cardId),
  },
  AccessGrant: {
    id: (grant: AccessGrant) => idOf('AccessGrant', grant),
    user: (grant: AccessGrant, context) => one(context, 'User', grant.userId),
    unit: (grant: AccessGrant, context) => one(context, 'Unit', grant.unitId),
  },
  Webhook: { id: (webhook: { id: string }) => encodeId('Webhook', webhook.id) },
};

const cardTypes = ['BeaconCard', 'NfcCard', 'IdentificationCode'];

/** Resolves a field by its type's table, or as the property of its name. */
export const resolveField: GraphQLFieldResolver<Record<string, unknown>, GraphContext> = (
  source,
  args,
  context,
  info,
) => {
  const type = cardTypes.includes(info.parentType.name) ? 'Card' : info.parentType.name;
  const resolver = resolvers[type]?.[info.fieldName];
  return resolver ? resolver(source as never, context, args) : source[info.fieldName];
};

export const resolveType = (value: unknown): string => (value as Typed).__typename;

export const forbidden = () => new GraphQLError('', { extensions: { code: 'FORBIDDEN' } });

function list<Type extends TypeName>(context: GraphContext, type: Type, holds: (row: RowOf<Type>) => boolean): Typed[] {
  return visible(context.state, context.caller, type)
    .filter((row) => holds(row))
    .map((row) => typed(type, row));
}

function connection<Type extends TypeName>(
  context: GraphContext,
  type: Type,
  holds: (row: RowOf<Type>) => boolean = () => true,
) {
  return pageOf(list(context, type, holds));
}

/** The first of these in the order of their ids. */
function pageOf(rows: Typed[], first = rows.length) {
  const nodes = rows.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, first);
  const pageInfo = { hasNextPage: rows.length > first };
  return { nodes, edges: nodes.map((node) => ({ node })), totalCount: rows.length, pageInfo };
}

type RowOf<Type extends TypeName> = ReturnType<typeof rowsOf<Type>>[number];

const one = (context: GraphContext, type: 'User' | 'Card' | 'Unit', key: string) =>
  list(context, type, ({ id }) => id === key)[0];

function nodeOf(context: GraphContext, id: string): Typed | null {
  const decoded = decodeId(id);
  if (!decoded) return null;
  const type = cardTypes.includes(decoded.typeName) ? 'Card' : decoded.typeName;
  if (type === 'Webhook') {
    const { organizationId, scope } = context.caller;
    const found = context.state.webhooks.find((webhook) => webhook.id === decoded.key);
    return found && scope === 'app' && found.organizationId === organizationId ? typedWebhook(found) : null;
  }
  if (!['User', 'Unit', 'Card', 'CardAssignment', 'AccessGrant'].includes(type)) return null;
  const key = decoded.key;
  const found = visible(context.state, context.caller, type as TypeName).find((row) => keyOf(row) === key);
  const row = found && typed(type as TypeName, found);
  return row?.__typename === decoded.typeName ? row : null;
}
