import {
  listOfCodec,
  type PgCodec,
  type PgResource,
  type PgSelectQueryBuilder,
  sqlValueWithCodec,
  TYPES,
} from 'postgraphile/@dataplan/pg';
import { type FieldArgs, lambda, type Step } from 'postgraphile/grafast';
import type { GraphQLInputType } from 'postgraphile/graphql';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { selectOf } from './internals.ts';
import { baseOf, withoutDomain } from './values.ts';

/**
 * Filters from comments: `@filter names` on a column adds `names` to every connection of its table.
 * It keeps rows whose column has one of the given values. An operator behind the argument changes the comparison:
 * `@filter createdFrom from`. A comment may have several. Each is part of the statement, under row-level security. A column
 * `external_identifier` has the filter `externalIdentifiers` without a comment.
 */
export const ColumnFiltersPlugin: GraphileConfig.Plugin = {
  name: 'ColumnFiltersPlugin',
  after: ['ConnectionArgumentsPlugin'],

  schema: {
    hooks: {
      GraphQLObjectType_fields_field_args(args, build, { scope }) {
        if (!scope.isPgFieldConnection) return args;
        return filtersOf(scope.pgFieldResource).reduce((others, { argument, operator, attribute, codec }) => {
          const description = operator.description(wordsOf(argument), wordsOf(attribute));
          const filter = { type: operator.type(build, codec), description, extensions: { pgCodec: codec } };
          return build.extend(others, { [argument]: filter }, `Adding the filter ${argument} by a column's comment`);
        }, args);
      },

      GraphQLObjectType_fields_field(field, _build, { scope }) {
        const { plan } = field;
        const filters = scope.isPgFieldConnection ? filtersOf(scope.pgFieldResource) : [];
        if (!plan || filters.length === 0) return field;
        return {
          ...field,
          plan($parent: Step, args: FieldArgs, info) {
            const $connection = plan($parent, args, info);
            for (const { argument, apply } of filters)
              selectOf($connection).apply(lambda(args.getRaw(argument), apply, true));
            return $connection;
          },
        };
      },
    },
  },
};

type Operator = {
  readonly type: (build: GraphileBuild.Build, codec: PgCodec) => GraphQLInputType;
  readonly description: (argument: string, column: string) => string;
  /** Keeps the rows that fit a value, which is not null. */
  readonly apply: (attribute: string, codec: PgCodec, value: never) => (query: PgSelectQueryBuilder) => void;
};

const comparing = (operator: SQL, words: string): Operator => ({
  type: (build, codec) => build.getGraphQLTypeByPgCodec(codec, 'input') as GraphQLInputType,
  description: (_, column) => `Only rows whose ${column} ${words}; none without one.`,
  apply: (attribute, codec, value) => (query) =>
    query.where(sql`${comparable(query, attribute, codec)} ${operator} ${sqlValueWithCodec(value, baseOf(codec))}`),
});

const listType: Operator['type'] = (build, codec) =>
  new build.graphql.GraphQLList(
    new build.graphql.GraphQLNonNull(build.getGraphQLTypeByPgCodec(codec, 'input') as GraphQLInputType),
  );

/** For a column that keeps its texts folded, so that its index is used. */
const inAnyCase = (fold: (texts: SQL) => SQL): Operator => ({
  type: listType,
  description: (argument) =>
    `Only rows with one of these ${argument}, compared exactly but for their case, at most 1,000. An empty list matches nothing.`,
  apply(attribute, _, values) {
    const folded = fold(sql`unnest(${sqlValueWithCodec(values, listOfCodec(TYPES.text))})`);
    return (query) => query.where(sql`${columnOf(query, attribute)} = any (array(select ${folded}))`);
  },
});

