import type { PgCodec, PgCodecWithAttributes } from 'postgraphile/@dataplan/pg';
import { access, context, type FieldArgs, lambda, list, type Step } from 'postgraphile/grafast';
import { type GraphQLObjectType, isObjectType } from 'postgraphile/graphql';
import { extendSchema, gql } from 'postgraphile/utils';
import { defaultPageSize } from './ConnectionArgumentsPlugin.ts';
import { decodePosition, encodePosition, type FeedPosition } from './changeCursor.ts';
import { encodeNodeId } from './NodeIdPlugin.ts';
import { refusal } from './refusal.ts';

/**
 * The change feed: `App.changes`, pages of graph.changes in the order of transactions.
 * Tables are added to it by graph.follow, in migrations. Which type a change is of, its id and its fields follow from the schema.
 */
export const ChangesPlugin: GraphileConfig.Plugin = extendSchema(
  (build) => ({
    typeDefs: gql`
      extend type App {
        """What has changed in the organization, oldest first, up to what is certain. Changes are kept for 30 days."""
        changes(
          """Only changes after this cursor, of a change or of the end of a page."""
          after: Cursor
          """Only the first \`n\` changes: at most 1,000; 100 by default. With 0 the end cursor is the present."""
          first: Int
        ): ChangeConnection!
      }

      """Changes, oldest first."""
      type ChangeConnection {
        """The changes."""
        nodes: [Change!]!
        """The changes with their cursors."""
        edges: [ChangeEdge!]!
        """Whether there is more, and the cursor to go on from."""
        pageInfo: PageInfo!
      }

      """A change and its cursor."""
      type ChangeEdge {
        """Where the change is in the feed."""
        cursor: Cursor!
        """The change."""
        node: Change!
      }

      """What happened to an object."""
      enum ChangeOperation {
        """It is new."""
        CREATE
        """Some of its fields have other values."""
        UPDATE
        """It is gone."""
        DELETE
      }

      """A change of an object."""
      type Change {
        """Where it is in the feed: what to go on from when it has been dealt with."""
        cursor: Cursor!
        """What happened."""
        operation: ChangeOperation!
        """The type of the object."""
        typeName: String!
        """The id of the object."""
        id: ID!
        """The object as it is now; null when it is gone."""
        node: Node
        """Of an update, the names of the fields that changed; else none."""
        fields: [String!]!
        """When it was written."""
        at: Datetime!
      }
    `,
    objects: {
      App: {
        plans: {
          changes(_$app: Step, args: FieldArgs) {
            const $arguments = list([context(), args.getRaw('after'), args.getRaw('first')]);
            return lambda($arguments, pagesOf(createNaming(build as GraphileBuild.Build)));
          },
        },
      },
      Change: {
        plans: {
          // Fetched by its id, as `Query.node` is, under the same policies.
          node: ($change: Step) => access($change, 'id'),
        },
      },
    },
  }),
  'ChangesPlugin',
);

type Arguments = readonly [Grafast.Context, after: string | null | undefined, first: number | null | undefined];

const pagesOf =
  (naming: Naming) =>
  async ([graph, after, first]: Arguments) => {
    const size = first ?? defaultPageSize;
    const { changes, end } = await readChanges(graph, naming, startOf(graph, after), size + 1);
    const nodes = changes.slice(0, size);
    graph.countRows?.(nodes.length);
    return {
      nodes,
      edges: nodes.map((node) => ({ cursor: node.cursor, node })),
      pageInfo: {
        // Without a row there is nothing to go back to, and with none the page ends where what is certain ends.
        hasPreviousPage: false,
        hasNextPage: changes.length > size,
        startCursor: nodes[0]?.cursor ?? null,
        endCursor: nodes.at(-1)?.cursor ?? (size > 0 || after == null ? end : after),
      },
    };
  };

/** @throws `BAD_USER_INPUT` when it is no cursor of the organization's feed */
function startOf({ organizationId }: Grafast.Context, after: string | null | undefined): FeedPosition | null {
  if (after == null) return null;
  const position = decodePosition(after);
  if (position?.organizationId === organizationId) return position;
  throw refusal('BAD_USER_INPUT', 'after: not a cursor of this feed.', { argument: 'after' });
}

/** A change as the graph shows it; `node` is its id. */
export type Change = {
  readonly cursor: string;
  readonly operation: string;
  readonly typeName: string;
  readonly id: string;
  readonly fields: readonly string[];
  readonly at: string;
};

/**
 * The next changes after a position, at most `count`, and the cursor of the end of what is certain.
 *
 * @throws `CURSOR_EXPIRED` when the position is older than what is kept, or of a database before it was restored
 */
