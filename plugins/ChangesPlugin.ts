import {
  access,
  context,
  type FieldArgs,
  type GrafastSubscriber,
  lambda,
  list,
  listen,
  type Step,
} from 'postgraphile/grafast';
import { parse } from 'postgraphile/graphql';
import { extendSchema, gql } from 'postgraphile/utils';
import type { Naming } from './ChangeNamingPlugin.ts';
import { defaultPageSize } from './ConnectionArgumentsPlugin.ts';
import { type CursorKeys, encodePosition, type FeedChange, readEnd, readFeed, startOf } from './changeFeed.ts';
import { assertScope } from './RootFieldsPlugin.ts';

declare global {
  namespace Grafast {
    interface Context {
      /** The changes of a subscription that are wanted, each once it is certain. `after` is a cursor of the feed. */
      readonly followChanges?: (
        after: string | null | undefined,
        isWanted: (change: FeedChange) => boolean,
      ) => Promise<AsyncGenerator<FeedChange>>;
    }
  }
}

/**
 * The change feed, feed.changes in the order of transactions, as pages and as a stream.
 * Migrations add tables to it by feed.follow. A change's type, id and fields follow from the schema.
 */
export const ChangesPlugin: GraphileConfig.Plugin = extendSchema((build) => {
  const { changeNaming } = build as GraphileBuild.Build;

  return {
    typeDefs: [
      followedTypeEnum([...changeNaming.followedTypes.keys()]),
      gql`
      extend type App {
        """What has changed in the organization, oldest first, up to what is certain. Changes are kept for 30 days."""
        changes(
          """Only changes after this cursor, of a change or of the end of a page."""
          after: Cursor
          """Only the first \`n\` changes: at most 1,000; 100 by default. With 0 the end cursor is the present."""
          first: Int
          """Only changes of these types. An empty list matches nothing. A page may then have less changes than \`first\` though there are more: go on from its end cursor."""
          typeNames: [FollowedType!]
        ): ChangeConnection!
      }

      extend type Subscription {
        """What changes in the organization, oldest first, from now on. Needs an app token (scope \`app\`)."""
        changes(
          """Also what has changed after this cursor."""
          after: Cursor
          """Only changes of these types. An empty list matches nothing."""
          typeNames: [FollowedType!]
        ): Change!
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
        """Position of the change in the feed."""
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
        """Position in the feed: what to go on from when it has been dealt with."""
        cursor: Cursor!
        """What happened."""
        operation: ChangeOperation!
        """The type of the object."""
        typeName: FollowedType!
        """The id of the object."""
        id: ID!
        """The ids of the objects that it refers to, as they were when it changed: of a grant those of the user and the unit."""
        relatedIds: [ID!]!
        """The object as it is now; null when it is gone."""
        node: Node
        """Of an update, the names of the fields that changed; else none."""
        fields: [String!]!
        """When it was written."""
        at: Datetime!
      }
    `,
    ],
    objects: {
      App: {
        plans: {
          changes(_$app: Step, args: FieldArgs) {
            const $arguments = list([
              context(),
              ...['after', 'first', 'typeNames'].map((name) => args.getRaw(name)),
            ] as never) as Step<Arguments>;
            return lambda($arguments, pageOf(changeNaming));
          },
        },
      },
      Subscription: {
        plans: {
          changes: {
            subscribePlan: (_$root: Step, args: FieldArgs) =>
              listen(
                lambda(context(), subscriberOf(changeNaming)),
                lambda(list([args.getRaw('after'), args.getRaw('typeNames')]), topicOf, true) as Step<never>,
              ),
            plan: ($change: Step) =>
              lambda(
                list([context(), $change as Step<FeedChange>]),
                ([graph, change]) => presentChange(change, changeNaming, graph),
                true,
              ),
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
  };
}, 'ChangesPlugin');

/** The enum of the followed types, the next team's too. */
function followedTypeEnum(names: readonly string[]) {
  const values = names.map((name) => `"""Changes of ${name} objects.""" ${name}`);
  return parse(`"""The types of objects whose changes are followed.""" enum FollowedType { ${values.join(' ')} }`);
}

type Arguments = readonly [
  Grafast.Context,
  after: string | null | undefined,
  first: number | null | undefined,
  typeNames: TypeNames,
];

type TypeNames = readonly string[] | null | undefined;

/** Those of the types as the feed has them; null for all. */
const rowsOf = ({ followedTypes }: Naming, typeNames: TypeNames) =>
  typeNames?.flatMap((name) => followedTypes.get(name) ?? []) ?? null;

const pageOf =
  (naming: Naming) =>
  async ([graph, after, first, typeNames]: Arguments) => {
    const size = first ?? defaultPageSize;
    const start = startOf(graph, after);
    const { changes, end, isWhole } =
      size === 0 && !start
        ? { changes: [], end: await readEnd(graph), isWhole: true }
        : await readFeed(graph, start, size + 1, rowsOf(naming, typeNames));
    const hasMore = changes.length > size;
    const nodes = changes.slice(0, size).map((change) => presentChange(change, naming, graph));
    graph.countRows?.(nodes.length);
    return {
      nodes,
      edges: nodes.map(toEdge),
      pageInfo: {
        // An empty page has no row to go back to. Its end is the position behind all that is certain.
        hasPreviousPage: false,
        hasNextPage: hasMore || !isWhole,
        startCursor: nodes[0]?.cursor ?? null,
        // Behind the last change that was looked at, of whatever type.
        endCursor: (hasMore && nodes.at(-1)?.cursor) || (size > 0 || !start ? encodePosition(end, graph) : after),
      },
    };
  };

/** The source of events for `listen`. @throws `FORBIDDEN` unless the token has scope `app` */
const subscriberOf =
  (naming: Naming) =>
  ({ scopes, followChanges }: Grafast.Context): GrafastSubscriber<Record<string, FeedChange>> => {
    assertScope(scopes, 'app');
    if (!followChanges) throw new Error('A subscription was executed without followChanges in its context');
    const subscribe = ({ after, typeNames }: ReturnType<typeof topicOf>) =>
      followChanges(after, (change) => !typeNames || typeNames.includes(naming.typeOf(change)));
    return { subscribe: subscribe as never };
  };

const topicOf = ([after, typeNames]: readonly [string | null | undefined, TypeNames]) => ({ after, typeNames });

/** A change as the graph shows it; `node` is fetched by its id. */
export type Change = {
  readonly cursor: string;
  readonly operation: string;
  readonly typeName: string;
  readonly id: string;
  readonly fields: readonly string[];
  readonly relatedIds: readonly string[];
  readonly at: string;
};

/** Its cursor is made when it is asked for, since a page may have many changes, and each cursor is an HMAC. */
export function presentChange(change: FeedChange, naming: Naming, keys: Pick<CursorKeys, 'cursorChecksum'>): Change {
  const { operation, at } = change;
  return {
    get cursor() {
      return encodePosition(change, keys);
    },
    operation,
    ...naming.describe(change),
    at,
  };
}

const toEdge = (node: Change) => ({
  get cursor() {
    return node.cursor;
  },
  node,
});
