import { Acceptances } from './acceptances.ts';
import type { Relation } from './catalogue.ts';
import { definersOf, judgeDefiner } from './definers.ts';
import { goalsOf, noteAssigned } from './goals.ts';
import { compareExpressions } from './implication.ts';
import { type Acceptance, isOpen, type Judgement, type Mutation, type MutationOptions } from './interface.ts';
import { createJudging, type Judging, judgeGoal } from './judgeGoal.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { readGiven } from './prove.ts';
import type { Prover } from './prover.ts';
import type { Given } from './questions.ts';
import { readRelation, withRelations } from './readCatalogue.ts';
import { undone } from './savepoints.ts';

/**
 * Mutation testing of policies and rights: weakens one part at a time, and looks which proofs and lints fail.
 * Each mutant changes one relation, and is undone. The relation is read again from PostgreSQL's catalogue. Only judgements that have read
 * this relation can change, so only these are made again. No proof can notice a mutant that is provably equal to its original.
 */
export async function mutate(options: MutationOptions, prover: Prover): Promise<Mutation[]> {
  const { client, findLints = async () => [], onProgress } = options;
  const lints = async () => new Set((await findLints()).map((lint) => `lint ${lint}`));
  const original = await readGiven(options, prover);
  const { accepted = [] } = options;
  const proofs = await watchProofs(original, options, (given) =>
    createJudging(given, prover, new Acceptances(accepted)),
  );
  const lintsBefore = await lints();
  const mutations: Mutation[] = [];
  const mutants = mutantsOf(original.catalogue, options);
  for (const [done, mutant] of mutants.entries()) {
    onProgress?.(done + 1, mutants.length, 'mutants');
    await undone(client, async () => {
      await client.query(mutant.statement);
      // What is weakened has changed since it was accepted.
      const acceptances = new Acceptances(accepted.filter((one) => !isWeakened(one, mutant)));
      const judging = createJudging(await givenAfter(mutant), prover, acceptances);
      const byProofs: string[] = [];
      for (const proof of proofs.get(mutant.relation.name) ?? [])
        if (!proof.isOpen && isOpen(await proof.judge(judging))) byProofs.push(proof.name);
      // Lints take longer, and are for what no proof notices.
      const noticedBy = byProofs.length > 0 ? byProofs : [...(await lints()).difference(lintsBefore)];
      const survives = noticedBy.length > 0 ? null : await reasonOf(mutant);
      mutations.push({ mutant: mutant.name, noticedBy: [...new Set(noticedBy)], survives });
    });
  }
  return mutations;

  async function givenAfter({ relation: { name } }: Mutant): Promise<Given> {
    const { catalogue, parser } = original;
    const changed = await readRelation(options, name);
    const relations = [...catalogue.relations.values()].map((one) => (one.name === name ? changed : one));
    noteAssigned([changed], catalogue, parser);
    return { ...original, catalogue: withRelations(catalogue, relations) };
  }

  async function reasonOf({ relation, roles: of, expressions }: Mutant): Promise<string> {
    const none = 'no invariant speaks of it';
    if (!expressions) return none;
    const [before, after] = expressions;
    const comparison = { catalogue: original.catalogue, relation: relation.name, roles: of, before, after };
    const relationship = await compareExpressions(comparison, prover);
    return relationship === 'equal' || relationship === 'narrower' ? `provably ${relationship}` : none;
  }
}

/** Whether a mutant changes what an acceptance is about. */
const isWeakened = ({ relation, command, role }: Acceptance, mutant: Mutant): boolean =>
  relation === mutant.relation.name &&
  (mutant.granted === undefined || (mutant.granted === command && mutant.roles.includes(role)));

/** A goal or a function that is judged, and whether it is open in the schema as it is. */
type Proof = { name: string; isOpen: boolean; judge: (judging: Judging) => Promise<Judgement> };

/** Judges everything once, and returns the proofs by the relations that each one has read. */
async function watchProofs(
  given: Given,
  { isAsked }: Pick<MutationOptions, 'isAsked'>,
  createJudgingOf: (given: Given) => Judging,
): Promise<ReadonlyMap<string, readonly Proof[]>> {
  let seen = new Set<string>();
  const relations = [...given.catalogue.relations.values()].map((relation) =>
    watched(relation, () => seen.add(relation.name)),
  );
  const judging = createJudgingOf({ ...given, catalogue: withRelations(given.catalogue, relations) });
  const proofs = new Map<string, Proof[]>();
  for (const judge of judgesOf(given, isAsked)) {
    seen = new Set();
    const judgement = await judge(judging);
    const { invariant, relation, command, role } = judgement;
    const proof = { name: `proof ${invariant}: ${command} on ${relation} ${role}`, isOpen: isOpen(judgement), judge };
    for (const name of seen) proofs.set(name, [...(proofs.get(name) ?? []), proof]);
  }
  return proofs;
}

function judgesOf({ catalogue, invariants }: Given, isAsked: MutationOptions['isAsked']): Proof['judge'][] {
  const goals = goalsOf(catalogue, invariants, isAsked).map((goal): Proof['judge'] => {
    const { name } = goal.relation;
    return (judging) =>
      judgeGoal({ ...goal, relation: judging.given.catalogue.relations.get(name) ?? goal.relation }, judging);
  });
  const definers = definersOf(catalogue).flatMap((routine) =>
    routine.callers.map(
      (role): Proof['judge'] =>
        (judging) =>
          judgeDefiner(routine, role, judging),
    ),
  );
  return [...goals, ...definers];
}

/** A relation that calls back when its policies or rights are read: a mutant changes nothing else. */
const watched = (relation: Relation, look: () => void): Relation => ({
  ...relation,
  get policies() {
    look();
    return relation.policies;
  },
  get privileges() {
    look();
    return relation.privileges;
  },
  get rowSecurity() {
    look();
    return relation.rowSecurity;
  },
});
