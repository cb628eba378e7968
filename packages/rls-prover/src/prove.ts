import { openCounterexamples } from './counterexample.ts';
import { readBeside } from './effects.ts';
import { Problem } from './formula.ts';
import { type Goal, isOpen, type Judgement, type Options } from './interface.ts';
import { goalsOf, inFull, noteAssigned, predicateOf } from './invariants.ts';
import { Acceptances, createJudging, definersOf, judgeDefiner, judgeGoal } from './judge.ts';
import { referencesIn } from './parse.ts';
import { openProver, type Prover } from './prover.ts';
import { createEnvironment } from './queries.ts';
import { assumedOf, type Given } from './questions.ts';
import { readCatalogue } from './readCatalogue.ts';
import { readRights } from './rights.ts';

/**
 * Proves or refutes every goal and every fact that the proofs rest on. The caller rolls the transaction back.
 *
 * @param prover remains open. Without one, this function opens a prover and closes it.
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

/** Reads what the proofs are about. @throws {QuestionError} when a name of the options means nothing, or no client fits the assumptions */
export async function readGiven(options: Options, prover: Prover): Promise<Given> {
  const { roles, claims, assumptions } = options;
  const { parser } = prover;
  const invariants = inFull(options.invariants, roles);
  const catalogue = await readCatalogue({ ...options, invariants });
  const given: Given = { catalogue, parser, claims, invariants, assumed: assumptions?.claims ?? [] };
  checkOptions(options, given);
  await checkAssumed(options, given, prover);
  noteAssigned(catalogue.relations.values(), catalogue, parser);
  return given;
}

async function judge(options: Options, prover: Prover): Promise<Judgement[]> {
  const { assumptions, examples, isAsked, onProgress } = options;
  const given = await readGiven(options, prover);
  const { catalogue, parser, invariants } = given;
  const acceptances = new Acceptances(options.accepted ?? []);
  const refutation = examples && openCounterexamples(options, examples, given);
  const judging = createJudging(given, prover, acceptances, refutation);

  const beside = readBeside(catalogue, parser).map(({ about, ...one }) =>
    acceptances.applied({ ...none, ...one }, about),
  );
  for (const routine of definersOf(catalogue))
    for (const role of routine.callers) beside.push(await judgeDefiner(routine, role, judging));
  const breaking = beside.find((one) => isOpen(one) && isBreaking(one));

  const judgements: Judgement[] = [];
  const goals = goalsOf(catalogue, invariants, isAsked);
  for (const [done, goal] of goals.entries()) {
    onProgress?.(done + 1, goals.length, 'goals');
    judgements.push(undermined(await judgeGoal(goal, judging), breaking));
  }
  for (const right of await readRights(options)) judgements.push({ ...right, ...none });
  judgements.push(...beside);
  for (const broken of assumptions?.broken ?? []) judgements.push({ ...none, ...broken });
  // Goals that are not asked use no acceptance.
  if (!isAsked) judgements.push(...acceptances.unused(catalogue).map(unusedAcceptance));
  return judgements;
}

/** Whether a judgement is about something that may do anything, such as run text or set a claim, and not just show rows. */
const isBreaking = ({ invariant, command, why }: Judgement) =>
  invariant === 'claims' || command === 'trigger' || /not understood: |may read or change more/.test(why);

/** A proof rests on claims that are constants, and on rows that only commands change. */
const undermined = (judgement: Judgement, breaking: Judgement | undefined): Judgement =>
  breaking && judgement.verdict === 'proven'
    ? {
        ...judgement,
        verdict: 'unproven',
        isByPrivilege: false,
        why: `rests on ${breaking.relation}, which ${breaking.why}`,
      }
    : judgement;

/** A judgement that is unproven, and that cannot be accepted. */
const none = {
  ...{ isByPrivilege: false, accepted: null, remedy: null, counterexample: null },
  verdict: 'unproven',
} as const;

/** The judgement of an acceptance whose object is gone. */
const unusedAcceptance = (one: Goal): Judgement => ({
  ...one,
  ...none,
  why: 'is accepted, and there is no such object',
});

/** Contradictory assumptions would prove everything. @throws {QuestionError} when no claims satisfy them */
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

/**
 * Checks that each name of the question means something: roles, relations, columns and claims.
 * An invariant that matches nothing is proven of nothing.
 *
 * @throws {QuestionError} with everything that matches nothing
 */
function checkOptions({ roles, claims, examples }: Options, { catalogue, parser, invariants }: Given): void {
  const problems: string[] = [];
  const known = new Set(['role', ...claims.map(({ name }) => name)]);
  const relations = [...catalogue.relations.values()];
  for (const role of new Set([...roles, ...invariants.flatMap((one) => one.roles)]))
    if (!catalogue.roles.has(role)) problems.push(`the role ${role} does not exist`);
  for (const { name, relation, columns, expression } of invariants) {
    const of = `the invariant ${name}${relation === '*' ? '' : ` of ${relation}`}`;
    const places = relations.filter((one) => relation === '*' || one.name === relation);
    if (places.length === 0) problems.push(`${of} matches no table or view`);
    const [predicate, table = ''] = predicateOf(parser.expression(expression));
    if (predicate === 'only_through' && !catalogue.relations.has(table))
      problems.push(`${of} has the table ${table}, which does not exist`);
    const has = (column: string) => places.some((one) => one.columns.some((found) => found.name === column));
    const named = referencesIn(parser.expression(expression));
    const missing = [...columns, ...named.filter(({ row }) => row !== 'claims').map(({ column }) => column)].filter(
      (column) => !has(column),
    );
    if (places.length > 0)
      for (const column of new Set(missing)) problems.push(`${of} has the column ${column}, which no such table has`);
    for (const { row, column } of named)
      if (row === 'claims' && !known.has(column))
        problems.push(`${of} has the claim ${column}, which is none of the claims`);
  }
  for (const { name, claims: held } of examples?.principals ?? [])
    for (const claim of Object.keys(held))
      if (!known.has(claim)) problems.push(`the principal ${name} has the claim ${claim}, which is none of the claims`);
  if (problems.length > 0) throw new QuestionError(`The question matches nothing: ${problems.join('; ')}.`);
}

/** A question in which a name means nothing, or whose assumptions contradict each other. */
class QuestionError extends Error {
  override name = 'QuestionError';
}
