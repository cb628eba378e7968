import {
  listOfCodec,
  type PgCodec,
  type PgCodecAttribute,
  type PgCodecWithAttributes,
  type PgSelectQueryBuilder,
  TYPES,
} from 'postgraphile/@dataplan/pg';
import type { PgAttribute, PgIndex } from 'postgraphile/graphile-build-pg/pg-introspection';
import { sql } from 'postgraphile/pg-sql2';
import { baseOf, withoutDomain } from './values.ts';

declare global {
  namespace DataplanPg {
    interface PgCodecAttributeExtensions {
      /** Whether a B-tree has the column, or could have it if it is a view's. */
      isSorted?: boolean;
      /** Whether the text is never empty, and an index has it with `''` in place of null. */
      isSortedAsText?: boolean;
    }
  }
}

/**
 * Keyset pagination by any column that a B-tree can order, and by every column of a view.
 * Each order is total: it ends in the key. PostGraphile assumes that a unique column has no ties, despite nulls. It looks for nulls on the
 * wrong side of a cursor, and writes some types into cursors in a form that it cannot read. Paging to the end would leave rows out.
 */
export const OrdersPlugin: GraphileConfig.Plugin = {
  name: 'OrdersPlugin',
  after: ['PgIndexBehaviorsPlugin', 'PgOrderAllAttributesPlugin', 'smart-tags'],
  before: ['ConnectionArgumentsPlugin'],

  inflection: {
    replace: {
      // GraphQL reserves names that begin with two underscores; a column may begin with a digit.
      orderByAttributeEnum: (previous, _options, details) => previous?.(details).replace(/^__+/, '_') ?? '',
    },
  },

  gather: {
    hooks: {
      pgTables_PgResourceOptions(_info, { resourceOptions }) {
        // Orders end in the first unique key.
        resourceOptions.uniques = (resourceOptions.uniques ?? []).toSorted(
          (one, other) => Number(other.isPrimary ?? false) - Number(one.isPrimary ?? false),
        );
      },

      pgCodecs_attribute(_info, { attribute, pgAttribute }) {
        const table = pgAttribute.getClass();
        const indexes = table?.getIndexes() ?? [];
        const isIn = indexes.filter((index) => index.getKeys().some((key) => key?.attname === pgAttribute.attname));
        const isSorted =
          table?.relkind === 'v'
            ? isSortable(attribute.codec as PgCodec)
            : isIn.some((index) => !index.indpred && index.getIndexClass()?.getAccessMethod()?.amname === 'btree');
        attribute.extensions ??= {};
        if (indexes.some((index) => hasNullAsEmpty(index, pgAttribute)) && isChecked(pgAttribute))
          attribute.extensions.isSortedAsText = true;
        if (isSorted) attribute.extensions.isSorted = true;
        // An index of another kind finds values but does not sort them. A partitioned table has indexes like any other table.
        else if (isIn.length > 0 || table?.relkind === 'p') attribute.extensions.isIndexed = false;
      },
    },
  },

  schema: {
    entityBehavior: {
      pgCodecAttribute: {
        inferred: {
          after: ['default'],
          before: ['inferred', 'PgRelayPlugin'],
          provides: ['OrdersPlugin'],
          callback: (behavior, [{ attributes }, name]) =>
            attributes[name]?.extensions?.isSorted ? [behavior, 'attribute:orderBy'] : behavior,
        },
      },
    },
    hooks: {
      GraphQLEnumType_values(values, build, { scope }) {
        const codec = scope.pgCodec as PgCodecWithAttributes | undefined;
        if (!scope.isPgRowSortEnum || !codec?.attributes) return values;

        const uniques = build.pgTableResource(codec)?.uniques ?? [];
        for (const [attributeName, attribute] of Object.entries(codec.attributes)) {
          const isFirst = uniques.some(({ attributes }) => attributes[0] === attributeName && attributes.length > 1);
          if (attribute.notNull && isPlainText(attribute.codec) && !isFirst) continue;
          for (const variant of ['asc', 'desc'] as const) {
            const name = build.inflection.orderByAttributeEnum({ codec, attributeName, variant });
            if (!values[name]) continue;
            const direction = variant === 'asc' ? 'ASC' : 'DESC';
            values[name] = {
              ...(!attribute.notNull && {
                description: `Rows without a value come ${variant === 'asc' ? 'first' : 'last'}.`,
              }),
              extensions: {
                grafast: { apply: orderBy(attributeName, attribute, direction) },
              },
            };
          }
        }
        return values;
      },
    },
  },
};

