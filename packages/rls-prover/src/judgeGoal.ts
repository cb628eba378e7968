import { escapeIdentifier } from 'pg';
import type { Acceptances } from './acceptances.ts';
import { applicable, passesBy } from './access.ts';
import type { Relation, Routine } from './catalogue.ts';
import type { Counterexample } from './counterexample.ts';
import type { Hints } from './ExampleRows.ts';
import { type BoundGoal, isPrivileged, predicates } from './goals.ts';
import type { Judgement } from './interface.ts';
import { referencesIn } from './names.ts';
import { TooLarge } from './problem.ts';
import type { Prover } from './prover.ts';
import { type Given, type Question, questionOf } from './questions.ts';

/** Looks for a row that shows a violation. Resolves to what it shows, or to null. */
export type Refute = (goal: BoundGoal, hints: Hints) => Promise<Counterexample | null>;
export type Refutation = {
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
export const failed = (error: Error): string =>
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

/** What would make an invariant hold of a command, as the actor: a right or a role less, or policies that imply it. */
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
