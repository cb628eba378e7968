import { isPinned, mayBeOwn, pinnedPath, type Routine } from './catalogue.ts';
import { findUnknown } from './constructs.ts';
import { effectsOf, isHarmless } from './effects.ts';
import { apply, cast, deny, maybeNull, oneValueOf, open, scalars, translate } from './expression.ts';
import { choose, or, type Value } from './formula.ts';
import {
  type FuncCall,
  isByClient,
  type Node,
  NotUnderstood,
  type Parser,
  pathOf,
  type SelectStmt,
  textsOf,
} from './parse.ts';
import { deepest, type Environment, emptyScope, everything, reserved, type Scope } from './scope.ts';

/**
 * Translates a call.
 *
 * Sound, by the kind of function:
 *
 * - A function whose body is one expression yields that expression with its arguments. A definer reads with its owner's rights.
 * - `select f(…)` of a function that returns a set yields the rows of its body, if that is one query.
 * - The body is ignored if the function has settings of its own other than a search path. It is also ignored if the function is marked
 *   immutable and its body is not, since PostgreSQL may keep the claims of another transaction.
 * - PostgreSQL's own immutable functions yield the same for the same arguments, as do a few that depend on the statement's time. Any other function may yield something else at each call:
 *   its volatility is a label.
 */
export function callFunction(call: FuncCall, scope: Scope, env: Environment): Value {
  const name = nameOf(call);

  const builtin = builtinOf(call, env);
  const args = (call.args ?? []).map((argument) => translate(argument, scope, env));
  if (call.agg_star || call.agg_filter || call.over || call.agg_distinct || call.agg_order || call.agg_within_group) {
    return builtin && env.catalogue.builtins.has(builtin) ? open(`call of ${name}`, env) : deny(`call of ${name}`, env);
  }
  return builtin === null ? callRoutine(name, args, env) : callBuiltin(builtin, args, env);
}

const nameOf = ({ funcname = [] }: FuncCall): string => pathOf(funcname);

/** The name of a function of PostgreSQL's own; without a schema, only if no other has that name. */
export function builtinOf(call: FuncCall, { catalogue: { ownNames }, isPinned }: Environment): string | null {
  const [schema, name = ''] = nameOf(call).split('.');
  if (name === '') return mayBeOwn(ownNames, schema ?? '', isPinned) ? null : (schema ?? '');
  return schema === 'pg_catalog' && !ownNames.has(`pg_catalog.${name}`) ? name : null;
}

function callBuiltin(name: string, args: readonly Value[], env: Environment): Value {
  const builtin = env.catalogue.builtins.get(name);
  const type = builtin?.returns[args.length] ?? '';
  const given = scalars(args);
  const [setting] = given ?? [];
  // The name of a setting has no case. One that is no claim may be set by a function meanwhile.
  const claimed = name === 'current_setting' ? (setting?.literal?.toLowerCase() ?? '') : '';
  if (env.catalogue.settings.has(claimed) && !env.isImmutable)
    return env.problem.applied(`setting ${claimed}`, 'text', []);
  if (!builtin || !isHarmless(name, builtin.volatility)) return deny(`call of ${name}`, env, type);
  const isImmutable = builtin.volatility === 'i' || (times.has(name) && !env.isImmutable);
  const isSame = isImmutable || (byZone.has(name) && !env.isImmutable);
  if (!given || builtin.isOfRows || !isSame) return open(`call of ${name}`, env, type);
  return apply(`${name}()`, type, given, env, isImmutable);
}

/** The same within a statement: it has one time. */
const times = new Set(['now', 'transaction_timestamp', 'statement_timestamp']);
/** The same for the same arguments under one time zone. */
const byZone = new Set(['extract', 'date_part', 'date_trunc', 'timezone', 'to_char']);

function callRoutine(name: string, args: readonly Value[], env: Environment): Value {
  const overloads = env.catalogue.functions.get(name) ?? [];
  const [routine, ...others] = overloads.filter(({ parameters }) => parameters.length === args.length);
  if (!routine || others.length > 0 || !overloads.every(({ isExact }) => isExact) || routine.isOfRows)
    return deny(`call of ${name}`, env, routine?.returns);
  // A definer has a judgement of its own. So it may yield any value.
  const { unknown } = effectsOf(routine, env.catalogue, env.parser);
  if (unknown && !routine.isDefiner) return deny(`call of ${name}: ${unknown}`, env, routine.returns);
  if (env.depth > deepest) return open(`call of ${name}`, env, routine.returns);
  // What it yields may be another at each call: by the rows that it reads, their order, or what its label hides.
  return inlined(routine, args, env) ?? open(`call of ${routine.name}`, env, routine.returns, scalars(args) ?? []);
}

function inlined(routine: Routine, args: readonly Value[], env: Environment): Value | null {
  if (routine.returnsSet || routine.isTrigger || routine.volatility === 'v' || !isPlain(routine)) return null;
  if (env.isImmutable && routine.volatility !== 'i') return open(`call of ${routine.name}`, env, routine.returns);
  const body = bodyOf(routine, env);
  if (!body) return null;
  const unknown = findUnknown(body);
  if (unknown) return deny(`${unknown} in ${routine.name}`, env, routine.returns);
  const within = environmentIn(routine, env);
  const scope = { ...emptyScope, parameters: parametersOf(routine, args, env) };
  const value = cast(translate(body, scope, within), routine.returns, within);
  if (!routine.isStrict || value.kind === 'collection') return routine.isStrict ? null : value;
  const hasNull = or(...args.map((argument) => argument.isNull));
  return maybeNull(value, choose(hasNull, 'true', value.isNull));
}

