import { Acceptances } from './acceptances.ts';
import { Digests } from './digests.ts';
import type { Goal, Judgement, Options } from './interface.ts';
import { prove, unusedAcceptance } from './prove.ts';
import type { Prover } from './prover.ts';
import { readCatalogue } from './readCatalogue.ts';

/** A judgement with a hash of all that it depends on. Null: it is judged each time, as rights, functions and triggers are. */
export type Digested = Judgement & { digest: string | null };

/**
 * Judges as `prove` does, but takes from an earlier run what depends on nothing that has changed since.
 *
 * @param earlier what this function returned then; nothing for a first run
 */
export async function proveChanged(
  options: Options,
  earlier: readonly Digested[],
  prover?: Prover,
): Promise<Digested[]> {
  const { client, roles, claims, invariants, assumptions = null, accepted = [] } = options;
  const catalogue = await readCatalogue(options);
  const { rows: version } = await client.query('show server_version_num');
  const digests = new Digests(catalogue, invariants, [version, roles, claims, assumptions]);
  const before = new Map(earlier.map((one) => [nameOf(one), one]));
  const acceptances = new Acceptances(accepted);
  const kept: Digested[] = [];
  const isAsked = (goal: Goal) => {
    if (options.isAsked?.(goal) === false) return false;
    const known = before.get(nameOf(goal));
    if (known?.digest == null || known.digest !== digests.of(goal)) return true;
    kept.push({ ...known, ...acceptances.applied({ ...known, accepted: null }) });
    return false;
  };
  const names = new Set(invariants.map(({ name }) => name));
  const isGoal = ({ invariant, relation }: Goal) => names.has(invariant) && catalogue.relations.has(relation);
  const judged = (await prove({ ...options, isAsked }, prover)).map((one) => {
    acceptances.applied(one);
    return { ...one, digest: isGoal(one) ? digests.of(one) : null };
  });
  // `prove` does not look for these when it is asked for a part.
  const unused = options.isAsked ? [] : acceptances.unused(catalogue).map(unusedAcceptance);
  return [...kept, ...judged, ...unused.map((one) => ({ ...one, digest: null }))];
}

const nameOf = ({ invariant, relation, command, role }: Goal) => JSON.stringify([invariant, relation, command, role]);
