import type {
  Introspection,
  PgAttribute,
  PgClass,
  PgConstraint,
  PgType,
} from 'postgraphile/graphile-build-pg/pg-introspection';

declare global {
  namespace GraphileBuild {
    interface BuildInput {
      constraintRules: ConstraintRules;
    }
  }
}

declare module 'graphql' {
  interface GraphQLSchemaExtensions {
    constraintRules: ConstraintRules;
    constraintsOfTypes?: ConstraintsOfTypes;
  }
}

/** By the name of the GraphQL type that shows the table. */
type ConstraintsOfTypes = ReadonlyMap<string, readonly ConstraintRule[]>;

/**
 * Error messages from comments of constraints and unique indexes: `extensions.constraintRules`.
 * So a new constraint in a migration comes with its own error message. `extensions.constraintsOfTypes` has them for the documentation.
 */
export const ConstraintRulesPlugin: GraphileConfig.Plugin = {
  name: 'ConstraintRulesPlugin',

  gather: {
    async main(output, { helpers, inflection }) {
      const results = await helpers.pgIntrospection.getIntrospection();
      const camelCase = (name: string) => inflection.camelCase(name);
      output.constraintRules = new Map(results.flatMap(({ introspection }) => [...rulesOf(introspection, camelCase)]));
    },
  },

  schema: {
    hooks: {
      GraphQLSchema: (schema, build) => ({
        ...schema,
        extensions: Object.assign({}, schema.extensions, {
          constraintRules: build.input.constraintRules,
          constraintsOfTypes: constraintsOfTypes(build),
        }),
      }),
    },
  },
};

function constraintsOfTypes({ input, inflection }: GraphileBuild.Build): ConstraintsOfTypes {
  const tables = Object.values(input.pgRegistry.pgCodecs).flatMap((codec) => {
    const { schemaName, name } = codec.extensions?.pg ?? {};
    if (!codec.attributes || codec.isAnonymous || !schemaName || !name) return [];
    const rules = [...input.constraintRules].filter(([key]) => isRuleOf(key, schemaName, name));
    return [[inflection.tableType(codec), rules.map(([, rule]) => rule)] as const];
  });
  return new Map(tables);
}

/** The message for a broken constraint, and the argument to blame: from a comment, if there is one. */
type ConstraintRule = {
  readonly comment?: string;
  readonly argument?: string;
  /** Whether another row has the value; otherwise the value itself is wrong. */
  readonly isUnique: boolean;
  /** Names the columns as the graph does. */
  readonly fallback: string;
  /** The columns of a domain's type, as the graph names them. */
  readonly columns?: readonly string[];
  /** The OID of the composite type that a domain is over. Attributes have that type in the graph. */
  readonly composite?: string;
};

/** By {@link ruleKey}, and by {@link columnKey} for columns that may not be null. */
export type ConstraintRules = ReadonlyMap<string, ConstraintRule>;

/** Constraints of two tables may have one name. A domain has constraints, too. */
export const ruleKey = (schema = '', tableOrDomain = '', constraint = '') =>
  JSON.stringify([schema, tableOrDomain, constraint]);

/** Whether a key is of a constraint of this table or domain. */
const isRuleOf = (key: string, schema: string, table: string) =>
  key.startsWith(ruleKey(schema, table).replace(/,""\]$/, ','));

export const columnKey = (schema = '', table = '', column = '') => JSON.stringify([schema, table, 'not null', column]);

