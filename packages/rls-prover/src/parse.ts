import { loadModule, type Node, parsePlPgSQLSync, parseSync, type SelectStmt } from 'libpg-query';

export type { Alias, FuncCall, Node, SelectStmt } from 'libpg-query';

/** PostgreSQL's own parser, as WebAssembly. */
export type Parser = {
  expression(text: string): Node;

  query(text: string): SelectStmt;
  /** The expression that a function of PL/pgSQL returns, if it does nothing else. */
  returned(source: string | null): string | null;
};

export async function loadParser(): Promise<Parser> {
  await loadModule();

  function query(text: string): SelectStmt {
    // The parser refuses an empty text, such as the body of a function that is stored parsed.
    const statements = parseSync(text || ';').stmts ?? [];
    const [first] = statements;
    if (statements.length !== 1 || !first?.stmt || !('SelectStmt' in first.stmt))
      throw new NotUnderstood('more than one select');
    return first.stmt.SelectStmt;
  }

  return {
    query,
    expression(text) {
      const [target] = query(`select ${text}`).targetList ?? [];
      if (!target || !('ResTarget' in target) || !target.ResTarget.val) throw new NotUnderstood(text);
      return target.ResTarget.val;
    },
    returned(source) {
      // A variable may have the name of a parameter, and a directive say which of two names is meant.
      if (source === null || /\bdeclare\b|#/i.test(source)) return null;
      const parsed = parsePlPgSQLSync(source) as unknown as PlPgSql;
      const body = parsed.plpgsql_funcs?.[0]?.PLpgSQL_function?.action?.PLpgSQL_stmt_block;
      const [statement, ...others] = body?.body ?? [];
      // PL/pgSQL adds an empty return at the end.
      const isAll = others.every(({ PLpgSQL_stmt_return: end }) => end && !end.expr) && !body?.exceptions;
      return (isAll && statement?.PLpgSQL_stmt_return?.expr?.PLpgSQL_expr.query) || null;
    },
  };
}

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

type PlPgSql = {
  plpgsql_funcs?: {
    PLpgSQL_function?: {
      action?: {
        PLpgSQL_stmt_block?: {
          exceptions?: unknown;
          body?: { PLpgSQL_stmt_return?: { expr?: { PLpgSQL_expr: { query: string } } } }[];
        };
      };
    };
  }[];
};