const operators = {
  anyOf: {
    type: listType,
    description: (argument) => `Only rows with one of these ${argument}, at most 1,000. An empty list matches nothing.`,
    apply(attribute, codec, values) {
      // A value that a domain rejects is no value of a row, and so finds none.
      const list = sqlValueWithCodec(values, listOfCodec(baseOf(codec) as typeof TYPES.text));
      return (query) => query.where(sql`${comparable(query, attribute, codec)} = any (${list})`);
    },
  },
  from: comparing(sql`>=`, 'is this or later, or more'),
  until: comparing(sql`<`, 'is earlier than this, or less'),
  prefix: {
    type: (build) => build.graphql.GraphQLString,
    description: (_, column) => `Only rows whose ${column} begins with this.`,
    // PostgreSQL cannot compare prefixes under a collation that treats different texts as equal.
    apply: (attribute, _, value) => (query) =>
      query.where(sql`starts_with(${columnOf(query, attribute)} collate "C", ${sqlValueWithCodec(value, TYPES.text)})`),
  },
  isNull: {
    type: (build) => build.graphql.GraphQLBoolean,
    description: (_, column) => `Only rows without a value of ${column} (true), or only those with one (false).`,
    apply(attribute, _, value) {
      const test = value ? sql`is not distinct from null` : sql`is distinct from null`;
      return (query) => query.where(sql`${columnOf(query, attribute)} ${test}`);
    },
  },
  anyCase: inAnyCase((texts) => sql`app_hidden.lowercase(${texts})`),
  // Folds letters of ASCII alone: how others fold depends on the database's locale.
  upperCase: inAnyCase((texts) => sql`upper(${texts} collate "C")`),
  is: comparing(sql`=`, 'is this'),
} satisfies Readonly<Record<string, Operator>>;

const columnOf = ({ alias }: PgSelectQueryBuilder, attribute: string) => sql`${alias}.${sql.identifier(attribute)}`;

const comparable = (query: PgSelectQueryBuilder, attribute: string, codec: PgCodec) =>
  withoutDomain(columnOf(query, attribute), codec);

const wordsOf = (name: string) => name.replaceAll('_', ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** @throws when a comment asks for a filter that cannot be made */
function filtersOf(resource: PgResource | undefined) {
  return Object.entries(resource?.codec.attributes ?? {}).flatMap(([attribute, { codec: anyCodec, extensions }]) => {
    const codec = anyCodec as PgCodec;
    const inherent = attribute === 'external_identifier' ? ['externalIdentifiers'] : [];
    return [...inherent, ...[extensions?.tags?.filter ?? []].flat()].map((tag) => {
      const [argument = '', name = 'anyOf', ...more] = String(tag).split(' ');
      const problem =
        problemOfTag(argument, name, codec) ?? (more.length > 0 ? 'is an argument and an operator' : null);
      if (problem) throw new Error(`${resource?.name}.${attribute}: "@filter ${tag}" ${problem}`);
      const operator: Operator = operators[name as keyof typeof operators];
      const apply = (value: unknown) => (value == null ? null : operator.apply(attribute, codec, value as never));
      return { argument, operator, attribute, codec, apply };
    });
  });
}

function problemOfTag(argument: string, operator: string, codec: PgCodec): string | null {
  if (!/^[A-Za-z]\w*$/.test(argument)) return 'names no argument';
  if (!Object.hasOwn(operators, operator)) return `has none of the operators ${Object.keys(operators).join(', ')}`;
  if (operator !== 'isNull' && codec.arrayOfCodec) return 'is not for arrays, save isNull';
  if (operator !== 'isNull' && incomparable.includes(baseOf(codec).name))
    return `is not for ${codec.name}, save isNull`;
  return ['prefix', 'anyCase', 'upperCase'].includes(operator) && !texts.includes(baseOf(codec).name)
    ? 'is for texts only'
    : null;
}

/** PostgreSQL has neither `=` nor `<` for these, or not for the values of clients. */
const incomparable = ['json', 'xml', 'point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle'];

const texts = ['text', 'varchar', 'bpchar', 'citext'];
