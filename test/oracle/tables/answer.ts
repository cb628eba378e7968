import type { Connection, Field, Filter, Known, Root, Who } from './checks.ts';
import { keysOf, ownerOf } from './render.ts';
import { type Item, isKnownVisible, isVisible, keyOfKnown, type Source, type State } from './state.ts';

/** A value that the specification leaves to the service: a cursor, and `hasPreviousPage` of `first` or `hasNextPage` of `last`. */
export const anyCursor = Symbol('a cursor');
export const anyBoolean = Symbol('true or false');

/** A row of a drawn table, or a unit or user by its number. */
type Holder = { readonly source: string; readonly item: Item | null; readonly place: number };

/** What a document is to be answered with, by the rows and the rules of the guide. */
export function answerOf(roots: readonly Root[], who: Who, state: State): Record<string, unknown> {
  return Object.fromEntries(roots.map((root, index) => [`r${index}`, answerRoot(root, who, state)]));
}

function answerRoot(root: Root, who: Who, state: State): unknown {
  if (root.kind === 'app') return select(root.selection, null, who, state);
  if (root.kind === 'viewer') return select(root.selection, { source: 'users', item: null, place: 0 }, who, state);
  const holder = holderOf(root.of.source, markFor(root.of, who, state), who, state);
  if (!holder) return null;
  const fixed: Record<string, string> = { units: 'Unit', users: 'User' };
  const typename = fixed[root.of.source] ?? holder.item?.typename;
  return { __typename: typename, ...select(root.selection, holder, who, state) };
}

/**
 * The mark of the organization's row with this id. Rows of two organizations have the same id if their keys are equal, such as 2.5 and
 * 2.50, and their types are; of a view, if the ids are equal.
 */
export function markFor({ source, organization, mark }: Known, who: Who, { sources, ids }: State): number | null {
  if (organization === who.organization) return mark;
  const known = sources.get(source);
  if (!known) return null;
  const other = known.rows.find((row) => row.organization === organization && row.mark === mark);
  const idOf = (row: Item) => ids.get(keyOfKnown({ source, organization: row.organization, mark: row.mark }));
  const isSame = (row: Item) =>
    known.isView
      ? other !== undefined && idOf(row) === idOf(other)
      : row.ranks.KEY === other?.ranks.KEY && row.typename === other?.typename;
  return known.rows.find((row) => row.organization === who.organization && isSame(row))?.mark ?? null;
}

/** The row with the mark, if there is one that the token shows. */
export function holderOf(source: string, mark: number | null, who: Who, state: State): Holder | null {
  if (mark === null) return null;
  if (source === 'units' || source === 'users')
    return isKnownVisible(source, mark, who.scope) ? { source, item: null, place: mark } : null;
  const known = state.sources.get(source);
  const item = known?.rows.find((row) => row.organization === who.organization && row.mark === mark);
  return known && item && isVisible(known, item, who) ? { source, item, place: mark } : null;
}

export function select(
  fields: readonly Field[],
  holder: Holder | null,
  who: Who,
  state: State,
): Record<string, unknown> {
  const keys = keysOf(fields, state);
  const entries = fields.flatMap((field, index): [string, unknown][] => {
    if (field.kind === 'column' && holder?.item) {
      const source = state.sources.get(holder.source);
      const owner = source && !source.isView ? ownerOf(source, field.column) : undefined;
      if (owner && owner !== holder.item.typename) return [];
    }
    return [[keys[index] ?? '', answerField(field, holder, who, state)]];
  });
  // A selection of nothing is written as `__typename`.
  return Object.fromEntries(
    fields.length > 0 ? entries : [['__typename', answerField({ kind: 'typename' }, holder, who, state)]],
  );
}

function answerField(field: Field, holder: Holder | null, who: Who, state: State): unknown {
  const item = holder?.item;
  const { organization } = who;
  switch (field.kind) {
    case 'typename':
      return item?.typename ?? (holder ? { units: 'Unit', users: 'User' }[holder.source] : 'App');
    case 'id':
      return state.ids.get(keyOfKnown({ source: holder?.source ?? '', organization, mark: holder?.place ?? 0 }));
    case 'mark':
      return item?.mark;
    case 'externalIdentifier':
      return `${holder?.source === 'units' ? 'u' : 'p'}${holder?.place}`;
    case 'column':
      return item?.values[field.column];
    case 'forward': {
      const reference = state.sources
        .get(holder?.source ?? '')
        ?.table.references.find(({ name }) => name === field.reference);
      const target = holderOf(reference?.target ?? '', item?.references[field.reference] ?? null, who, state);
      return target && select(field.selection, target, who, state);
    }
    case 'call':
      return call(field, holder, who, state);
    case 'connection':
      return answerConnection(field, holder, who, state);
  }
}

