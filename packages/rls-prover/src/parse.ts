import { type FuncCall, loadModule, type Node, parsePlPgSQLSync, parseSync, type SelectStmt } from 'libpg-query';

/** Whether a setting of the client decides where texts in a function's body end. */
export const isByClient = ({ body, settings }: { body: string; settings: readonly string[] }): boolean =>
  body.includes('\\') && !settings.includes('standard_conforming_strings=on');

export type { Alias, FuncCall, Node, SelectStmt } from 'libpg-query';

/** PostgreSQL's own parser, as WebAssembly. */
export type Parser = {
  expression(text: string): Node;

  query(text: string): SelectStmt;
  /** The expression that a function of PL/pgSQL returns, if it does nothing else. */
  returned(source: string | null): string | null;
  /** All statements of a function, its expressions and the defaults of its parameters as selects. @throws {Error} when it is not parsed */
  body(language: string, body: string, source: string | null): Body;
};

/** The parts of a function's body. */
export type Body = {
  statements: Node[];
  /** The kinds of PL/pgSQL's statements, such as `dynexecute`. */
  kinds: ReadonlySet<string>;
  /** The types of PL/pgSQL's variables, as they are written. */
  variables: readonly string[];
  /** The columns of `new` that a trigger may assign; null is any. */
  assigned: readonly string[] | null;
};

/** Loads the parser. It parses a text once: trees are shared and never changed. */
export async function loadParser(): Promise<Parser> {
  await loadModule();

  const query = remembered(parseQuery);
  const [bodyOfSql, bodyOfPlPgSql] = [remembered(parseSql), remembered(parsePlPgSql)];
  const defaultsOf = remembered(parseDefaults);
  return {
    query,
    body(language, body, source) {
      if (language !== 'sql' && (language !== 'plpgsql' || source === null))
        throw new NotUnderstood(`the language ${language}`);
      const own = language === 'sql' ? bodyOfSql(body) : bodyOfPlPgSql(source ?? '');
      const defaults = source === null ? [] : defaultsOf(source);
      return defaults.length > 0 ? { ...own, statements: [...own.statements, ...defaults] } : own;
    },
    expression(text) {
      const [target] = query(`select ${text}`).targetList ?? [];
      if (!target || !('ResTarget' in target) || !target.ResTarget.val) throw new NotUnderstood(text);
      return target.ResTarget.val;
    },
    returned: remembered(parseReturned),
  };
}

/** A function that remembers its results for some thousand texts. */
function remembered<Text extends string | null, Result>(parse: (text: Text) => Result): (text: Text) => Result {
  const known = new Map<Text, Result>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const result = parse(text);
    if (known.size >= 5000) known.clear();
    known.set(text, result);
    return result;
  };
}

function parseQuery(text: string): SelectStmt {
  // The parser refuses an empty text, such as the body of a function that is stored parsed.
  const statements = parseSync(text || ';').stmts ?? [];
  const [first] = statements;
  if (statements.length !== 1 || !first?.stmt || !('SelectStmt' in first.stmt))
    throw new NotUnderstood('more than one select');
  return first.stmt.SelectStmt;
}

