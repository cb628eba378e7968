import type { Cursors, Place } from './cursors.ts';
import { decodeId, type Entity, idOf } from './ids.ts';
import { comparing, signatureOf } from './orders.ts';
import type { Card, User } from './rows.ts';

/** The arguments of every connection; a list's filters are those of its type. */
export type ConnectionArguments = {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
  readonly orderBy?: readonly string[] | null;
  readonly ids?: readonly string[] | null;
  readonly externalIdentifiers?: readonly string[] | null;
  readonly emails?: readonly string[] | null;
  readonly nfcIdentifiers?: readonly string[] | null;
  readonly beacons?: readonly Beacon[] | null;
};

export type Beacon = { readonly proximityUuid: string; readonly major: number; readonly minor: number };

export type Connection = {
  readonly nodes: readonly Entity[];
  readonly edges: readonly { readonly cursor: Place; readonly node: Entity }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: Place | null;
    readonly endCursor: Place | null;
  };
  readonly totalCount: number;
};

/** How many rows more an answer may have, so that it stays below the limits, which are not the subject. */
export type Budget = { rows: number };

export class TooManyRowsError extends Error {}

/** Takes the rows of a list off the budget. */
export function counted<Row>(rows: readonly Row[], budget: Budget): readonly Row[] {
  budget.rows -= rows.length;
  if (budget.rows < 0) throw new TooManyRowsError();
  return rows;
}

/** Rows of a page unless the client says how many. */
const defaultSize = 100;

/**
 * What a connection shows of the rows that its field has: those that pass every filter, sorted, and of them one slice.
 * `list` is the type's name in the schema; cursors are {@link Place}s, whose texts the comparison knows.
 */
export function connectionOf(
  all: readonly Entity[],
  list: string,
  page: ConnectionArguments,
  { cursors, budget }: { readonly cursors: readonly Cursors[]; readonly budget: Budget },
): Connection {
  const orderBy = page.orderBy ?? [];
  const compare = comparing(orderBy);
  const signature = signatureOf(orderBy);
  const matching = all.filter((entity) => passes(entity, page)).sort(compare);

  const after = placeOf(page.after, cursors);
  const before = placeOf(page.before, cursors);
  const between = matching.filter(
    (entity) =>
      (after === undefined || compare(entity, after.entity) > 0) &&
      (before === undefined || compare(entity, before.entity) < 0),
  );
  const backwards = typeof page.last === 'number';
  const size = page.last ?? page.first ?? defaultSize;
  const nodes = backwards ? between.slice(Math.max(between.length - size, 0)) : between.slice(0, size);

  counted(nodes, budget);
  // A page of no rows says nothing about others.
  const hasMore = size > 0 && between.length > nodes.length;
  const edges = nodes.map((node) => ({ cursor: { list, signature, entity: node }, node }));
  return {
    nodes,
    edges,
    pageInfo: {
      hasNextPage: hasMore && !backwards,
      hasPreviousPage: hasMore && backwards,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: matching.length,
  };
}

/** Filters that are given must all hold; an empty list matches nothing, and null is no filter. */
function passes(entity: Entity, page: ConnectionArguments): boolean {
  const { ids, externalIdentifiers, emails, nfcIdentifiers, beacons } = page;
  const { externalIdentifier, email, nfcIdentifier, ...card } = entity.row as Partial<User & Card>;
  return (
    (ids == null || ids.some((id) => decodeId(id) !== null && id === idOf(entity))) &&
    (externalIdentifiers == null || externalIdentifiers.some((one) => one === externalIdentifier)) &&
    (emails == null || emails.some((one) => one.toLowerCase() === email?.toLowerCase())) &&
    (nfcIdentifiers == null || nfcIdentifiers.some((one) => one.toUpperCase() === nfcIdentifier)) &&
    (beacons == null ||
      beacons.some(
        ({ proximityUuid, major, minor }) =>
          proximityUuid.toLowerCase() === card.proximityUuid && major === card.major && minor === card.minor,
      ))
  );
}

const placeOf = (cursor: string | null | undefined, cursors: readonly Cursors[]): Place | undefined =>
  cursor == null ? undefined : cursors.map((known) => known.placeOf(cursor)).find((place) => place !== undefined);