/** What the functions of `sql.ts` return. */
function call(field: Field & { kind: 'call' }, holder: Holder | null, who: Who, state: State): unknown {
  const source = state.sources.get(holder?.source ?? '');
  const item = holder?.item;
  if (!source || !item) return undefined;
  const given = field.arguments;
  switch (field.name) {
    case 'label':
      return [item.mark, ...source.columns.map(({ name }) => (item.texts[name] === null ? 't' : 'f'))].join('|');
    case 'sum': {
      const by = 'by' in given ? given.by : 3;
      return [...(by === null ? [] : [item.mark + Number(by)]), ...(given.word == null ? [] : [given.word])].join('|');
    }
    case 'words': {
      const times = 'times' in given ? Number(given.times ?? 0) : 2;
      return Array.from({ length: Math.max(times, 0) }, (_, n) => `w${n + 1}`);
    }
    case 'next': {
      const later = source.rows.filter((row) => row.mark > item.mark && isVisible(source, row, who));
      const [next] = later.toSorted((one, other) => one.mark - other.mark);
      return next ? select(field.selection, { source: source.name, item: next, place: next.mark }, who, state) : null;
    }
  }
  return undefined;
}

/** Every row of a connection, in its order. */
export function rowsOf(field: Connection, holder: Holder | null, who: Who, state: State): Item[] {
  const source = sourceOf(field.source, state);
  const { via } = field;
  const order = orderOf(field, who, state);
  return source.rows
    .filter((row) => isVisible(source, row, who))
    .filter((row) => {
      if (via.kind === 'backward') return row.references[via.reference] === holder?.place;
      if (via.kind === 'conditional') return row.references[via.reference] === holder?.place && row.mark > 40;
      if (via.kind === 'call') return row.mark >= (via.minimum ?? holder?.item?.mark ?? 0);
      return true;
    })
    .filter(
      (row) => !field.ids || field.ids.some((id) => id.source === source.name && markFor(id, who, state) === row.mark),
    )
    .filter((row) =>
      field.filters.every((filter) => state.matches.get(keyOfFilter(source, filter))?.has(keyOfRow(row))),
    )
    .toSorted((one, other) => (order.get(one.mark) ?? 0) - (order.get(other.mark) ?? 0));
}

export const keyOfRow = ({ organization, mark }: Item) => organization * 1000 + mark;
export const keyOfFilter = (source: Source, { column, operator, texts }: Filter) =>
  JSON.stringify([source.table.name, column, operator, texts]);
export const keyOfOrder = (source: string, orderBy: readonly string[], organization: number) =>
  JSON.stringify([source, orderBy, organization]);

function orderOf({ source, orderBy }: Connection, { organization }: Who, state: State): ReadonlyMap<number, number> {
  const order = state.orders.get(keyOfOrder(source, orderBy, organization));
  if (!order) throw new Error(`The order ${orderBy} of ${source} has not been read.`);
  return order;
}

function sourceOf(name: string, { sources }: State): Source {
  const source = sources.get(name);
  if (!source) throw new Error(`There is no ${name}.`);
  return source;
}

function answerConnection(field: Connection, holder: Holder | null, who: Who, state: State): Record<string, unknown> {
  const all = rowsOf(field, holder, who, state);
  const { first, last } = field.page;
  const rows = last === undefined ? all.slice(0, first ?? 100) : last === 0 ? [] : all.slice(-last);
  const nodes = rows.map((item) =>
    select(field.selection, { source: field.source, item, place: item.mark }, who, state),
  );
  const end = rows.length > 0 ? anyCursor : null;
  return {
    ...(field.wants.includes('totalCount') && { totalCount: all.length }),
    ...(field.wants.includes('pageInfo') && {
      pageInfo: {
        hasNextPage: first === 0 ? anyBoolean : last === undefined && all.length > rows.length,
        hasPreviousPage: last === 0 ? anyBoolean : last !== undefined && all.length > rows.length,
        startCursor: end,
        endCursor: end,
      },
    }),
    ...(field.wants.includes('edges') ? { edges: nodes.map((node) => ({ cursor: anyCursor, node })) } : { nodes }),
  };
}
