import { escapeIdentifier } from 'pg';
import { applicable, passesBy, queriesBelow } from './access.ts';
import { type Catalogue, isPinned, type Relation, type Routine } from './catalogue.ts';
import { findUnknown } from './constructs.ts';
import type { Counterexample } from './counterexample.ts';
import type { Hints } from './ExampleRows.ts';
import { calledBy, effectsOf } from './effects.ts';
import { and, or, Problem, TooLarge } from './formula.ts';
import { isPlain, queryOf } from './functions.ts';
import type { Acceptance, Goal, Judgement } from './interface.ts';
import { actingRoles, type BoundGoal, isPrivileged, predicates, readsBreaking, readsWithin } from './invariants.ts';
import { referencesIn } from './parse.ts';
import type { Prover } from './prover.ts';
import { createEnvironment } from './queries.ts';
import { assumedOf, type Given, type Question, questionOf } from './questions.ts';
import { emptyScope, reserved, type Scope } from './scope.ts';

/** Looks for a row that shows a violation. Resolves to what it shows, or to null. */
type Refute = (goal: BoundGoal, hints: Hints) => Promise<Counterexample | null>;
type Refutation = {
  refute: Refute;
  /** Looks for a row that a function shows to a role against an invariant. */
  refuteCall: (routine: Routine, role: string) => Promise<Counterexample | null>;
};
const refuteNothing: Refute = async () => null;

/** By what judgements are made. */
export type Judging = {
  given: Given;
  prover: Prover;
  acceptances: Acceptances;
} & Refutation;

export const createJudging = (
  given: Given,
  prover: Prover,
  acceptances: Acceptances,
  refutation: Refutation = { refute: refuteNothing, refuteCall: async () => null },
): Judging => ({ given, prover, acceptances, ...refutation });

/** Judges a goal by privileges, by the solver, or by a row that shows a violation. */
export async function judgeGoal(goal: BoundGoal, judging: Judging): Promise<Judgement> {
  const { acceptances, refute } = judging;
  const { invariant, relation, command, role } = goal;
  const named = { invariant: invariant.name, relation: relation.name, command, role };
  // A judgement that is accepted needs no counterexample.
  const found = await decide(goal, { ...judging, refute: acceptances.has(named) ? refuteNothing : refute });
  return acceptances.applied({ ...named, counterexample: null, remedy: null, ...found, accepted: null });
}

type Found = Pick<Judgement, 'verdict' | 'why' | 'isByPrivilege'> &
  Partial<Pick<Judgement, 'counterexample' | 'remedy'>>;

/** A fault of the prover says nothing about the goal, and ends no other. */
const failed = (error: Error): string =>
  `not understood: ${error instanceof TooLarge ? error.message : `the prover failed: ${error.message}`}`;

async function decide(goal: BoundGoal, judging: Judging): Promise<Found> {
  const asked = await solve(goal, judging).catch((error: Error) => ({
    why: failed(error),
    hints: new Map(),
    remedy: null,
  }));
  if ('verdict' in asked) return asked;
  const { why, hints, remedy = null } = asked;
  const found = await judging.refute(goal, hints);
  if (!found) return { verdict: 'unproven', why, isByPrivilege: false, remedy };
  return {
    ...{ verdict: 'refuted', why: found.what, isByPrivilege: false, counterexample: found.statements },
    remedy: remedyOf(goal, found.actor, judging.given),
  };
}

/** The proof; or why there is none, with values that may break the invariant. */
async function solve(
  goal: BoundGoal,
  { given, prover: { solver } }: Judging,
): Promise<Found | { why: string; hints: Hints; remedy?: string | null }> {
  const question = questionOf(goal, given);
  const isWhole = question.problem.denied.size === 0;
  if (question.formula === 'false' && isWhole) {
    const why = isPrivileged(goal, given.catalogue) ? 'no policy lets such a row pass' : 'not granted';
    return { verdict: 'proven', why, isByPrivilege: true };
  }
  const shown = shownOf(goal, question);
  const first = await solver.solve(question.problem.script(question.formula, shown));
  if (first.status === 'unsat' && isWhole)
    return { verdict: 'proven', why: 'for all claims and rows', isByPrivilege: false };
  const hints = hintsOf(goal.relation, question, first.values);
  const { denied, unknowns: open } = question.problem;
  const unknowns = [...(denied.size > 0 ? denied : open)];
  if (unknowns.length > 0) return { why: notUnderstood(unknowns), hints };
  const why =
    first.status === 'sat' ? 'may be false, but no row that was tried shows it' : 'the solver found no answer in time';
  return { why, hints, remedy: remedyOf(goal, goal.role, given) };
}