function parseReturned(source: string | null): string | null {
  // A variable may have the name of a parameter, and a directive say which of two names is meant.
  if (source === null || /\bdeclare\b|#/i.test(source)) return null;
  const parsed = parsePlPgSQLSync(source) as unknown as PlPgSql;
  const body = parsed.plpgsql_funcs?.[0]?.PLpgSQL_function?.action?.PLpgSQL_stmt_block;
  const [statement, ...others] = body?.body ?? [];
  // PL/pgSQL adds an empty return at the end.
  const isAll = others.every(({ PLpgSQL_stmt_return: end }) => end && !end.expr) && !body?.exceptions;
  return (isAll && statement?.PLpgSQL_stmt_return?.expr?.PLpgSQL_expr.query) || null;
}

/** The defaults of a function's parameters, each as a select: a call that leaves out the argument runs it. */
function parseDefaults(source: string): Node[] {
  if (!/ DEFAULT /.test(source)) return [];
  const [statement] = statementsOf(source);
  const { parameters = [] } = statement && 'CreateFunctionStmt' in statement ? statement.CreateFunctionStmt : {};
  return parameters.flatMap((one): Node[] => {
    const val = 'FunctionParameter' in one ? one.FunctionParameter.defexpr : undefined;
    return val ? [{ SelectStmt: { targetList: [{ ResTarget: { val } }] } }] : [];
  });
}

function parseSql(body: string): Body {
  if (body.trim() === '') throw new NotUnderstood('a body that is stored parsed');
  return { statements: statementsOf(body), kinds: new Set(), variables: [], assigned: [] };
}

function parsePlPgSql(source: string): Body {
  try {
    return bodyOf(parsePlPgSQLSync(source) as unknown as PlPgSql);
  } catch {
    // The parser knows no array of a composite type, which a header may have and a body need not.
    const plain = source.replaceAll(/^ RETURNS .*\[\]$|\b[\w".]+\[\](?=[,)])/gm, (type) =>
      type.startsWith(' ') ? ' RETURNS text' : 'text',
    );
    return bodyOf(parsePlPgSQLSync(plain) as unknown as PlPgSql);
  }
}

const statementsOf = (text: string): Node[] => (parseSync(text).stmts ?? []).flatMap(({ stmt }) => stmt ?? []);

function bodyOf(tree: PlPgSql): Body {
  const statements: Node[] = [];
  const kinds = new Set<string>();
  const written: number[] = [];
  let isOther = false;
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      const kind = /^PLpgSQL_stmt_(.*)$/.exec(name)?.[1];
      if (kind) {
        kinds.add(kind);
        // A cursor for text, or `return query execute`.
        if (Object.keys(value as object).includes('dynquery')) kinds.add('dynexecute');
        written.push(...variablesOf(kind, value as Statement));
        // A procedure may change its arguments.
        isOther ||= kind === 'call' || (kind === 'return' && isOtherRow(value as Statement));
      }
      if (name === 'PLpgSQL_expr') {
        const { query, parseMode = 0 } = value as { query: string; parseMode?: number };
        // 0 is a statement, 2 an expression, and the others are assignments.
        const text = parseMode === 0 ? query : `select ${parseMode === 2 ? query : query.replace(/^[^=]*?:?=/, '')}`;
        statements.push(...statementsOf(text));
      } else walk(value);
    }
  };
  walk(tree);
  const { datums = [] } = tree.plpgsql_funcs?.[0]?.PLpgSQL_function ?? {};
  // `new` is the first variable of a trigger, under whatever name.
  const columns = written.flatMap((number) => {
    const field = datums[number]?.PLpgSQL_recfield;
    return field && (field.recparentno ?? 0) === 0 ? [field.fieldname] : [];
  });
  const variables = datums.flatMap(({ PLpgSQL_var: value, PLpgSQL_rec: record }) => {
    const type = (value ?? record)?.datatype?.PLpgSQL_type?.typname;
    return type === undefined ? [] : [type];
  });
  return { statements, kinds, variables, assigned: isOther || written.includes(0) ? null : columns };
}

/** The numbers of the variables that a statement of PL/pgSQL writes. Zero is left out where it is one. */
function variablesOf(kind: string, { varno = 0, diag_items: items = [], target, var: variable }: Statement): number[] {
  if (kind === 'assign' || kind === 'foreach_a') return [varno];
  const targets = [target, variable].filter((one) => one !== undefined);
  return [
    ...items.map(({ PLpgSQL_diag_item: item }) => item?.target ?? 0),
    ...targets.flatMap(({ PLpgSQL_row: row, PLpgSQL_rec: record }) =>
      row ? (row.fields ?? []).map((field) => field.varno ?? 0) : record ? [record.dno ?? 0] : [],
    ),
  ];
}

/** Whether a trigger may return another row than `new` or `old`. */
const isOtherRow = ({ expr, retvarno = -1 }: Statement): boolean =>
  expr ? !/^\s*null\s*$/i.test(expr.PLpgSQL_expr.query) : retvarno > 1;

/** All selects with rows within a statement, itself among them. */
export function selectsIn(node: unknown): SelectStmt[] {
  if (Array.isArray(node)) return node.flatMap(selectsIn);
  if (typeof node !== 'object' || node === null) return [];
  const own = 'fromClause' in node ? [node as SelectStmt] : [];
  return [...own, ...Object.values(node).flatMap(selectsIn)];
}

/** SQL that is not translated; what it yields is left open. */
export class NotUnderstood extends Error {
  override name = 'NotUnderstood';
}

type Statement = {
  varno?: number;
  retvarno?: number;
  expr?: { PLpgSQL_expr: { query: string } };
  diag_items?: { PLpgSQL_diag_item?: { target?: number } }[];
  target?: Target;
  var?: Target;
};
type Target = { PLpgSQL_row?: { fields?: { varno?: number }[] }; PLpgSQL_rec?: { dno?: number } };

