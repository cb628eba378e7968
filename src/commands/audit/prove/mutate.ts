import { type ClientBase, escapeIdentifier } from 'pg';
import { type Catalogue, type Policy, type Relation, readCatalogue } from './catalogue.ts';
import { compareExpressions } from './implication.ts';
import type { Judgement, Options } from './interface.ts';
import { judge, type Prover } from './judge.ts';

/** A policy or right that was made weaker, and what notices: proofs and lints by name. */
export type Mutation = { mutant: string; noticedBy: string[]; survives: string | null };

/** One change to the schema, and the expression of a policy before and after it. */
type Mutant = {
  name: string;
  statement: string;
  relation: Relation;
  roles: readonly string[];
  expressions?: readonly [string, string];
};

/**
 * Mutation testing of policies and rights: weakens one part at a time, and asks proofs and lints.
 * Each mutant is undone. A right that opens nothing, since no policy is for it, is left out. One that is provably equal to what it was made from cannot be noticed.
 */
export async function mutate(options: Options, prover: Prover): Promise<Mutation[]> {
  const { client, roles } = options;
  const catalogue = await readCatalogue(options);
  const [goalsBefore, findingsBefore] = [await openGoals(), await findings()];
  const mutations: Mutation[] = [];
  for (const mutant of await mutantsOf(client, catalogue, roles)) {
    await client.query('savepoint mutant');
    try {
      await client.query(mutant.statement);
      const byProofs = [...(await openGoals()).difference(goalsBefore)];
      // Lints take longer, and are for what no proof notices.
      const noticedBy = byProofs.length > 0 ? byProofs : [...(await findings()).difference(findingsBefore)];
      const survives = noticedBy.length > 0 ? null : await reasonOf(mutant);
      mutations.push({ mutant: mutant.name, noticedBy, survives });
    } finally {
      await client.query('rollback to savepoint mutant; release savepoint mutant');
    }
  }
  return mutations;

  async function openGoals(): Promise<ReadonlySet<string>> {
    const judgements = await judge(options, prover, { isTried: false });
    return new Set(
      judgements
        .filter(isOpen)
        .map(({ invariant, relation, command, role }) => `proof ${invariant}: ${command} on ${relation} ${role}`),
    );
  }

  async function findings(): Promise<ReadonlySet<string>> {
    const { rows } = await client.query<{ name: string; object: string }>('select name, object from audit.findings');
    return new Set(rows.map(({ name, object }) => `lint ${name}: ${object}`));
  }

  async function reasonOf({ relation, roles: of, expressions }: Mutant): Promise<string> {
    if (!expressions) return 'no invariant speaks of it';
    const relationship = await compareExpressions(relation, of, expressions, catalogue, prover);
    return relationship === 'equal' || relationship === 'narrower'
      ? `provably ${relationship}`
      : 'no invariant speaks of it';
  }
}

const isOpen = ({ verdict, accepted }: Judgement) => verdict !== 'proven' && accepted === null;

async function mutantsOf(client: ClientBase, catalogue: Catalogue, roles: readonly string[]): Promise<Mutant[]> {
  const mutants: Mutant[] = [];
  for (const relation of catalogue.relations.values()) {
    if (relation.kind !== 'table' || relation.name.startsWith('audit.')) continue;
    const policies = relation.policies.filter((policy) => policy.roles.some((role) => roles.includes(role)));
    for (const policy of policies) mutants.push(...(await mutantsOfPolicy(client, relation, policy, roles)));
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
      for (const command of ['select', 'insert', 'update', 'delete', 'truncate'])
        if (relation.privileges[`${command} ${role}`]?.length === 0 && opens(relation, command, role, catalogue))
          mutants.push({
            ...{ name: `${relation.name}: ${command} granted to ${role}`, relation, roles: [role] },
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

async function mutantsOfPolicy(
  client: ClientBase,
  relation: Relation,
  policy: Policy,
  roles: readonly string[],
): Promise<Mutant[]> {
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
    const { rows } = await client.query<{ part: string }>('select audit.conjuncts($1) as part', [text]);
    const parts = rows.map((row) => row.part);
    if (text !== 'true') mutants.push(altered(part, text, 'true', 'is true'));
    if (parts.length > 1)
      for (const dropped of parts)
        mutants.push(altered(part, text, parts.filter((one) => one !== dropped).join(' and '), `without ${dropped}`));
    for (const [claim, other] of claims)
      if (text.includes(claim))
        mutants.push(altered(part, text, text.replaceAll(claim, other), `with ${other} for ${claim}`));
  }
  mutants.push({
    ...{ name: `${policy.name} on ${relation.name}: to public`, relation, roles },
    statement: `alter policy ${escapeIdentifier(policy.name)} on ${relation.name} to public`,
  });
  return mutants;
}

const claims = [
  ['current_organization_id()', 'current_application_id()'],
  ['current_user_id()', 'current_application_id()'],
  ['current_application_id()', 'current_user_id()'],
] as const;