/** A change by which the invariant holds: revoke a right or a role from the client, or let its policies imply the invariant. */
function remedyOf(
  { invariant, relation, command, role }: BoundGoal,
  actor: string,
  { catalogue, parser }: Given,
): string | null {
  const { name, kind, isInvoker, privileges } = relation;
  if (actor !== role) return `revoke ${quoted(actor)} from ${quoted(role)}`;
  if (kind === 'view') return isInvoker ? null : `alter view ${name} set (security_invoker = true)`;
  if (command === 'truncate') return `revoke truncate on ${name} from ${quoted(role)}`;
  if (passesBy(relation, { actor, catalogue }))
    return `alter table ${name} enable row level security, force row level security`;
  const policies = applicable(relation, command, { actor, catalogue }).filter(({ permissive }) => permissive);
  if (policies.length === 0) return null;
  // The roles that bring a policy to the client.
  const lenders = policies
    .filter(({ roles }) => !roles.includes(role) && !roles.includes('public'))
    .flatMap(({ roles }) => roles.filter((one) => catalogue.roles.get(role)?.has.includes(one)));
  const isPredicate = predicates.test(invariant.expression);
  const compared = isPredicate
    ? policies.flatMap(({ using }) => using?.match(/\w+/g) ?? [])
    : referencesIn(parser.expression(invariant.expression)).flatMap(({ row, column }) =>
        row === 'new' ? [column] : [],
      );
  const writable =
    command === 'update' ? (privileges[`update ${role}`] ?? []).filter((one) => compared.includes(one)) : [];
  const part = { select: 'using', delete: 'using', insert: 'check', update: isPredicate ? 'check' : 'using and check' }[
    command
  ];
  const implied = isPredicate && command === 'update' ? 'its using' : invariant.expression.replaceAll(/\s+/g, ' ');
  return [
    ...[...new Set(lenders)].map((lender) => `revoke ${quoted(lender)} from ${quoted(role)}`),
    `let the ${part} of ${policies.map((policy) => policy.name).join(' and ')} imply ${implied}`,
    ...(writable.length > 0
      ? [`revoke update (${writable.map(quoted).join(', ')}) on ${name} from ${quoted(role)}`]
      : []),
  ].join('; or ');
}

const quoted = (name: string) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : escapeIdentifier(name));

const notUnderstood = (unknowns: readonly string[]) =>
  `not understood: ${unknowns.slice(0, 3).join('; ')}${unknowns.length > 3 ? `; and ${unknowns.length - 3} more` : ''}`;

/** Terms whose values make an example out of a row: columns of the row that is read or written. */
function shownOf({ relation, command }: BoundGoal, { formula }: Question): ReadonlyMap<string, string> {
  const row = command === 'insert' ? '|new|' : '|old|';
  if (relation.kind === 'view' || !formula.includes(row)) return new Map();
  const shown = new Map<string, string>();
  for (const { name, type } of relation.columns) {
    const [value, isNull] = [`(|${relation.name}.${name}| ${row})`, `(|null ${relation.name}.${name}| ${row})`];
    if (formula.includes(value)) shown.set(name, type === 'bool' ? `(ite ${value} 1 0)` : value);
    if (formula.includes(isNull)) shown.set(`${name} is null`, `(ite ${isNull} 1 0)`);
  }
  return shown;
}

function hintsOf(relation: Relation, { problem }: Question, values: ReadonlyMap<string, string>): Hints {
  const hints = new Map<string, string | null>();
  for (const { name, type } of relation.columns) {
    const value = values.get(name)?.replace(/^\(- (\d+)\)$/, '-$1');
    if (values.get(`${name} is null`) === '1') hints.set(name, null);
    else if (value !== undefined && /^int\d$/.test(type)) hints.set(name, value);
    else if (value !== undefined && type === 'bool') hints.set(name, value === '1' ? 'true' : 'false');
    else if (value !== undefined) {
      const text = problem.literals.get(value);
      if (text !== undefined) hints.set(name, text);
    }
  }
  return hints;
}

/** The security definer functions that client roles may execute, in any schema that is looked at. */
export const definersOf = ({ functions }: Catalogue): Routine[] =>
  [...functions.values()]
    .flat()
    .filter(({ isDefiner, isTrigger, callers }) => isDefiner && !isTrigger && callers.length > 0);

/** Judges a security definer function for one of the roles that may call it. */
export async function judgeDefiner(routine: Routine, role: string, judging: Judging): Promise<Judgement> {
  const { signature: relation, holder } = routine;
  const named = { invariant: 'definer', relation, command: 'call', role };
  const isAccepted = judging.acceptances.has({ ...named, role: holder });
  const broken = isAccepted ? [] : await brokenByBody(routine, role, judging).catch((error: Error) => [failed(error)]);
  const isProven = !isAccepted && broken.length === 0;
  const why = isProven
    ? 'by its body, for all claims and arguments'
    : `runs with the rights of its owner: ${broken.join('; ')}`;
  const shown = isProven || isAccepted ? null : await judging.refuteCall(routine, role);
  const found = shown
    ? { verdict: 'refuted' as const, why: `${shown.what}; ${why}`, counterexample: shown.statements }
    : { verdict: isProven ? ('proven' as const) : ('unproven' as const), why, counterexample: null };
  return judging.acceptances.applied(
    { ...named, ...found, isByPrivilege: false, accepted: null, remedy: null },
    { relation, role: holder },
  );
}

