import type { Catalogue, Policy, Relation } from './catalogue.ts';
import { open, translateWhole } from './expression.ts';
import { and, isTrue, or } from './formula.ts';
import type { Command } from './interface.ts';
import { namesIn, type Parser, type SelectStmt } from './parse.ts';
import { type Environment, everything, type Row, scopeOf } from './scope.ts';

/**
 * The condition that policies put on a row for the actor of the environment.
 *
 * Exact as far as their expressions are: one permissive policy must be true, and all restrictive ones. Null lets nothing pass, neither in
 * `using` nor in `with check`.
 *
 * Absent on purpose: the rule that an update or delete which reads columns must see the row by a policy of `select`, too. A statement that
 * reads none need not. So this condition is weaker than that of most statements, and the proof holds for all of them.
 */
export function rowAccess(
  relation: Relation,
  command: Exclude<Command, 'truncate'>,
  part: 'using' | 'check',
  row: Row,
  env: Environment,
): string {
  if (passesBy(relation, env)) return 'true';

  if (env.asked.includes(relation.name))
    return open(`a policy of ${relation.name} that asks itself`, env, 'bool').value;
  const policies = applicable(relation, command, env);
  const asks = (policy: Policy): string[] => {
    const text = part === 'check' ? (policy.check ?? policy.using) : policy.using;
    return text === null ? [] : [holds(relation, text, policy.name, row, env)];
  };
  const permissive = policies.filter((policy) => policy.permissive).flatMap(asks);
  const restrictive = policies.filter((policy) => !policy.permissive).flatMap(asks);
  return and(or(...permissive), ...restrictive);
}

function holds(relation: Relation, text: string, name: string, row: Row, env: Environment): string {
  const source = `${name} on ${relation.name}: ${text}`;
  return isTrue(
    translateWhole(env.parser.expression(text), scopeOf(relation, row), {
      ...env,
      source,
      asked: [...env.asked, relation.name],
    }),
  );
}

type Acting = Pick<Environment, 'actor' | 'catalogue'>;

/** Whether no policy binds the actor: it owns the table, bypasses row-level security, or it is off. */
export function passesBy(relation: Relation, { actor, catalogue }: Acting): boolean {
  if (actor === everything) return true;
  const role = catalogue.roles.get(actor);
  const owns = role?.has.includes(relation.owner) ?? true;
  return (
    role?.bypasses ||
    !relation.rowSecurity ||
    relation.rowSecurity === 'off' ||
    (owns && relation.rowSecurity !== 'forced')
  );
}

/** The policies that bind the actor when it gives a command. */
export function applicable(relation: Relation, command: Command, { actor, catalogue }: Acting): Policy[] {
  const has = catalogue.roles.get(actor)?.has ?? [];
  return relation.policies.filter(
    (policy) =>
      (policy.command === command || policy.command === 'all') &&
      policy.roles.some((role) => role === 'public' || has.includes(role)),
  );
}

/** The views that a query reads. */
export const viewsOf = (query: SelectStmt, { paths }: Catalogue): Relation[] =>
  [...namesIn(query).relations].flatMap((path) => {
    const relation = paths.get(path);
    return relation?.kind === 'view' && relation.definition !== null ? [relation] : [];
  });

/** The queries of the views that a query reads, at any depth. */
export const queriesBelow = (query: SelectStmt, catalogue: Catalogue, parser: Parser): SelectStmt[] =>
  viewsOf(query, catalogue).flatMap(({ definition }) => {
    const inner = parser.query(definition ?? '');
    return [inner, ...queriesBelow(inner, catalogue, parser)];
  });

/** The one table of a view that commands pass on to. */
export function baseOf(
  { definition, isRewritten }: Relation,
  { parser, catalogue }: { parser: Parser; catalogue: Catalogue },
): Relation | undefined {
  const query = definition !== null && !isRewritten ? parser.query(definition) : undefined;
  const [item, ...others] = query?.fromClause ?? [];
  const [path = ''] = item && 'RangeVar' in item && others.length === 0 ? namesIn(item).relations : [];
  return catalogue.paths.get(path);
}

/**
 * Whether an error of what a client asks may show what a view leaves out.
 * Without `security_barrier`, PostgreSQL may ask a client's condition before the view's own. A view of its caller leaves out nothing that the caller
 * may not read anyway, unless it reads such a view.
 */
export function isLeaking(view: Relation, catalogue: Catalogue, parser: Parser): boolean {
  if (view.kind !== 'view' || view.definition === null || view.isBarrier) return false;
  const query = parser.query(view.definition);
  const { keys } = namesIn(query);
  const isFiltering = ['whereClause', 'JoinExpr', 'havingClause'].some((key) => keys.has(key));
  return (
    (isFiltering && !view.isInvoker) || viewsOf(query, catalogue).some((inner) => isLeaking(inner, catalogue, parser))
  );
}
