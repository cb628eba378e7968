import type { Catalogue } from './catalogue.ts';
import type { Acceptance, Goal, Judgement } from './interface.ts';

/** The acceptances of judgements, each by its object. */
export class Acceptances {
  readonly #byName: ReadonlyMap<string, Acceptance>;
  readonly #used = new Set<Acceptance>();

  constructor(accepted: readonly Acceptance[]) {
    this.#byName = new Map(accepted.map((one) => [nameOf(one), one]));
  }

  /** Whether a judgement is accepted, and what it is about has not changed since. */
  has(goal: Goal): boolean {
    return this.#byName.get(nameOf(goal))?.hasChanged === false;
  }

  /** The judgement with its reason, or with the remark that it has changed. */
  applied(judgement: Judgement, about: Partial<Goal> = {}): Judgement {
    const acceptance = this.#byName.get(nameOf({ ...judgement, ...about }));
    if (acceptance) this.#used.add(acceptance);
    if (judgement.verdict === 'proven' || !acceptance) return judgement;
    return acceptance.hasChanged
      ? { ...judgement, why: `${judgement.why}; it has changed since it was accepted` }
      : { ...judgement, accepted: acceptance.reason };
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
      .map(({ reason, hasChanged, ...goal }) => goal);
  }
}

/** The name by which a judgement is accepted. */
const nameOf = ({ invariant, relation, command, role }: Goal): string =>
  JSON.stringify([invariant, relation, command, role]);