/** Whether a B-tree can order the type. PostGraphile alone orders the columns of a view by fewer, and by no enum. */
function isSortable(codec: PgCodec): boolean {
  const { name, arrayOfCodec, attributes } = baseOf(codec);
  if (attributes) return Object.values(attributes).every((attribute) => isSortable(attribute.codec as PgCodec));
  return arrayOfCodec ? isSortable(arrayOfCodec) : !withoutOrder.has(name);
}

/** PostgreSQL's own types that no B-tree orders. */
const withoutOrder: ReadonlySet<string> = new Set(
  'json jsonpath xml point line lseg box path polygon circle aclitem'.split(' '),
);

/** Whether PostGraphile writes and reads the type without loss. */
const isPlainText = (codec: PgCodec) => codec === TYPES.text || codec === TYPES.uuid;

function orderBy(name: string, { codec, notNull, extensions }: PgCodecAttribute, direction: 'ASC' | 'DESC') {
  const base = baseOf(codec as PgCodec);
  // The operators of hstore have names of their own. Arrays have the usual ones, and sort by those of their items.
  const isHstore = base === TYPES.hstore;
  const inCursors = asText(isHstore ? listOfCodec(TYPES.hstore) : base);
  return (query: PgSelectQueryBuilder) => {
    const value = withoutDomain(sql`${query.alias}.${sql.identifier(name)}`, codec as PgCodec);
    const column = isHstore ? sql`array[${value}]` : value;
    if (notNull) {
      query.orderBy({ fragment: column, codec: inCursors, direction, nullable: false });
    } else if (extensions?.isSortedAsText && codec === TYPES.text) {
      // The index has this same expression.
      query.orderBy({ fragment: sql`coalesce(${column}, '')`, codec, direction, nullable: false });
    } else {
      // A composite value with a null attribute is neither `is null` nor `is not null`.
      query.orderBy({
        fragment: sql`(${value} is distinct from null)`,
        codec: asText(TYPES.boolean),
        direction,
        nullable: false,
      });
      // After the first expression, nulls are compared only with nulls.
      query.orderBy({ fragment: column, codec: inCursors, direction, nullable: true });
    }
  };
}

/**
 * Whether an index has `coalesce(column, '')`.
 * PostgreSQL keeps the expression as a tree, of which this is the text.
 */
const hasNullAsEmpty = ({ indexprs }: PgIndex, { attnum }: PgAttribute) =>
  [...(indexprs ?? '').matchAll(coalesced)].some(([, column]) => Number(column) === attnum);

/** The text of a four-byte constant, an empty text's length. PostgreSQL 15 names the node `COALESCE`. */
const coalesced = /\{COALESCE(?:EXPR)? [^{}]*\(\{VAR [^{}]*:varattno (\d+) [^{}]*\} \{CONST [^{}]*:constvalue 4 /g;

/** Whether a check is about this column alone, as a check of its length is. */
const isChecked = (column: PgAttribute) =>
  column
    .getClass()
    ?.getConstraints()
    .some(({ contype, conkey }) => contype === 'c' && conkey?.length === 1 && conkey[0] === column.attnum) === true;

/** A type whose values stand in cursors in PostgreSQL's own text, which it reads again without loss. */
function asText<Codec extends PgCodec>({ castFromPg: _castFromPg, ...codec }: Codec): Codec {
  return { ...codec, fromPg: (text: string) => text } as unknown as Codec;
}
