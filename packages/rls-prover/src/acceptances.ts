import type { Catalogue } from './catalogue.ts';
import type { Acceptance, Goal, Judgement } from './interface.ts';

/** The acceptances of judgements, each by its object and the hash of what was accepted. */
export class Acceptances {
  readonly #byName: ReadonlyMap<string, Acceptance>;
  readonly #used = new Set<Acceptance>();

  constructor(accepted: readonly Acceptance[]) {
    this.#byName = new Map(accepted.map((one) => [nameOf(one), one]));
  }

  /** Whether a judgement is accepted, and what it is about has not changed since. */
  has(judgement: Goal & { hash: string | null }): boolean {
    return isSame(judgement, this.#byName.get(nameOf(judgement)));
  }

  /** The judgement with its reason, or with what has changed. */
  applied(judgement: Judgement, about: Partial<Goal> = {}): Judgement {
    const acceptance = this.#byName.get(nameOf({ ...judgement, ...about }));
    if (acceptance) this.#used.add(acceptance);
    if (judgement.verdict === 'proven' || !acceptance) return judgement;
    return isSame(judgement, acceptance)
      ? { ...judgement, accepted: acceptance.reason }
      : {
          ...judgement,
          why: `${judgement.why}; it has changed since it was accepted: its hash is ${judgement.hash}, not ${acceptance.hash}`,
        };
  }

  /** The acceptances of objects that do not exist. */
  unused({ relations, functions, triggers }: Catalogue): readonly Goal[] {
    const objects = new Set([
      ...relations.keys(),
      ...[...functions.values()].flat().map(({ signature }) => signature),
      ...triggers.map(({ name, relation }) => `${name} on ${relation}`),
    ]);
    return [...this.#byName.values()]
      .filter((one) => !this.#used.has(one) && !objects.has(one.relation))
      .map(({ reason, hash, ...goal }) => goal);
  }
}

/** An acceptance of a function or trigger needs its hash. One of a table's judgement may leave the hash out. */
const isSame = (
  { command, hash }: { command: string; hash: string | null },
  acceptance: Acceptance | undefined,
): boolean =>
  acceptance !== undefined &&
  (acceptance.hash !== null ? acceptance.hash === hash : !/^(call|trigger|run)$/.test(command));

/** The name by which a judgement is accepted. */
const nameOf = ({ invariant, relation, command, role }: Goal): string =>
  JSON.stringify([invariant, relation, command, role]);
