import { Acceptances } from './acceptances.ts';
import { readBeside } from './beside.ts';
import type { Relation, Routine } from './catalogue.ts';
import { checkOptions } from './checkOptions.ts';
import { type Counterexample, openCounterexamples } from './counterexample.ts';
import { definersOf, questionsOfBody } from './definers.ts';
import type { Hints } from './ExampleRows.ts';
import { createEnvironment } from './environment.ts';
import { type BoundGoal, goalsOf, inFull, isPrivileged, noteAssigned } from './goals.ts';
import { createHashes } from './hashes.ts';
import type { Goal, Judgement, Options } from './interface.ts';
import { Problem, TooLarge } from './problem.ts';
import { openProver, type Prover } from './prover.ts';
import { QuestionError } from './QuestionError.ts';
import { assumedOf, type Given, type Question, questionOf } from './questions.ts';
import { readCatalogue } from './readCatalogue.ts';
import { readRights } from './rights.ts';

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
  const { roles, claims, assumptions } = options;
  const invariants = inFull(options.invariants, roles);
  const catalogue = await readCatalogue({ ...options, invariants });
  const given: Given = { catalogue, parser: prover.parser, claims, invariants, assumed: assumptions?.claims ?? [] };
  checkOptions(options, given);
  await checkAssumed(options, given, prover);
  noteAssigned(catalogue, prover.parser);
  const acceptances = new Acceptances(options.accepted ?? []);
  const judgements: Judgement[] = [
    ...(await judgeGoals(options, given, prover, acceptances)),
    ...(await readRights(options)).map((right) => ({ ...right, ...none })),
    ...readBeside(catalogue, prover.parser).map((one) =>
      acceptances.applied({ ...one, ...none, hash: one.hash }, one.about),
    ),
    ...(assumptions?.broken ?? []).map((broken) => ({ ...broken, ...none })),
    ...(await judgeDefiners(given, prover, acceptances)),
  ];
  return options.isAsked ? judgements : [...judgements, ...acceptances.unused(catalogue).map(unusedAcceptance)];
}

/** Neither proven nor refuted, and nothing to accept. */
const none = {
  ...{ isByPrivilege: false, hash: null, accepted: null, counterexample: null },
  verdict: 'unproven',
} as const;

/** The judgement of an acceptance whose object is gone. */
export const unusedAcceptance = (one: Goal): Judgement => ({
  ...one,
  ...none,
  why: 'is accepted, and there is no such object',
});

/** Of claims that contradict each other, everything could be proven. @throws {QuestionError} */
async function checkAssumed({ roles }: Options, given: Given, { solver }: Prover): Promise<void> {
  for (const role of given.assumed?.length ? roles : []) {
    const problem = new Problem();
    const formula = assumedOf(given, createEnvironment(given, problem, role, 'an assumption'));
    const { status } = await solver.solve(problem.script(formula));
    if (status !== 'sat' || problem.denied.size > 0)
      throw new QuestionError(
        `No claims of ${role} satisfy the assumptions: ${[...problem.denied, ...(given.assumed ?? [])].join('; ')}.`,
      );
  }
}

async function judgeGoals(
  options: Options,
  given: Given,
  prover: Prover,
  acceptances: Acceptances,
): Promise<Judgement[]> {
  const { examples, isAsked = () => true, onProgress } = options;
  const refute = examples ? openCounterexamples(options, examples, given) : neither;
  const hashOf = createHashes(given.catalogue);
  const judgements: Judgement[] = [];
  const goals = goalsOf(given.catalogue, given.invariants);
  for (const [done, goal] of goals.entries()) {
    onProgress?.(done + 1, goals.length, 'goals');
    const { invariant, relation, command, role } = goal;
    const named = {
      invariant: invariant.name,
      relation: relation.name,
      command,
      role,
      hash: hashOf(goal),
    };
    if (!isAsked(named)) continue;
    // A judgement that is accepted needs no counterexample.
    const found = await judgeGoal(goal, given, prover, acceptances.has(named) ? neither : refute);
    judgements.push(acceptances.applied({ ...named, counterexample: null, ...found, accepted: null }));
  }
  return judgements;
}

async function judgeDefiners(given: Given, prover: Prover, acceptances: Acceptances): Promise<Judgement[]> {
  const judgements: Judgement[] = [];
  for (const routine of definersOf(given.catalogue)) {
    const { signature: relation, hash, holder } = routine;
    for (const role of routine.callers) {
      const named = { invariant: 'definer', relation, command: 'call', role, hash };
      const isAccepted = acceptances.has({ ...named, role: holder });
      const broken = isAccepted ? [] : await brokenByBody(routine, role, given, prover);
      const isProven = !isAccepted && broken.length === 0;
      const why = isProven
        ? 'by its body, for all claims and arguments'
        : `runs with the rights of its owner: ${broken.join('; ')}`;
      const judgement: Judgement = {
        ...named,
        verdict: isProven ? 'proven' : 'unproven',
        why,
        isByPrivilege: false,
        accepted: null,
        counterexample: null,
      };
      judgements.push(acceptances.applied(judgement, { relation, role: holder }));
    }
  }
  return judgements;
}

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
  refute: (goal: BoundGoal, hints: Hints) => Promise<Counterexample | null>,
): Promise<Pick<Judgement, 'verdict' | 'why' | 'isByPrivilege'> & Partial<Pick<Judgement, 'counterexample'>>> {
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
  const again = questionOf(goal, given, true);
  const second = isWhole ? await solver.solve(again.problem.script(again.formula)) : first;
  if (second.status === 'unsat' && again.problem.denied.size === 0)
    return { verdict: 'proven', why: 'for all claims and rows, by foreign keys', isByPrivilege: false };
  const found = await refute(goal, hintsOf(goal.relation, question, first.values));
  if (found) return { verdict: 'refuted', why: found.what, isByPrivilege: false, counterexample: found.statements };
  const { denied } = again.problem;
  const unknowns = [...(denied.size > 0 ? denied : again.problem.unknowns)];
  if (unknowns.length > 0) return { verdict: 'unproven', why: notUnderstood(unknowns), isByPrivilege: false };
  const why =
    first.status === 'sat' ? 'may be false, but no row that was tried shows it' : 'the solver found no answer in time';
  return { verdict: 'unproven', why, isByPrivilege: false };
}

const notUnderstood = (unknowns: readonly string[]) =>
  `not understood: ${unknowns.slice(0, 3).join('; ')}${unknowns.length > 3 ? `; and ${unknowns.length - 3} more` : ''}`;

/** The invariants that what a function reads may break, or why that cannot be said. */
async function brokenByBody(routine: Routine, role: string, given: Given, { solver }: Prover): Promise<string[]> {
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
