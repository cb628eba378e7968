import { readBeside } from './beside.ts';
import { type Relation, readCatalogue } from './catalogue.ts';
import { openCounterexamples } from './counterexample.ts';
import { questionsOfBody, readDefiners } from './definers.ts';
import type { Hints } from './ExampleRows.ts';
import { type BoundGoal, goalsOf, inFull, isPrivileged } from './goals.ts';
import type { Goal, Judgement, Options } from './interface.ts';
import { type Given, type Question, questionOf } from './invariants.ts';
import { TooLarge } from './problem.ts';
import { openProver, type Prover } from './prover.ts';

/**
 * Judges every goal, and the facts on which the proofs rest, in a transaction that the caller rolls back.
 *
 * @param prover stays open; without one, a prover is opened and closed
 */
export async function prove(options: Options, prover?: Prover): Promise<Judgement[]> {
  if (prover) return judge(options, prover);

  const own = await openProver();
  try {
    return await judge(options, own);
  } finally {
    await own.close();
  }
}

async function judge(options: Options, prover: Prover): Promise<Judgement[]> {
  const { roles, claims, accepted = [] } = options;
  const invariants = inFull(options.invariants, roles);
  const catalogue = await readCatalogue({ ...options, invariants });
  const given: Given = { catalogue, parser: prover.parser, claims, invariants };
  const reasons = new Map(accepted.map((one) => [nameOf(one), one.reason]));
  const reasonOf: ReasonOf = (goal) => reasons.get(nameOf(goal)) ?? null;
  return [
    ...(await judgeGoals(options, given, prover, reasonOf)),
    ...(await judgeBeside(options, reasonOf)),
    ...(await judgeDefiners(options, given, prover, reasonOf)),
  ];
}

/** Why a goal may be so although it is not proven. */
type ReasonOf = (goal: Goal) => string | null;

async function judgeGoals(options: Options, given: Given, prover: Prover, reasonOf: ReasonOf): Promise<Judgement[]> {
  const { examples, isAsked = () => true } = options;
  const refute = examples ? openCounterexamples(options, examples, given.catalogue) : neither;
  const judgements: Judgement[] = [];
  for (const goal of goalsOf(given.catalogue, given.invariants)) {
    const { invariant, relation, command, role } = goal;
    const named = { invariant: invariant.name, relation: relation.name, command, role };
    if (!isAsked(named)) continue;
    const reason = reasonOf(named);
    // A judgement that is accepted needs no counterexample.
    const found = await judgeGoal(goal, given, prover, reason === null ? refute : neither);
    judgements.push({ ...named, ...found, accepted: found.verdict === 'proven' ? null : reason });
  }
  return judgements;
}

async function judgeBeside(options: Options, reasonOf: ReasonOf): Promise<Judgement[]> {
  const found = await readBeside(options);
  return found.map(({ invariant, object, command, who, problem, about, holder }) => {
    const isAcceptable = problem !== null && about !== null && holder !== null;
    return {
      ...{ invariant, relation: object, command, role: who, isByPrivilege: problem === null },
      ...{ verdict: problem === null ? 'proven' : 'unproven', why: problem ?? `the ${invariant} is a part of the key` },
      accepted: isAcceptable ? reasonOf({ invariant, relation: about, command, role: holder }) : null,
    };
  });
}

async function judgeDefiners(options: Options, given: Given, prover: Prover, reasonOf: ReasonOf): Promise<Judgement[]> {
  const judgements: Judgement[] = [];
  for (const { object, callers, holder } of await readDefiners(options)) {
    const named = { invariant: 'definer', relation: object, command: 'call' };
    const accepted = reasonOf({ ...named, role: holder });
    for (const role of callers) {
      const broken = accepted === null ? await brokenByBody(object, role, given, prover) : [];
      const isProven = accepted === null && broken.length === 0;
      judgements.push({
        ...{ ...named, role, accepted, verdict: isProven ? 'proven' : 'unproven', isByPrivilege: false },
        why: isProven
          ? 'by its body, for all claims and arguments'
          : `runs with the rights of its owner: ${broken.join('; ')}`,
      });
    }
  }
  return judgements;
}

/** The name by which a judgement is accepted. */
const nameOf = ({ invariant, relation, command, role }: Goal): string =>
  JSON.stringify([invariant, relation, command, role]);

const neither = async () => null;

async function judgeGoal(...args: Parameters<typeof decide>): ReturnType<typeof decide> {
  try {
    return await decide(...args);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return { verdict: 'unproven', why: 'not understood: its formula is too large', isByPrivilege: false };
  }
}

async function decide(
  goal: BoundGoal,
  given: Given,
  { solver }: Prover,
  refute: (goal: BoundGoal, hints: Hints) => Promise<string | null>,
): Promise<Pick<Judgement, 'verdict' | 'why' | 'isByPrivilege'>> {
  if (!isPrivileged(goal, given.catalogue)) return { verdict: 'proven', why: 'not granted', isByPrivilege: true };
  const question = questionOf(goal, given);
  if (question.formula === 'false')
    return { verdict: 'proven', why: 'no policy lets such a row pass', isByPrivilege: true };
  const shown = shownOf(goal, question);
  const first = await solver.solve(question.problem.script(question.formula, shown));
  if (first.status === 'unsat') return { verdict: 'proven', why: 'for all claims and rows', isByPrivilege: false };
  const again = questionOf(goal, given, true);
  const second = await solver.solve(again.problem.script(again.formula));
  if (second.status === 'unsat')
    return { verdict: 'proven', why: 'for all claims and rows, by foreign keys', isByPrivilege: false };
  const found = await refute(goal, hintsOf(goal.relation, question, first.values));
  if (found) return { verdict: 'refuted', why: found, isByPrivilege: false };
  const unknowns = [...again.problem.unknowns];
  if (unknowns.length > 0) return { verdict: 'unproven', why: notUnderstood(unknowns), isByPrivilege: false };
  const why =
    first.status === 'sat' ? 'may be false, but no row that was tried shows it' : 'the solver found no answer in time';
  return { verdict: 'unproven', why, isByPrivilege: false };
}

const notUnderstood = (unknowns: readonly string[]) =>
  `not understood: ${unknowns.slice(0, 3).join('; ')}${unknowns.length > 3 ? `; and ${unknowns.length - 3} more` : ''}`;

/** The invariants that what a function reads may break, or why that cannot be said. */
async function brokenByBody(object: string, role: string, given: Given, { solver }: Prover): Promise<string[]> {
  const questions = questionsOfBody(object, role, given);
  if (typeof questions === 'string') return [questions];
  const broken: string[] = [];
  for (const { name, problem, formula } of questions) {
    if (formula === 'false') continue;
    const { status } = await solver.solve(problem.script(formula));
    if (status !== 'unsat') broken.push(`${name} is not proven of what it reads`);
  }
  return broken;
}

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
