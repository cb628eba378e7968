import { buildSchema, GraphQLError, type GraphQLSchema, isObjectType } from 'graphql';
import type { Caller, Sight } from './access.ts';
import { type Budget, type ConnectionArguments, connectionOf, counted } from './connection.ts';
import type { Cursors, Place } from './cursors.ts';
import { type Decision, type DecisionArguments, decisionOf } from './decision.ts';
import {
  accessGrantOf,
  cardAssignmentOf,
  cardOf,
  decodeId,
  type Entity,
  encodeId,
  idOf,
  unitOf,
  userOf,
} from './ids.ts';
import type { AccessGrant, Card, CardAssignment, Unit, User } from './rows.ts';

/** `cursors` are those of the own organization, then others'. */
export type Context = {
  readonly sight: Sight;
  readonly caller: Caller;
  readonly cursors: readonly Cursors[];
  readonly budget: Budget;
};

type Resolvers = {
  [type: string]: { [field: string]: (source: never, page: never, context: Context) => unknown };
};

const plain = (source: { row: object }, name: string) => (source.row as Record<string, unknown>)[name];
/** Fields that are columns of the same name. */
const columns = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, (source: { row: object }) => plain(source, name)]));
const id = { id: (source: Entity) => idOf(source) };

const byKey = <Row>(rows: readonly Row[], wanted: (row: Row) => boolean, entityOf: (row: Row) => Entity): Entity[] =>
  rows.filter(wanted).map(entityOf);

const card = {
  ...id,
  ...columns('name', 'externalIdentifier', 'createdAt', 'updatedAt'),
  cardAssignments: ({ row }: { row: Card }, _: never, context: Context) =>
    counted(
      byKey(context.sight.cardAssignments, ({ cardId }) => cardId === row.id, cardAssignmentOf),
      context.budget,
    ),
};

