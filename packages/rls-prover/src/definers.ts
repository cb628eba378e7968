import { type Catalogue, granteesOf, isSeen, signature } from './catalogue.ts';
import { createEnvironment } from './environment.ts';
import { hasCall, isPlain } from './functions.ts';
import type { Options } from './interface.ts';
import { type Given, readsBreaking } from './invariants.ts';
import { or } from './logic.ts';
import { NotUnderstood, type Parser, type SelectStmt, selectsIn } from './parse.ts';
import { Problem } from './problem.ts';
import { forSome } from './query.ts';
import { emptyScope } from './scope.ts';

/**
 * A function that runs with its owner's rights and that client roles may call.
 * `holder` is all to whom it is granted.
 */
export type Definer = { object: string; callers: string[]; holder: string };

/** The security definer functions that client roles may execute, in any schema that is looked at. */
export const readDefiners = async ({
  client,
  roles,
  assumptions,
}: Pick<Options, 'client' | 'roles' | 'assumptions'>): Promise<Definer[]> =>
  (await client.query(definersStatement, [roles, assumptions?.ignoredSchemas ?? null])).rows;

/**
 * For each invariant, the question whether a row that the function reads can break it.
 * Or why there is no such question.
 *
 * Sound: a body of one select does nothing but read, if what it calls does. Each select within it, at whatever depth, is asked by itself
 * with its owner's rights, what comes from outside of it left open. A call of anything that could read by itself is no such body, also by an
 * operator, a cast or a view.
 */
export function questionsOfBody(
  object: string,
  role: string,
  given: Given,
): { name: string; problem: Problem; formula: string }[] | string {
  const { catalogue, parser, invariants } = given;

  const routine = [...catalogue.functions.values()].flat().find(({ signature }) => signature === object);
  const body = routine && selectOf(routine.language, routine.body, routine.source, parser);
  if (!routine || !body || !isPlain(routine)) return 'its body is more than one select';
  const mayRead = (name: string) => {
    const plain = name.replace(/^pg_catalog\./, '');
    const builtin = catalogue.ownNames.has(name) ? undefined : catalogue.builtins.get(plain);
    if (builtin) return builtin.volatility === 'v' || (builtin.volatility === 's' && readingBuiltins.test(plain));
    return (catalogue.functions.get(name) ?? [null]).some(
      (called) => !called || called.isDefiner || !readsNothing(called.language, called.body, called.source, parser),
    );
  };
  const texts = [body, ...viewsIn(body, catalogue, parser)];
  if (hasCall(texts, mayRead) || texts.some((text) => isMore(text, catalogue)))
    return 'its body calls what may read or change more';
  return [...new Set(invariants.map(({ name }) => name))].map((name) => {
    const problem = new Problem();
    const env = createEnvironment(given, problem, routine.owner, routine.name);
    const formulas = selectsIn(body).map((select) =>
      forSome(select, emptyScope, env, (_row, within) => readsBreaking(name, role, invariants, within)),
    );
    return { name, problem, formula: or(...formulas) };
  });
}

/** PostgreSQL's own that read tables by their names, or what others do. */
const readingBuiltins =
  /_to_xml|^ts_|^lo_|^current_query$|^pg_(?!has_role$|typeof$|snapshot_|current_(snapshot|xact_id))/;

/** The queries of the views that a query reads, at any depth. */
function viewsIn(node: unknown, catalogue: Catalogue, parser: Parser): SelectStmt[] {
  const names = [...JSON.stringify(node).matchAll(/"schemaname":"([^"]+)","relname":"([^"]+)"/g)].map(
    ([, schema, name]) => `${schema}.${name}`,
  );
  return names.flatMap((name) => {
    const view = catalogue.relations.get(name);
    if (view?.kind !== 'view' || !view.definition) return [];
    const query = parser.query(view.definition.replace(/;\s*$/, ''));
    return [query, ...viewsIn(query, catalogue, parser)];
  });
}

/** Whether a statement changes rows, or has an operator or cast that is not PostgreSQL's own. */
function isMore(node: unknown, catalogue: Catalogue): boolean {
  if (catalogue.casts.size > 0) return true;
  const text = JSON.stringify(node);
  if (/"(Insert|Update|Delete|Merge)Stmt"/.test(text)) return true;
  const names = [
    ...text.matchAll(
      /"(?:name|operName|names)":\[\{"String":\{"sval":"([^"]+)"\}\}(?:,\{"String":\{"sval":"([^"]+)"\}\})?/g,
    ),
  ];
  return names.some(([, first = '', second]) =>
    second === undefined
      ? catalogue.operators.has(first)
      : first !== 'pg_catalog' && !catalogue.families.has(`${first}.${second}`),
  );
}

function selectOf(language: string, body: string, source: string | null, parser: Parser): SelectStmt | null {
  try {
    if (language === 'sql') return parser.query(body);
    const returned = language === 'plpgsql' ? parser.returned(source) : null;
    return returned === null ? null : parser.query(`select ${returned}`);
  } catch (error) {
    if (error instanceof NotUnderstood || (error instanceof Error && error.name === 'SqlError')) return null;
    throw error;
  }
}

function readsNothing(language: string, body: string, source: string | null, parser: Parser): boolean {
  const select = selectOf(language, body, source, parser);
  return (
    select !== null &&
    !JSON.stringify(select).includes('"fromClause"') &&
    !hasCall([select], (name) => name.includes('.'))
  );
}

const definersStatement = `
  select ${signature} as object, called.callers, array_to_string(${granteesOf}, ', ') as holder
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  cross join lateral (
    select array(
      select client from unnest($1::text[]) as client
      where exists (select from pg_roles r where pg_has_role(client, r.oid, 'member') and has_function_privilege(r.oid, p.oid, 'execute'))) as callers
  ) as called
  where ${isSeen} and p.prosecdef and called.callers <> '{}' and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  order by 1`;
