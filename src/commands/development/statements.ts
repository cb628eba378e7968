import type { Node, RangeVar, TypeName } from 'libpg-query';

/** A statement of a file: where it begins, in characters, its text, and how PostgreSQL's parser reads it. */
export type Statement = { readonly offset: number; readonly sql: string; readonly tree: Node };

/** The statements of a file; PostgreSQL's parser counts bytes. */
export async function split(text: string): Promise<Statement[]> {
  const { parse } = await import('libpg-query');
  const bytes = Buffer.from(text);
  const { stmts = [] } = await parse(text);
  return stmts.map(({ stmt: tree = {} as Node, stmt_location: start = 0, stmt_len: length }) => {
    const sql = bytes.subarray(start, length === undefined ? undefined : start + length).toString();
    const [blank = ''] = /^(\s|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)*/.exec(sql) ?? [];
    return { offset: [...bytes.subarray(0, start).toString(), ...blank].length, sql: sql.slice(blank.length), tree };
  });
}

/** The objects that a statement makes and drops. Two names are equal when PostgreSQL takes them for the same object. */
type NamedObjects = {
  /** Null when it makes nothing that has a name of its own. */
  readonly makes: string | null;
  /** Whether it leaves an object of this name as it is. */
  readonly makesIfMissing: boolean;
  /** The tables and indexes that it drops, if they are there. */
  readonly drops: readonly string[];
};

/**
 * Names the objects of a file by PostgreSQL's parser, which folds their case and decodes `"…"` and `U&"…"`.
 * A name without a schema gets the first one of the search path that the file has set so far; types have one name for all synonyms.
 */
export function namedObjects(statements: readonly Statement[], schema = 'public'): NamedObjects[] {
  let current = schema;
  return statements.map(({ tree }) => {
    if ('VariableSetStmt' in tree && tree.VariableSetStmt.name === 'search_path')
      current = textsOf(tree.VariableSetStmt.args).find((name) => name !== '$user') ?? 'public';
    const drop = 'DropStmt' in tree && tree.DropStmt.missing_ok ? tree.DropStmt : {};
    return {
      makes: madeBy(tree, current),
      makesIfMissing: 'CreateStmt' in tree && tree.CreateStmt.if_not_exists === true,
      drops: (drop.objects ?? []).map((object) => keyOf(drop.removeType, qualified(textsOf([object]), current))),
    };
  });
}

/** A column or an object of another kind may have the same name. */
const keyOf = (kind: string | undefined, ...names: unknown[]) => JSON.stringify([kind, ...names.flat()]);

function madeBy(tree: Node, schema: string): string | null {
  const relation = (kind: string | undefined, { schemaname, relname, relpersistence }: RangeVar = {}) =>
    keyOf(kind, relpersistence === 't' ? 'pg_temp' : (schemaname ?? schema), relname);
  const named = (kind: string, names: readonly Node[] | undefined) => keyOf(kind, qualified(textsOf(names), schema));

  if ('CreateStmt' in tree) return relation('OBJECT_TABLE', tree.CreateStmt.relation);
  if ('CreateTableAsStmt' in tree) return relation(tree.CreateTableAsStmt.objtype, tree.CreateTableAsStmt.into?.rel);
  if ('ViewStmt' in tree) return relation('OBJECT_VIEW', tree.ViewStmt.view);
  if ('CreateSeqStmt' in tree) return relation('OBJECT_SEQUENCE', tree.CreateSeqStmt.sequence);
  if ('CompositeTypeStmt' in tree) return relation('OBJECT_TYPE', tree.CompositeTypeStmt.typevar);
  if ('CreateEnumStmt' in tree) return named('OBJECT_TYPE', tree.CreateEnumStmt.typeName);
  if ('CreateRangeStmt' in tree) return named('OBJECT_TYPE', tree.CreateRangeStmt.typeName);
  if ('CreateDomainStmt' in tree) return named('OBJECT_DOMAIN', tree.CreateDomainStmt.domainname);
  if ('CreateSchemaStmt' in tree) return keyOf('OBJECT_SCHEMA', tree.CreateSchemaStmt.schemaname);
  if ('CreateRoleStmt' in tree) return keyOf('OBJECT_ROLE', tree.CreateRoleStmt.role);
  if ('IndexStmt' in tree) {
    const { idxname, relation: table } = tree.IndexStmt;
    return idxname === undefined ? null : relation('OBJECT_INDEX', { ...table, relname: idxname });
  }
  if ('CreatePolicyStmt' in tree)
    return keyOf('OBJECT_POLICY', relation('', tree.CreatePolicyStmt.table), tree.CreatePolicyStmt.policy_name);
  if ('CreateTrigStmt' in tree)
    return keyOf('OBJECT_TRIGGER', relation('', tree.CreateTrigStmt.relation), tree.CreateTrigStmt.trigname);
  if ('CreateFunctionStmt' in tree) {
    const { funcname, parameters = [] } = tree.CreateFunctionStmt;
    const given = parameters.flatMap((parameter) =>
      'FunctionParameter' in parameter && !/_(OUT|TABLE)$/.test(parameter.FunctionParameter.mode ?? '')
        ? [typeOf(parameter.FunctionParameter.argType)]
        : [],
    );
    return keyOf(named('OBJECT_FUNCTION', funcname), given);
  }
  return null;
}

/** `int`, `int4` and `integer` are `int4`, and so are `"pg_catalog"."int4"` and a name without a schema. */
function typeOf({ names, arrayBounds }: TypeName = {}): string {
  const parts = textsOf(names);
  return JSON.stringify([parts[0] === 'pg_catalog' ? parts.slice(1) : parts, arrayBounds !== undefined]);
}

const qualified = (names: readonly string[], schema: string) => (names.length === 1 ? [schema, ...names] : names);

/** The names of a list, of lists in it, and of constants. */
function textsOf(nodes: readonly Node[] = []): string[] {
  return nodes.flatMap((node) => {
    if ('String' in node) return [node.String.sval ?? ''];
    if ('List' in node) return textsOf(node.List.items);
    return 'A_Const' in node && 'sval' in node.A_Const ? [node.A_Const.sval?.sval ?? ''] : [];
  });
}