type Variable = { datatype?: { PLpgSQL_type?: { typname?: string } } };

type PlPgSql = {
  plpgsql_funcs?: {
    PLpgSQL_function?: {
      datums?: {
        PLpgSQL_recfield?: { fieldname: string; recparentno?: number };
        PLpgSQL_var?: Variable;
        PLpgSQL_rec?: Variable;
      }[];
      action?: {
        PLpgSQL_stmt_block?: {
          exceptions?: unknown;
          body?: { PLpgSQL_stmt_return?: { expr?: { PLpgSQL_expr: { query: string } } } }[];
        };
      };
    };
  }[];
};

/** A name, its schema first. A part that has a dot itself stands in quotes, so that no name is read as another one. */
const joined = (parts: readonly string[]): string =>
  parts.map((part) => (/[."]/.test(part) ? JSON.stringify(part) : part)).join('.');

/** The parts of a name in a parse tree. */
export const textsOf = (path: readonly Node[]): string[] =>
  path.map((part) => ('String' in part ? (part.String.sval ?? '') : ''));

/** A name as it is written in a parse tree. */
export const pathOf = (path: readonly Node[]): string => joined(textsOf(path));

/** The parts of a name as PostgreSQL prints it, in quotes where it needs them. */
export const partsOf = (printed: string): string[] =>
  [...printed.matchAll(/"((?:[^"]|"")*)"|[^".]+/g)].map(([part, quoted]) => quoted?.replaceAll('""', '"') ?? part);

/** The name that a parse tree has for what PostgreSQL prints. */
export const unquoted = (printed: string): string => joined(partsOf(printed));

/**
 * The names in parse trees: of functions, operators, types, relations, and fields such as `name` in `u.name`. Relations that statements
 * change are listed by themselves, as are all keys of nodes, such as `whereClause`.
 */
type Names = Readonly<
  Record<'calls' | 'fields' | 'operators' | 'types' | 'relations' | 'changed' | 'keys', ReadonlySet<string>>
>;

const memory = new WeakMap<object, Names>();

/** All names within parse trees. A tree is walked once. */
export function namesIn(trees: object): Names {
  const known = memory.get(trees);
  if (known) return known;
  const [calls, types, relations, keys] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()];
  const [changed, fields] = [new Set<string>(), new Set<string>()];
  // A `case` with an argument and `using` compare without saying so.
  const operators = new Set(['=']);
  const targets: Readonly<Record<string, Set<string>>> = {
    operName: operators,
    useOp: operators,
    name: operators,
  };
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      keys.add(key);
      if (/^(Insert|Update|Delete|Merge)Stmt$/.test(key)) changed.add(targetOf(value));
      // The name of an `A_Expr` is an operator's; that of other nodes is a text.
      if (key === 'funcname') calls.add(pathOf(value) + givenTo(node as FuncCall));
      // The catalogue has the names of types without quotes.
      else if (key === 'names') types.add(textsOf(value).join('.'));
      else if (key === 'fields' || key === 'indirection')
        for (const field of textsOf(key === 'fields' ? value.slice(1) : value)) fields.add(field);
      else if (Array.isArray(value)) targets[key]?.add(pathOf(value));
      else if (key === 'relname' && 'schemaname' in node)
        relations.add(joined([String(node.schemaname), String(value)]));
      walk(value);
    }
  };
  walk(trees);
  const names = { calls, fields, operators, types, relations, changed, keys };
  memory.set(trees, names);
  return names;
}

/** The relation that a statement changes; without a schema it is none of the catalogue's. */
const targetOf = ({ relation }: { relation?: { schemaname?: string; relname?: string } }): string =>
  joined([relation?.schemaname ?? '', relation?.relname ?? '']);

/** The columns of `old`, `new` and `claims` that an invariant's expression names. */
export const referencesIn = (expression: Node): { row: string; column: string }[] =>
  [...JSON.stringify(expression).matchAll(reference)].map(([, row = '', column = '']) => ({ row, column }));

const reference = /\{"String":\{"sval":"(old|new|claims)"\}\},\{"String":\{"sval":"([^"]*)"\}\}/g;

/** The literal that `set_config` sets. */
function givenTo({ funcname, args: [setting] = [] }: FuncCall): string {
  const name = setting && 'A_Const' in setting ? setting.A_Const.sval?.sval : undefined;
  return name && /^(pg_catalog\.)?set_config$/.test(pathOf(funcname ?? [])) ? `(${name})` : '';
}