function parametersOf(routine: Routine, args: readonly Value[], env: Environment): Map<string, Value> {
  const parameters = new Map<string, Value>();
  for (const [index, { name, type }] of routine.parameters.entries()) {
    const value = cast(args[index] ?? { kind: 'scalar', type: 'unknown', isNull: 'true', value: '0' }, type, env);
    parameters.set(reserved(index + 1), value).set(name, value);
  }
  return parameters;
}

/** Within a function: a definer reads with its owner's rights. */
function environmentIn(routine: Routine, env: Environment): Environment {
  // A view reads its tables with its owner's rights, and calls functions with those of the caller.
  const actor = env.actor === everything ? everything : env.user;
  return {
    ...env,
    ...(routine.isDefiner ? { actor: routine.owner, user: routine.owner } : { actor }),
    depth: env.depth + 1,
    source: `${routine.name}, in ${env.source}`,
    isImmutable: routine.volatility === 'i',
    isPinned: env.isPinned && isPinned(routine),
  };
}

/** The query whose rows a function returns, where it is translated, and the column that these rows become. */
export type RowsOfFunction = { query: SelectStmt; scope: Scope; env: Environment; column: string; type: string };

/**
 * The query of which `select f(…)` yields the rows: the body of a function that returns a set.
 * Null for any other query, for a body that is not one query whose names mean what they say, and for arguments of several rows.
 */
export function setOf(select: SelectStmt, outer: Scope, env: Environment): RowsOfFunction | null {
  const { targetList: [target, ...others] = [], op: _op, limitOption: _limitOption, ...rest } = select;
  const { val: call, name } = target && 'ResTarget' in target ? target.ResTarget : {};
  if (!call || !('FuncCall' in call) || others.length > 0 || Object.values(rest).some(isGiven)) return null;
  if (builtinOf(call.FuncCall, env) !== null || call.FuncCall.over || call.FuncCall.agg_star) return null;
  const [routine, ...overloads] = env.catalogue.functions.get(nameOf(call.FuncCall)) ?? [];
  const args = call.FuncCall.args ?? [];
  const isOne =
    routine?.returnsSet && overloads.length === 0 && routine.isExact && args.length === routine.parameters.length;
  if (!isOne || routine.language !== 'sql' || routine.volatility === 'v' || routine.isStrict || !isPlain(routine))
    return null;
  if (hasCall(args, (name) => mayBeOfRows(name, env))) return null;
  if (env.isImmutable || !env.catalogue.simpleTypes.has(routine.returns)) return null;
  const query = queryOf(routine, env.parser);
  if (!query || findUnknown({ SelectStmt: query }) || effectsOf(routine, env.catalogue, env.parser).unknown)
    return null;
  const parameters = parametersOf(
    routine,
    args.map((argument) => translate(argument, outer, env)),
    env,
  );
  return {
    ...{ query, scope: { ...emptyScope, parameters }, env: environmentIn(routine, env) },
    ...{ column: name ?? textsOf(call.FuncCall.funcname ?? []).at(-1) ?? '', type: routine.returns },
  };
}

const isGiven = (part: unknown) => part !== undefined && part !== false && !(Array.isArray(part) && part.length === 0);

/** Whether its body means what it says: no settings, and unqualified names are PostgreSQL's own. */
export const isPlain = ({ settings }: Routine): boolean => settings.every((setting) => pinnedPath.test(setting));

/** What it returns, as one expression. */
function bodyOf(routine: Routine, { parser }: Environment): Node | null {
  const query = queryOf(routine, parser);
  return query && (oneValueOf(query) ?? { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: query } } });
}

/** The one query of a function's body, or null; also where a client's setting decides what it means. */
export function queryOf(routine: Routine, parser: Parser): SelectStmt | null {
  if (isByClient(routine)) return null;
  try {
    if (routine.language === 'sql') return parser.query(routine.body);
    const returned = routine.language === 'plpgsql' ? parser.returned(routine.source) : null;
    return returned === null ? null : parser.query(`select ${returned}`);
  } catch (error) {
    if (error instanceof NotUnderstood || (error instanceof Error && error.name === 'SqlError')) return null;
    throw error;
  }
}

/** Whether a function may be an aggregate, or yield several rows; one that is not known may. */
export function mayBeOfRows(name: string, { catalogue, isPinned }: Environment): boolean {
  const { builtins, functions, ownNames } = catalogue;
  if (mayBeOwn(ownNames, name, isPinned)) return true;
  const builtin = builtins.get(name.replace(/^pg_catalog\./, ''));
  if (builtin) return builtin.isOfRows;
  return (functions.get(name) ?? [null]).some((routine) => !routine || routine.isOfRows || routine.returnsSet);
}

/** Whether an expression calls such a function, in its subqueries, too. */
export function hasCall(node: unknown, isSuch: (name: string) => boolean): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if ('FuncCall' in node && isSuch(nameOf((node as { FuncCall: FuncCall }).FuncCall))) return true;
  return Object.values(node).some((part) => hasCall(part, isSuch));
}
