import { StartupError } from '../../errors/startupError.ts';
import type { Difference } from './compareAccess.ts';
import type { Catalogue } from './prove/catalogue.ts';
import { compareExpressions, type Relationship } from './prove/implication.ts';
import type { Prover } from './prove/judge.ts';
import { withProver } from './prove/prove.ts';
import type { Access, Policy } from './readAccess.ts';

/**
 * Proves whether unclear policies became equal, narrower or wider, for all claims and rows.
 * It does so only if nothing else that they call has changed: both expressions are read with the later functions and tables.
 */
export async function proveUnclear(
  differences: readonly Difference[],
  before: Access,
  after: Access,
  catalogue: Catalogue,
): Promise<Difference[]> {
  const isUnclear = ({ verdict, object }: Difference) => verdict === 'unclear' && before.policies.has(object);
  const isComparable = [...after.definitions].every(([name, text]) => (before.definitions.get(name) ?? text) === text);
  if (!isComparable || !differences.some(isUnclear)) return [...differences];
  const proved = withProver((prover) =>
    Promise.all(
      differences.map(async (difference) => {
        if (!isUnclear(difference)) return difference;
        const [old, current] = [before.policies.get(difference.object), after.policies.get(difference.object)];
        const relationship =
          old && current ? await compare(difference.object, old, current, catalogue, prover) : 'unclear';
        if (relationship === 'unclear') return difference;
        return { ...difference, verdict: relationship, detail: `${difference.detail}; provably ${relationship}` };
      }),
    ),
  );
  // Without the prover's development dependencies the policies stay unclear.
  return proved.catch((error: unknown) => {
    if (error instanceof StartupError) return [...differences];
    throw error;
  });
}

async function compare(
  name: string,
  old: Policy,
  current: Policy,
  catalogue: Catalogue,
  prover: Prover,
): Promise<Relationship> {
  const relation = [...catalogue.relations.values()].find((one) => name.startsWith(`${one.name}.`));
  const isOfOneKind = old.command === current.command && old.permissive === current.permissive;
  if (!relation || !isOfOneKind || String(old.roles) !== String(current.roles) || old.roles.includes('public'))
    return 'unclear';
  const pairs = [
    [old.using, current.using],
    [old.check ?? old.using, current.check ?? current.using],
  ] as const;
  const relationships = new Set<Relationship>();
  for (const [first, second] of pairs) {
    if (first === null && second === null) continue;
    if (first === null || second === null) return 'unclear';
    relationships.add(await compareExpressions(relation, old.roles, [first, second], catalogue, prover));
  }
  relationships.delete('equal');
  const [only = 'equal', ...others] = relationships;
  if (others.length > 0 || only === 'unclear') return 'unclear';
  // A restrictive policy that admits more rows is wider, too.
  return only;
}
