/**
 * The allowlist of SQL that the prover understands: constructs, each with its stated meaning.
 *
 * Everything else makes a judgement unproven, with the construct and its place. `exact` is what PostgreSQL computes. `any value` and
 * `any rows` are more than PostgreSQL can compute, so that a proof holds for what it does compute. The README shows this table.
 */
export type Construct = {
  /** Nodes of PostgreSQL's raw parse tree with the fields that have this meaning. A field that is not listed is not understood. */
  readonly nodes: Readonly<Record<string, string>>;
  readonly meaning: string;
  /** The chapter of PostgreSQL's manual, or a file of its source, on which the meaning rests. */
  readonly source: string;
  /** A condition that it makes true of each row with the tenant of the claims; a test proves it, and refutes its negation. */
  readonly example: string;
};

const query =
  'targetList fromClause whereClause groupClause groupDistinct havingClause windowClause valuesLists sortClause limitOffset limitCount limitOption ' +
  'lockingClause withClause op all larg rarg distinctClause';

export const constructs: Readonly<Record<string, Construct>> = {
  literals: {
    nodes: {
      A_Const: 'isnull boolval ival fval sval',
      Boolean: 'boolval',
      Integer: 'ival',
      Float: 'fval',
      String: 'sval',
    },
    meaning: 'Exact for texts, integers and booleans: texts that differ are different values. Others are any value.',
    source: 'SQL Syntax, Constants',
    example: `tenant_id = (select app.tenant_id()) and 'a' <> 'b'`,
  },
  'columns and parameters': {
    nodes: { ColumnRef: 'fields', ParamRef: 'number', A_Star: '' },
    meaning: 'Exact: the innermost column of that name. A whole row and a column of the system are not understood.',
    source: 'SQL Syntax, Value Expressions; parse_relation.c, colNameToVar',
    example: 'users.tenant_id = (select app.tenant_id())',
  },
  'and, or, not': {
    nodes: { BoolExpr: 'boolop args' },
    meaning: 'Exact, in the logic of three values.',
    source: 'Functions and Operators, Logical Operators',
    example: 'not (tenant_id <> (select app.tenant_id()) or name is null) and tenant_id = app.tenant_id()',
  },
  'is null, is true and the like': {
    nodes: { NullTest: 'arg nulltesttype', BooleanTest: 'arg booltesttype' },
    meaning: 'Exact. A composite value is not understood: it is null when its parts are.',
    source: 'Functions and Operators, Comparison Functions and Operators',
    example: '(tenant_id = app.tenant_id()) is true and app.tenant_id() is not null',
  },
  casts: {
    nodes: { TypeCast: 'arg typeName', TypeName: 'names typemod typmods arrayBounds' },
    meaning:
      'Exact for literals, and between types that are compared alike. Else any value, which is null of null. It is the same for the same argument, in a subquery only if no setting decides it. ' +
      'An empty text that is cast to a uuid, number, date, boolean or JSON is an error, and null here. A cast by a function of the database is not understood.',
    source: 'SQL Commands, CREATE CAST',
    example: 'tenant_id::text::uuid = tenant_id::text::uuid and tenant_id = app.tenant_id()',
  },
  'coalesce and case': {
    nodes: { CoalesceExpr: 'args', CaseExpr: 'arg args defresult', CaseWhen: 'expr result' },
    meaning: 'Exact.',
    source: 'Functions and Operators, Conditional Expressions',
    example: 'case when app.tenant_id() is null then false else tenant_id = app.tenant_id() end',
  },
  operators: {
    nodes: { A_Expr: 'kind name lexpr rexpr', List: 'items', A_ArrayExpr: 'elements' },
    meaning:
      'Exact: `=` and `<>` of uuid, text, integers, dates, timestamps, booleans, bytea, enums; the order of integers, dates, timestamps; `in`, ' +
      '`between`, `distinct from`, `nullif`, `any`, `all`; `&&`, `@>`, `<@` of arrays of these. Any other operator of PostgreSQL is any value, ' +
      'which is the same for the same operands, in a subquery only if it is immutable. One that the database defines is not understood; where a search path finds those, nor is one of its name.',
    source: 'Functions and Operators, Comparison Functions and Operators; parse_oper.c',
    example: 'tenant_id = any (array[app.tenant_id()])',
  },
  'who and when': {
    nodes: { SQLValueFunction: 'op typmod' },
    meaning: '`current_user` is exact; a time is any value, another one at each place.',
    source: 'Functions and Operators, System Information Functions and Operators',
    example: `tenant_id = app.tenant_id() and current_user <> 'nobody'`,
  },
  calls: {
    nodes: {
      FuncCall: 'funcname args funcformat agg_star agg_distinct agg_order agg_filter over agg_within_group',
      WindowDef: 'name partitionClause orderClause frameOptions startOffset endOffset refname',
    },
    meaning:
      '`current_setting` is exact. A function of the database is its body when that is one expression, or any value when what it does is understood and it writes nothing. ' +
      '`select f()` of a function that returns a set has the rows of its body, if that is one query. ' +
      "PostgreSQL's own are any value if they are immutable or `harmless` (effects.ts). An argument by its name, `variadic`, defaults, " +
      'results among parameters and other overloads are not understood.',
    source: 'SQL Syntax, Calling Functions; Type Conversion, Functions',
    example: `tenant_id = app.tenant_id() and length(name) = length(name)`,
  },
  subqueries: {
    nodes: { SubLink: 'subLinkType testexpr operName subselect', SelectStmt: query, ResTarget: 'name val indirection' },
    meaning:
      'Exact: `exists`, `in`, `any`, `all`, `array`; one value is that of any of the rows, perhaps of another one at each place. `limit`, `group by`, `having`, locks and aggregates may leave out any rows and yield any value; ' +
      '`intersect`, `except`, `values` and recursion yield any rows.',
    source: 'Queries; Functions and Operators, Subquery Expressions',
    example: 'tenant_id in (select u.tenant_id from app.users u where u.tenant_id = app.tenant_id())',
  },
  'tables and joins': {
    nodes: {
      RangeVar: 'schemaname relname inh relpersistence alias',
      RangeSubselect: 'lateral subquery alias',
      RangeFunction: 'lateral ordinality is_rowsfrom functions alias coldeflist',
      JoinExpr: 'jointype isNatural larg rarg usingClause quals alias rtindex join_using_alias',
      Alias: 'aliasname colnames',
    },
    meaning:
      'Exact for tables under their policies, views, subqueries, `unnest`, and inner and outer joins. `natural`, `only` and functions yield any rows. ' +
      'A materialized view, a foreign table and a table that is not known are not understood.',
    source: 'Queries, Table Expressions; Row Security Policies',
    example:
      'exists (select from app.users u join app.notes n on n.tenant_id = u.tenant_id where u.tenant_id = users.tenant_id and u.tenant_id = app.tenant_id())',
  },
  with: {
    nodes: { WithClause: 'ctes recursive', CommonTableExpr: 'ctename aliascolnames ctematerialized ctequery' },
    meaning: 'Exact, unless it is recursive.',
    source: 'Queries, WITH Queries',
    example: 'tenant_id in (with mine as (select app.tenant_id() as id) select id from mine)',
  },
  'order, groups and locks': {
    nodes: {
      SortBy: 'node sortby_dir sortby_nulls',
      GroupingSet: 'kind content',
      LockingClause: 'lockedRels strength waitPolicy',
    },
    meaning: 'Any of the rows.',
    source: 'Queries; SQL Commands, SELECT',
    example: 'tenant_id = app.tenant_id() and exists (select from app.users u order by u.name limit 1)',
  },
  'greatest, least and rows': {
    nodes: {
      MinMaxExpr: 'op args',
      RowExpr: 'args row_format',
      CollateClause: 'arg collname',
      XmlSerialize: 'xmloption expr typeName',
      GroupingFunc: 'args',
    },
    meaning: 'Any value.',
    source: 'Functions and Operators, Conditional Expressions; SQL Syntax, Value Expressions',
    example: `tenant_id = app.tenant_id() and greatest(name, 'a') = greatest(name, 'a')`,
  },
};