/** Where a partition has no comment, its table's applies. */
function rulesOf(introspection: Introspection, camelCase: (name: string) => string): ConstraintRules {
  const { indexes, constraints, classes } = introspection;
  const above = createAbove(introspection);
  const domains = createDomains(introspection);
  const rules = new Map<string, ConstraintRule>();
  const add = (key: string, fallback: string, words: Words, isUnique = false) =>
    rules.set(key, { ...rules.get(key), fallback, isUnique, ...words });
  const namesOf = (table: PgClass, numbers: readonly number[]) =>
    table
      .getAttributes()
      .filter(({ attnum, attname }) => numbers.includes(attnum) && attname !== 'organization_id')
      .map((column) => camelCase(String(column.getTags().name ?? column.attname)));

  for (const index of indexes.filter(({ indisunique }) => indisunique)) {
    const [table, own] = [index.getClass(), index.getIndexClass()];
    if (!table || !own) continue;
    const fallback = used(namesOf(table, index.indkey ?? []));
    add(ruleKey(...pathOf(table), own.relname), fallback, wordsOf(own, above.table), true);
  }
  for (const constraint of constraints) {
    const [table, domain] = [constraint.getClass(), constraint.getType()];
    const describe = fallbacks[constraint.contype];
    if (!describe) continue;
    const words = wordsOf(constraint, above.constraint);
    const isUnique = ['u', 'p', 'x'].includes(constraint.contype);
    if (table)
      add(
        ruleKey(...pathOf(table), constraint.conname),
        describe(namesOf(table, constraint.conkey ?? [])),
        words,
        isUnique,
      );
    // PostgreSQL names the domain of the value, which may be over the one that has the constraint.
    for (const type of domain ? domains.over(domain) : []) {
      const key = ruleKey(type.getNamespace()?.nspname, type.typname, constraint.conname);
      const columns = domains
        .columnsOf(type)
        .flatMap((column) => namesOf(column.getClass() as PgClass, [column.attnum]));
      const name = camelCase(String(type.getTags().name ?? type.typname));
      add(key, `A value is not one of the type ${name.charAt(0).toUpperCase()}${name.slice(1)}.`, words);
      const composite = domains.compositeBelow(type);
      rules.set(key, {
        ...(rules.get(key) as ConstraintRule),
        columns: [...new Set(columns)],
        ...(composite && { composite }),
      });
    }
  }
  for (const table of classes.filter(({ relkind }) => relkind === 'r' || relkind === 'p')) {
    for (const column of table.getAttributes().filter(({ attnotnull }) => attnotnull)) {
      const [name = 'A value'] = namesOf(table, [column.attnum]);
      const { comment: _description, ...words } = wordsOf(column, above.column);
      add(columnKey(...pathOf(table), column.attname), `${name} cannot be null.`, words);
    }
  }
  return rules;
}

const pathOf = (table: PgClass) => [table.getNamespace()?.nspname, table.relname] as const;

const used = (names: readonly string[]) => `${subjectOf(names)} is already used.`;

/** The message when there is no comment, by the kind of constraint. */
const fallbacks: Readonly<Record<string, (names: readonly string[]) => string>> = {
  u: used,
  p: used,
  x: (names) => `${subjectOf(names)} overlaps with what is already there.`,
  f: (names) => `${subjectOf(names)} refers to what is not there, or is still referred to.`,
  c: (names) => `${subjectOf(names)} is not allowed.`,
};

const subjectOf = (names: readonly string[]) => {
  const [name, ...others] = names;
  if (name === undefined) return 'A value';
  return others.length === 0 ? name : `The combination of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
};

type Words = Pick<ConstraintRule, 'comment' | 'argument'>;
type Commented = Pick<PgConstraint, 'getTagsAndDescription'>;

/** The words of its comment, or of the comment of what it was made from. */
function wordsOf<T extends Commented>(entity: T, above: (entity: T) => T | undefined): Words {
  const { tags, description } = entity.getTagsAndDescription();
  const { argument } = tags;
  const words = {
    ...(typeof argument === 'string' && { argument }),
    ...(description && { comment: description }),
  };
  const parent = Object.keys(words).length === 0 ? above(entity) : undefined;
  return parent ? wordsOf(parent, above) : words;
}

/** Finds the domains over a domain, itself included, and the columns of tables that are of a domain or an array of it. */
function createDomains({ types, attributes }: Introspection) {
  const byId = new Map(types.map((type) => [type._id, type]));
  const isOver = (type: PgType | undefined, domain: PgType): boolean =>
    type === domain || (type?.typtype === 'd' && isOver(byId.get(type.typbasetype ?? ''), domain));
  const compositeBelow = (type: PgType | undefined): string | undefined =>
    type?.typtype === 'd'
      ? compositeBelow(byId.get(type.typbasetype ?? ''))
      : type?.typtype === 'c'
        ? type._id
        : undefined;
  return {
    compositeBelow,
    over: (domain: PgType) => types.filter((type) => isOver(type, domain)),
    columnsOf: (domain: PgType) =>
      attributes.filter(
        (column) =>
          [domain._id, domain.typarray].includes(column.atttypid) && /[rp]/.test(column.getClass()?.relkind ?? ''),
      ),
  };
}

/** Leads from a partition and its parts to those of its table. */
function createAbove({ inherits, ...introspection }: Introspection) {
  const parents = new Map(inherits.map(({ inhrelid, inhparent }) => [inhrelid, inhparent]));
  const table = ({ _id }: PgClass) => introspection.getClass({ id: parents.get(_id) ?? '' });
  const tableAbove = (part: { getClass(): PgClass | undefined }) => {
    const own = part.getClass();
    return own && table(own);
  };
  return {
    table,
    constraint: (constraint: PgConstraint) =>
      tableAbove(constraint)
        ?.getConstraints()
        .find(({ _id, conname }) => _id === constraint.conparentid || conname === constraint.conname),
    column: (column: PgAttribute) =>
      tableAbove(column)
        ?.getAttributes()
        .find(({ attname }) => attname === column.attname),
  };
}
