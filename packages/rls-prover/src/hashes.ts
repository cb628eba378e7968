import { createHash } from 'node:crypto';
import type { Catalogue, Relation, Routine } from './catalogue.ts';
import type { BoundGoal } from './goals.ts';

/** What is known of the relations of a catalogue, of which each is read once. */
const ofRelations = new WeakMap<Relation, { named: ReadonlySet<Routine>; hashes: Map<string, string> }>();

/**
 * Hashes what a goal is about: the invariant, the table or view with its policies, rights and triggers, and the functions that these name.
 * Most goals of a relation share what they are about, so each text is searched and hashed once.
 */
export function createHashes({ functions, triggers }: Catalogue): (goal: BoundGoal) => string {
  const routines = [...functions.values()].flat();
  const namedIn = (text: string) =>
    new Set(routines.filter(({ name }) => text.includes(name.slice(name.lastIndexOf('.') + 1))));
  const namedInTexts = new Map<string, ReadonlySet<Routine>>();

  return ({ invariant, relation, command, role }) => {
    const own = triggers.filter((trigger) => trigger.relation === relation.name);
    const textOf = (about: unknown, privileges: readonly string[] | undefined) =>
      JSON.stringify([about, { ...relation, privileges, checks: [], keys: [] }, own]);
    const known = ofRelations.get(relation) ?? { named: namedIn(textOf(null, [])), hashes: new Map() };
    ofRelations.set(relation, known);

    const privileges = relation.privileges[`${command} ${role}`];
    const stated = JSON.stringify(invariant);
    const key = `${stated} ${privileges}`;
    const found = known.hashes.get(key);
    if (found) return found;
    const named = namedInTexts.get(stated) ?? namedIn(stated);
    namedInTexts.set(stated, named);
    const called = routines.filter((routine) => named.has(routine) || known.named.has(routine));
    const text = JSON.stringify([textOf(invariant, privileges), called.map(({ hash }) => hash)]);
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
    known.hashes.set(key, hash);
    return hash;
  };
}
