import { type Catalogue, isPinned, type Routine } from './catalogue.ts';
import { findUnknown } from './constructs.ts';
import { calledBy, effectsOf } from './effects.ts';
import { createEnvironment } from './environment.ts';
import { isPlain } from './functions.ts';
import { actingRoles } from './goals.ts';
import type { Judgement } from './interface.ts';
import { readsBreaking, readsWithin } from './invariants.ts';
import { failed, type Judging } from './judgeGoal.ts';
import { and, or } from './logic.ts';
import { isByClient, NotUnderstood, type Parser, type SelectStmt } from './parse.ts';
import { Problem } from './problem.ts';
import { assumedOf, type Given } from './questions.ts';
import { emptyScope, type Scope } from './scope.ts';
import { queriesBelow } from './views.ts';

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
export function questionsOfBody(
  routine: Routine,
  role: string,
  given: Given,
): { name: string; problem: Problem; formula: string }[] | string {
  const { catalogue, parser, invariants } = given;

  const body = isByClient(routine) ? null : selectOf(routine.language, routine.body, routine.source, parser);
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
      return [[name, value] as const, [`$${index + 1}`, value] as const];
    }),
  ),
});

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
