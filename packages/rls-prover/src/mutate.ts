import { escapeIdentifier } from 'pg';
import { passesBy } from './access.ts';
import type { Catalogue, Policy, Relation } from './catalogue.ts';
import { undone } from './ExampleRows.ts';
import { translateWhole } from './expression.ts';
import { and, isTrue, not, Problem } from './formula.ts';
import { type Acceptance, isOpen, type Judgement, type Mutation, type MutationOptions } from './interface.ts';
import { commands, goalsOf, noteAssigned } from './invariants.ts';
import { Acceptances, createJudging, definersOf, type Judging, judgeDefiner, judgeGoal } from './judge.ts';
import { readGiven } from './prove.ts';
import type { Prover } from './prover.ts';
import { createEnvironment } from './queries.ts';
import type { Given } from './questions.ts';
import { readRelation, withRelations } from './readCatalogue.ts';
import { type Environment, rowOf, scopeOf } from './scope.ts';

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
      // A weakened relation has changed since it was accepted.
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
    const isImplied = (premise: string, conclusion: string) =>
      isImpliedFor(of, premise, conclusion, relation, original.catalogue, prover);
    if (!(await isImplied(after, before))) return none;
    return (await isImplied(before, after)) ? 'provably equal' : 'provably narrower';
  }
}

/** Whether an expression of a policy implies another one, for all claims and rows and each of the roles. */
async function isImpliedFor(
  roles: readonly string[],
  premise: string,
  conclusion: string,
  relation: Relation,
  catalogue: Catalogue,
  { parser, solver }: Prover,
): Promise<boolean> {
  for (const actor of roles) {
    const problem = new Problem();
    const variable = problem.variable(problem.sort(relation.name));
    const env: Environment = {
      ...createEnvironment({ catalogue, parser, claims: [] }, problem, actor, relation.name),
      ...{ asked: [relation.name], variables: [variable] },
    };
    if (passesBy(relation, env)) continue;
    const scope = scopeOf(relation, rowOf(relation, variable, problem));
    const holds = (text: string) => isTrue(translateWhole(parser.expression(text), scope, env));
    const formula = and(holds(premise), not(holds(conclusion)));
    const script = problem.script(`(exists ((${variable.name} ${variable.sort})) ${formula})`);
    if (problem.denied.size > 0) return false;
    if (formula !== 'false' && (await solver.solve(script)).status !== 'unsat') return false;
  }
  return true;
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

/** One change to the schema, and the expression of a policy before and after it. */
type Mutant = {
  name: string;
  statement: string;
  relation: Relation;
  roles: readonly string[];
  /** The command that it grants; else a policy or all of the table is weakened. */
  granted?: string;
  expressions?: readonly [string, string];
};

/** The weaker policies and rights, one at a time. A right for which there is no policy opens nothing, and is left out. */
function mutantsOf(catalogue: Catalogue, options: MutationOptions): Mutant[] {
  const { roles, isWeakened = () => true } = options;
  const mutants: Mutant[] = [];
  for (const relation of catalogue.relations.values()) {
    if (relation.kind !== 'table' || !isWeakened(relation.name)) continue;
    const policies = relation.policies.filter((policy) => policy.roles.some((role) => roles.includes(role)));
    for (const policy of policies) mutants.push(...mutantsOfPolicy(relation, policy, options));
    if (policies.length > 0) {
      const of = { relation, roles };
      mutants.push({
        ...of,
        name: `${relation.name}: row-level security off`,
        statement: `alter table ${relation.name} disable row level security`,
      });
      mutants.push({
        ...of,
        name: `${relation.name}: not forced`,
        statement: `alter table ${relation.name} no force row level security`,
      });
    }
    for (const role of roles)
      for (const command of commands)
        if (relation.privileges[`${command} ${role}`]?.length === 0 && opens(relation, command, role, catalogue))
          mutants.push({
            ...{ name: `${relation.name}: ${command} granted to ${role}`, relation, roles: [role], granted: command },
            statement: `grant ${command} on ${relation.name} to ${role}`,
          });
  }
  return mutants;
}

/** Whether a right opens anything: truncating asks no policy, and without one the rest finds no row. */
const opens = (relation: Relation, command: string, role: string, { roles }: Catalogue) =>
  command === 'truncate' ||
  relation.rowSecurity === 'off' ||
  relation.policies.some(
    (policy) =>
      (policy.command === command || policy.command === 'all') &&
      policy.roles.some((of) => of === 'public' || roles.get(role)?.has.includes(of)),
  );

function mutantsOfPolicy(relation: Relation, policy: Policy, { roles, swaps = [] }: MutationOptions): Mutant[] {
  const altered = (part: 'using' | 'with check', before: string, after: string, how: string): Mutant => ({
    name: `${policy.name} on ${relation.name}: ${part} ${how}`,
    statement: `alter policy ${escapeIdentifier(policy.name)} on ${relation.name} ${part} (${after})`,
    relation,
    roles: policy.roles.filter((role) => roles.includes(role)),
    expressions: [before, after],
  });
  const mutants: Mutant[] = [];
  for (const [part, text] of [
    ['using', policy.using],
    ['with check', policy.check],
  ] as const) {
    if (text === null) continue;
    const parts = conjunctsOf(text);
    if (text !== 'true') mutants.push(altered(part, text, 'true', 'is true'));
    if (parts.length > 1)
      for (const dropped of parts)
        mutants.push(altered(part, text, parts.filter((one) => one !== dropped).join(' and '), `without ${dropped}`));
    for (const [claim, other] of swaps)
      if (text.includes(claim))
        mutants.push(altered(part, text, text.replaceAll(claim, other), `with ${other} for ${claim}`));
  }
  mutants.push({
    ...{ name: `${policy.name} on ${relation.name}: to public`, relation, roles },
    statement: `alter policy ${escapeIdentifier(policy.name)} on ${relation.name} to public`,
  });
  return mutants;
}

/**
 * The parts of an expression that must all hold.
 * `pg_get_expr` writes a conjunction in parentheses.
 */
function conjunctsOf(expression: string): string[] {
  if (!expression.startsWith('(')) return [expression];
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let start = 1;
  for (let index = 0; index < expression.length; index++) {
    const character = expression.charAt(index);
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (depth === 1 && expression.startsWith(' AND ', index)) {
      parts.push(expression.slice(start, index));
      start = index + ' AND '.length;
    }
  }
  return parts.length === 0 ? [expression] : [...parts, expression.slice(start, -1)];
}
