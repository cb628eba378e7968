import type { Catalogue, Relationship } from 'rls-prover';
import type { Difference } from './compareAccess.ts';
import { loadProver } from './prove/loadProver.ts';
import type { Access, Policy } from './readAccess.ts';

/**
 * Proves whether unclear policies became equal, narrower or wider, for all claims and rows.
 * It does so only if nothing else that they call has changed: both expressions are read with the later functions and tables.
 *
 * @param catalogue that of the later database; null without the prover, and then all policies stay unclear
 */
export async function proveUnclear(
  differences: readonly Difference[],
  before: Access,
  after: Access,
  catalogue: Catalogue | null,
): Promise<Difference[]> {
  const isUnclear = ({ verdict, object }: Difference) => verdict === 'unclear' && before.policies.has(object);
  const isComparable = [...after.definitions].every(([name, text]) => (before.definitions.get(name) ?? text) === text);
  if (!catalogue || !isComparable || !differences.some(isUnclear)) return [...differences];
  const { openProver, compareExpressions } = await loadProver();
  const prover = await openProver();
  const compare: Compare = (comparison) => compareExpressions({ ...comparison, catalogue }, prover);
  try {
    return await Promise.all(
      differences.map(async (difference) => {
        if (!isUnclear(difference)) return difference;
        const [old, current] = [before.policies.get(difference.object), after.policies.get(difference.object)];
        const relation = [...catalogue.relations.keys()].find((name) => difference.object.startsWith(`${name}.`));
        const relationship = old && current && relation ? await relate(relation, old, current, compare) : 'unclear';
        if (relationship === 'unclear') return difference;
        return { ...difference, verdict: relationship, detail: `${difference.detail}; provably ${relationship}` };
      }),
    );
  } finally {
    await prover.close();
  }
}

type Compare = (comparison: {
  relation: string;
  roles: readonly string[];
  before: string;
  after: string;
}) => Promise<Relationship>;

async function relate(relation: string, old: Policy, current: Policy, compare: Compare): Promise<Relationship> {
  const isOfOneKind = old.command === current.command && old.permissive === current.permissive;
  if (!isOfOneKind || String(old.roles) !== String(current.roles) || old.roles.includes('public')) return 'unclear';
  const pairs = [
    [old.using, current.using],
    [old.check ?? old.using, current.check ?? current.using],
  ] as const;
  const relationships = new Set<Relationship>();
  for (const [first, second] of pairs) {
    if (first === null && second === null) continue;
    if (first === null || second === null) return 'unclear';
    relationships.add(await compare({ relation, roles: old.roles, before: first, after: second }));
  }
  relationships.delete('equal');
  const [only = 'equal', ...others] = relationships;
  if (others.length > 0 || only === 'unclear') return 'unclear';
  // A restrictive policy that admits more rows is wider, too.
  return only;
}