/** One function for each field of the schema, of the row, the arguments and what the caller sees. */
export const resolvers: Resolvers = {
  Query: {
    app: (_: never, _page: never, { caller }: Context) => (caller.kind === 'app' ? { caller } : forbidden()),
    viewer(_: never, _page: never, { sight, caller }: Context) {
      if (caller.kind !== 'person') return forbidden();
      return userOf(found(sight.users, (row) => row.id === caller.userId));
    },
    node: (_: never, page: { id: string }, { sight }: Context) => nodeOf(page.id, sight),
  },
  App: {
    name: ({ caller }: { caller: Extract<Caller, { kind: 'app' }> }) => caller.applicationName,
    users: (_: never, page: ConnectionArguments, context: Context) =>
      connectionOf(context.sight.users.map(userOf), 'User', page, context),
    units: (_: never, page: ConnectionArguments, context: Context) =>
      connectionOf(context.sight.units.map(unitOf), 'Unit', page, context),
    rootUnits: (_: never, page: ConnectionArguments, context: Context) =>
      connectionOf(
        byKey(context.sight.units, ({ parentId }) => parentId === null, unitOf),
        'Unit',
        page,
        context,
      ),
    cards: (_: never, page: ConnectionArguments, context: Context) =>
      connectionOf(context.sight.cards.map(cardOf), 'Card', page, context),
    cardAssignments: (_: never, page: ConnectionArguments, context: Context) =>
      connectionOf(context.sight.cardAssignments.map(cardAssignmentOf), 'CardAssignment', page, context),
    accessGrants: (_: never, page: ConnectionArguments, context: Context) =>
      connectionOf(context.sight.accessGrants.map(accessGrantOf), 'AccessGrant', page, context),
    accessDecision: (_: never, asked: DecisionArguments, { sight }: Context) => decisionOf(sight, asked),
    // None is made in the drawn organizations.
    webhooks: (_: never, page: ConnectionArguments, context: Context) => connectionOf([], 'Webhook', page, context),
  },
  User: {
    ...id,
    ...columns('fullName', 'email', 'locale', 'timeZone', 'externalIdentifier', 'createdAt', 'updatedAt'),
    externalAuthenticationToken: ({ row }: { row: User }, _: never, { caller }: Context) =>
      caller.kind === 'app' ? row.externalAuthenticationToken : forbidden(),
    cardAssignments: ({ row }: { row: User }, _: never, context: Context) =>
      counted(
        byKey(context.sight.cardAssignments, ({ userId }) => userId === row.id, cardAssignmentOf),
        context.budget,
      ),
    accessGrants: ({ row }: { row: User }, page: ConnectionArguments, context: Context) =>
      connectionOf(
        byKey(context.sight.accessGrants, ({ userId }) => userId === row.id, accessGrantOf),
        'AccessGrant',
        page,
        context,
      ),
    accessibleUnits: ({ row }: { row: User }, page: ConnectionArguments, context: Context) =>
      connectionOf(
        byKey(context.sight.units, (unit) => context.sight.mayEnter(row.id, unit.id), unitOf),
        'Unit',
        page,
        context,
      ),
  },
  Unit: {
    ...id,
    ...columns('name', 'externalIdentifier', 'createdAt', 'updatedAt'),
    parent({ row }: { row: Unit }, _: never, { sight }: Context) {
      const parent = sight.units.find((unit) => unit.id === row.parentId);
      return parent ? unitOf(parent) : null;
    },
    children: ({ row }: { row: Unit }, page: ConnectionArguments, context: Context) =>
      connectionOf(
        byKey(context.sight.units, ({ parentId }) => parentId === row.id, unitOf),
        'Unit',
        page,
        context,
      ),
    accessGrants: ({ row }: { row: Unit }, page: ConnectionArguments, context: Context) =>
      connectionOf(
        byKey(context.sight.accessGrants, ({ unitId }) => unitId === row.id, accessGrantOf),
        'AccessGrant',
        page,
        context,
      ),
    usersWithAccess: ({ row }: { row: Unit }, page: ConnectionArguments, context: Context) =>
      connectionOf(
        byKey(context.sight.users, (user) => context.sight.mayEnter(user.id, row.id), userOf),
        'User',
        page,
        context,
      ),
  },
  NfcCard: { ...card, ...columns('nfcIdentifier') },
  BeaconCard: { ...card, ...columns('proximityUuid', 'major', 'minor') },
  IdentificationCode: card,
  CardAssignment: {
    ...id,
    ...columns('createdAt'),
    card: ({ row }: { row: CardAssignment }, _: never, { sight }: Context) =>
      cardOf(found(sight.cards, (one) => one.id === row.cardId)),
    user: ({ row }: { row: CardAssignment }, _: never, { sight }: Context) =>
      userOf(found(sight.users, (one) => one.id === row.userId)),
  },
  Webhook: { ...id, ...columns('url', 'typeNames', 'enabled', 'createdAt') },
  AccessDecision: {
    isAllowed: (decision: Decision) => decision.isAllowed,
    reason: (decision: Decision) => decision.reason,
    user: (decision: Decision) => decision.user,
    unit: (decision: Decision) => decision.unit,
    card: (decision: Decision) => decision.card,
    accessGrant: (decision: Decision) => decision.accessGrant,
  },
  AccessGrant: {
    ...id,
    ...columns('source', 'validFrom', 'validUntil', 'createdAt'),
    user: ({ row }: { row: AccessGrant }, _: never, { sight }: Context) =>
      userOf(found(sight.users, (one) => one.id === row.userId)),
    unit: ({ row }: { row: AccessGrant }, _: never, { sight }: Context) =>
      unitOf(found(sight.units, (one) => one.id === row.unitId)),
  },
};

/** The SDL with {@link resolvers}; connections and pages are plain objects, in which a cursor is a text that names its place. */
export function executableSchema(sdl: string): GraphQLSchema {
  const schema = buildSchema(sdl);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const [name, field] of Object.entries(type.getFields())) {
      const resolver = resolvers[type.name]?.[name];
      if (resolver) field.resolve = (source, page, context) => resolver(source as never, page as never, context);
      if (String(field.type).replace('!', '') === 'Cursor') {
        field.resolve = (source: Record<string, Place | null>, _, { cursors }: Context) =>
          source[name] ? cursors[0]?.mention(source[name]) : null;
      }
    }
  }
  return schema;
}

function nodeOf(global: string, sight: Sight): Entity | null {
  const decoded = decodeId(global);
  if (!decoded) return null;
  const all: Entity[] = [
    ...sight.users.map(userOf),
    ...sight.units.map(unitOf),
    ...sight.cards.map(cardOf),
    ...sight.cardAssignments.map(cardAssignmentOf),
    ...sight.accessGrants.map(accessGrantOf),
  ];
  const wanted = encodeId(decoded.typeName, decoded.key);
  return all.find((entity) => idOf(entity) === wanted) ?? null;
}

function found<Row>(rows: readonly Row[], wanted: (row: Row) => boolean): Row {
  const row = rows.find(wanted);
  if (!row) throw new Error('A row refers to one that its reader does not see.');
  return row;
}

function forbidden(): never {
  throw new GraphQLError('The token has another scope.', { extensions: { code: 'FORBIDDEN' } });
}