export async function readChanges(
  graph: Grafast.Context,
  naming: Naming,
  after: FeedPosition | null,
  count: number,
): Promise<{ changes: readonly Change[]; end: string }> {
  const { organizationId } = graph;
  const { rows } = await graph.withPgClient(graph.pgSettings, (client) =>
    client.query<FeedPage>({
      text: pageOfFeed,
      values: [after?.atMs ?? 0, after?.horizon ?? '0', after?.id ?? '0', count],
    }),
  );
  const [page] = rows;
  if (!page) throw new Error('graph.position has no row');
  const { origin } = page;
  if (after && (after.origin !== origin || after.atMs < page.oldestMs || BigInt(after.horizon) > BigInt(page.horizon)))
    throw refusal('CURSOR_EXPIRED', 'This cursor is older than what is kept; read everything and begin anew.', {
      argument: 'after',
    });
  const feed = { origin, organizationId };
  const changes = (page.changes ?? []).map((row) => changeOf(row, feed, naming));
  return { changes, end: encodePosition({ ...feed, atMs: page.atMs, horizon: page.horizon, id: '0' }) };
}

/** A row of graph.changes as the graph shows it. */
export function changeOf(row: FeedRow, feed: Pick<FeedPosition, 'origin' | 'organizationId'>, naming: Naming): Change {
  const { horizon, operation, at } = row;
  const typeName = naming.typeOf(row);
  return {
    cursor: encodePosition({ ...feed, atMs: Date.parse(at), horizon, id: String(row.id) }),
    operation,
    typeName,
    id: encodeNodeId([typeName, ...row.key]) ?? '',
    fields: naming.fieldsOf(row),
    at,
  };
}

/** `at` and the horizon say where the page ends when it is not full. */
type FeedPage = {
  readonly origin: string;
  readonly horizon: string;
  readonly atMs: number;
  readonly oldestMs: number;
  readonly changes: readonly FeedRow[] | null;
};

export type FeedRow = {
  readonly horizon: string;
  readonly id: number;
  readonly at: string;
  readonly relation: string;
  readonly type: string | null;
  readonly key: readonly unknown[];
  readonly operation: string;
  readonly columns: readonly string[];
};

const pageOfFeed = `
  select
    p.origin, p.horizon, floor(extract(epoch from p.at) * 1000)::float8 as "atMs",
    floor(extract(epoch from p.oldest) * 1000)::float8 as "oldestMs",
    (select json_agg(c) from graph.changes_after(to_timestamp($1::float8 / 1000), $2, $3, $4) as c) as changes
  from graph.position() as p`;

/** What tables and columns are called in the graph. */
export type Naming = {
  typeOf(row: Pick<FeedRow, 'relation' | 'type'>): string;
  fieldsOf(row: Pick<FeedRow, 'relation' | 'type' | 'columns'>): readonly string[];
  /** Every type that rows of a relation may have. */
  typesOf(relation: string): readonly string[];
};

export function createNaming(build: GraphileBuild.Build): Naming {
  const codecs = new Map<string, PgCodec>();
  for (const { codec, parameters } of Object.values(build.pgResources)) {
    const { schemaName, name } = codec.extensions?.pg ?? {};
    if (!parameters && codec.attributes) codecs.set(`${schemaName}.${name}`, codec);
  }
  const fieldsByColumn = new Map<string, ReadonlyMap<string, string>>();

  const codecOf = (relation: string) => {
    const codec = codecs.get(relation);
    if (!codec) throw new Error(`graph.follow was called for ${relation}, which is not in the graph`);
    return codec;
  };
  const typeOf: Naming['typeOf'] = ({ relation, type }) => {
    const codec = codecOf(relation);
    if (type === null || codec.polymorphism?.mode !== 'single') return build.inflection.tableType(codec as never);
    return codec.polymorphism.types[type]?.name ?? type;
  };
  return {
    typeOf,
    typesOf(relation) {
      const { polymorphism } = codecOf(relation);
      const types = polymorphism?.mode === 'single' ? Object.keys(polymorphism.types) : [null];
      return types.map((type) => typeOf({ relation, type }));
    },
    fieldsOf(row) {
      const typeName = typeOf(row);
      const known = fieldsByColumn.get(typeName) ?? fieldNames(build, codecOf(row.relation), typeName);
      fieldsByColumn.set(typeName, known);
      return [...new Set(row.columns.flatMap((column) => known.get(column) ?? []))].sort();
    },
  };
}

/** By column the field that shows it: the column's own, that of the object it refers to, or the one it is a part of. */
function fieldNames(build: GraphileBuild.Build, codec: PgCodec, typeName: string): ReadonlyMap<string, string> {
  const type = build.getTypeByName(typeName);
  const shown = isObjectType(type) ? (type as GraphQLObjectType).getFields() : {};
  const relations = Object.entries(build.input.pgRegistry.pgRelations[codec.name] ?? {}).filter(
    ([, { isReferencee }]) => !isReferencee,
  );
  const names = Object.entries((codec as PgCodecWithAttributes).attributes).flatMap(([attributeName, attribute]) => {
    const referring = relations.filter(([, { localAttributes }]) => localAttributes.includes(attributeName));
    const candidates = [
      attribute.extensions?.tags?.partOf as string | undefined,
      build.inflection.attribute({ codec, attributeName } as never),
      ...referring.map(([relationName]) =>
        build.inflection.singleRelation({ registry: build.input.pgRegistry, codec, relationName } as never),
      ),
    ];
    const name = candidates.find((candidate) => candidate !== undefined && candidate in shown);
    return name === undefined || name === 'id' ? [] : [[attributeName, name] as const];
  });
  return new Map(names);
}