/** The invariants that what a function reads may break, or why that cannot be said. */
async function brokenByBody(routine: Routine, role: string, { given, prover: { solver } }: Judging): Promise<string[]> {
  const questions = questionsOfBody(routine, role, given);
  if (typeof questions === 'string') return [questions];
  const broken: string[] = [];
  for (const { name, problem, formula } of questions) {
    if (problem.denied.size > 0) broken.push(...problem.denied);
    if (formula === 'false' || problem.denied.size > 0) continue;
    const { status } = await solver.solve(problem.script(formula));
    if (status !== 'unsat') broken.push(`${name} is not proven of what it reads`);
  }
  return broken;
}

/**
 * For each invariant, the question whether a row that the function reads can break it.
 * Or why there is no such question.
 *
 * Sound: a body of one select does nothing but read, if the functions that it calls do. The formula asks of each select within it, and within the
 * views that it reads. A body that calls a function that may read is not understood, also by an operator, a cast or a view.
 */
function questionsOfBody(
  routine: Routine,
  role: string,
  given: Given,
): { name: string; problem: Problem; formula: string }[] | string {
  const { catalogue, parser, invariants } = given;

  const body = queryOf(routine, parser);
  const unknown = effectsOf(routine, catalogue, parser).unknown ?? (body && findUnknown({ SelectStmt: body }));
  if (unknown) return `not understood: ${unknown}`;
  if (!body || !isPlain(routine)) return 'its body is more than one select';
  const mayRead = (called: Routine) => {
    const { unknown, reads, writes } = effectsOf(called, catalogue, parser);
    return called.isDefiner || unknown !== null || reads || writes;
  };
  const called = [
    ...calledBy(body, catalogue, isPinned(routine)),
    ...calledBy(queriesBelow(body, catalogue, parser), catalogue, true),
  ];
  if (effectsOf(routine, catalogue, parser).writes || called.some(mayRead))
    return 'its body calls what may read or change more';
  const casts = [...catalogue.functions.values()].flat().filter((one) => catalogue.implicitCasts.has(one.signature));
  if (casts.some(mayRead)) return 'its body may cast by a function that may read or change more';
  return [...new Set(invariants.map(({ name }) => name))].map((name) => {
    const problem = new Problem();
    const env = createEnvironment(given, problem, routine.owner, routine.signature);
    const formulas = readsWithin(body, scopeWithin(routine, problem), env, (within) =>
      readsBreaking(name, role, invariants, within),
    );
    const [actor, ...others] = actingRoles(role, catalogue);
    const assumed =
      actor && others.length === 0
        ? assumedOf(given, createEnvironment(given, problem, actor, routine.signature))
        : 'true';
    return { name, problem, formula: and(assumed, or(...formulas)) };
  });
}

/** Arguments are any values, the same wherever the body names them. */
const scopeWithin = ({ parameters }: Routine, problem: Problem): Scope => ({
  ...emptyScope,
  parameters: new Map(
    parameters.flatMap(({ name, type }, index) => {
      const value = problem.applied(`argument ${index + 1}`, type, []);
      return [[name, value] as const, [reserved(index + 1), value] as const];
    }),
  ),
});

/** The acceptances of judgements, each by its object. */
export class Acceptances {
  readonly #byName: ReadonlyMap<string, Acceptance>;
  readonly #used = new Set<Acceptance>();

  constructor(accepted: readonly Acceptance[]) {
    this.#byName = new Map(accepted.map((one) => [nameOf(one), one]));
  }

  /** Whether a judgement is accepted, and what it is about has not changed since. */
  has(goal: Goal): boolean {
    return this.#byName.get(nameOf(goal))?.hasChanged === false;
  }

  /** The judgement with its reason, or with the remark that it has changed. */
  applied(judgement: Judgement, about: Partial<Goal> = {}): Judgement {
    const acceptance = this.#byName.get(nameOf({ ...judgement, ...about }));
    if (acceptance) this.#used.add(acceptance);
    if (judgement.verdict === 'proven' || !acceptance) return judgement;
    return acceptance.hasChanged
      ? { ...judgement, why: `${judgement.why}; it has changed since it was accepted` }
      : { ...judgement, accepted: acceptance.reason };
  }

  /** The acceptances of objects that do not exist. */
  unused({ relations, functions, triggers }: Catalogue): readonly Goal[] {
    const objects = new Set([
      ...relations.keys(),
      ...[...functions.values()].flat().map(({ signature }) => signature),
      ...triggers.map(({ name, relation }) => `${name} on ${relation}`),
    ]);
    return [...this.#byName.values()]
      .filter((one) => !this.#used.has(one) && !objects.has(one.relation))
      .map(({ reason, hasChanged, ...goal }) => goal);
  }
}

/** The name by which a judgement is accepted. */
const nameOf = ({ invariant, relation, command, role }: Goal): string =>
  JSON.stringify([invariant, relation, command, role]);
