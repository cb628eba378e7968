import type { ClientBase } from 'pg';
import { type Catalogue, readCatalogue } from './catalogue.ts';
import { type Goal, goalsOf, type Invariant, isPrivileged, questionOf, readInvariants } from './invariants.ts';
import type { Parser } from './parse.ts';
import type { Solver } from './solver.ts';

export type Verdict = 'proven' | 'refuted' | 'unproven';

export type Judgement = Pick<Goal, 'command' | 'role'> & {
  invariant: string;
  relation: string;
  verdict: Verdict;
  why: string;
  /** Decided without a solver. */
  isByPrivilege: boolean;
  accepted: string | null;
};

export type Prover = { parser: Parser; solver: Solver };

/** Judges every goal of a database; what can be satisfied is handed to `refute`, which tries it. */
export async function judge(
  client: ClientBase,
  roles: readonly string[],
  prover: Prover,
  refute: (goal: Goal, hints: ReadonlyMap<string, string>) => Promise<string | null>,
): Promise<Judgement[]> {
  const catalogue = await readCatalogue(client, roles);
  const invariants = await readInvariants(client);
  const judgements: Judgement[] = [];
  for (const goal of goalsOf(catalogue, invariants)) {
    const { verdict, why, isByPrivilege } = await judgeGoal(goal, invariants, catalogue, prover, refute);
    judgements.push({
      ...{ invariant: goal.invariant.name, relation: goal.relation.name, command: goal.command, role: goal.role },
      ...{ verdict, why, isByPrivilege, accepted: null },
    });
  }
  return judgements;
}

async function judgeGoal(
  goal: Goal,
  invariants: readonly Invariant[],
  catalogue: Catalogue,
  { parser, solver }: Prover,
  refute: (goal: Goal, hints: ReadonlyMap<string, string>) => Promise<string | null>,
): Promise<Pick<Judgement, 'verdict' | 'why' | 'isByPrivilege'>> {
  if (!isPrivileged(goal, catalogue)) return { verdict: 'proven', why: 'not granted', isByPrivilege: true };
  const question = questionOf(goal, invariants, catalogue, parser);
  if (question.formula === 'false') return { verdict: 'proven', why: 'no policy lets a row pass', isByPrivilege: true };
  const first = await solver.solve(question.problem.script(question.formula));
  if (first.status === 'unsat') return { verdict: 'proven', why: 'no claims and no row satisfy the contrary', isByPrivilege: false };
  const again = questionOf(goal, invariants, catalogue, parser, true);
  const second = await solver.solve(again.problem.script(again.formula));
  if (second.status === 'unsat') return { verdict: 'proven', why: 'by foreign keys and keys', isByPrivilege: false };
  const found = await refute(goal, first.values);
  if (found) return { verdict: 'refuted', why: found, isByPrivilege: false };
  const unknowns = [...question.problem.unknowns];
  const why =
    unknowns.length > 0
      ? `not understood: ${unknowns.join('; ')}`
      : first.status === 'sat'
        ? 'satisfiable, but no row that was tried shows it'
        : 'the solver gave up';
  return { verdict: 'unproven', why, isByPrivilege: false };
}