const fields = new Map(
  Object.values(constructs).flatMap(({ nodes }) =>
    Object.entries(nodes).map(([node, names]) => [node, new Set(names.split(' '))] as const),
  ),
);
/** Where the parser writes a node without its name. */
const unnamed: Readonly<Record<string, string>> = {
  ...{
    alias: 'Alias',
    typeName: 'TypeName',
    withClause: 'WithClause',
    larg: 'SelectStmt',
    rarg: 'SelectStmt',
    over: 'WindowDef',
  },
  ...{ boolval: 'Boolean', ival: 'Integer', fval: 'Float', sval: 'String', join_using_alias: 'Alias' },
};

const memory = new WeakMap<object, string | null>();

/** The first construct of a parse tree that is not understood, or null. A tree is searched once. */
export function findUnknown(node: unknown): string | null {
  if (typeof node !== 'object' || node === null) return null;
  const known = memory.get(node);
  if (known !== undefined) return known;
  const found = searchUnknown(node);
  memory.set(node, found);
  return found;
}

function searchUnknown(node: object): string | null {
  if (Array.isArray(node)) return firstOf(node.map(findUnknown));
  return firstOf(
    Object.entries(node).map(([name, value]) => {
      if (/^[A-Z]/.test(name)) return unknownIn(name, value);
      const unwrapped = unnamed[name];
      const isUnwrapped =
        unwrapped &&
        typeof value === 'object' &&
        value !== null &&
        !Object.keys(value).some((key) => /^[A-Z]/.test(key));
      return isUnwrapped ? unknownIn(unwrapped, value) : findUnknown(value);
    }),
  );
}

function unknownIn(node: string, value: unknown): string | null {
  const known = fields.get(node);
  if (!known) return node;
  const other = Object.keys(value as object).find(
    (name) => !known.has(name) && !/location|list_start|list_end/.test(name),
  );
  return other ? `${node}.${other}` : findUnknown(value);
}

const firstOf = (found: readonly (string | null)[]) => found.find((one) => one !== null) ?? null;
