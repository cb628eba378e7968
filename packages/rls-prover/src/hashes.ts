import { createHash } from 'node:crypto';
import type { Catalogue, Relation, Routine } from './catalogue.ts';
import type { BoundGoal } from './goals.ts';

type Known = { named: ReadonlySet<Routine>; hashes: Map<string, string> };

/** The functions that a table's text names, and the hashes of its goals: each table is read once. */
const ofTables = new WeakMap<Relation, Known>();

/**
 * Hashes what a goal is about: the invariant, the table or view with its policies, rights and triggers, and the functions that these call.
 * A view is also about the tables and views that it reads, and a function about those that it calls, at any depth.
 * Most goals of a relation share what they are about, so each text is searched and hashed once.
 */
export function createHashes({ relations, functions, triggers }: Catalogue): (goal: BoundGoal) => string {
  const routines = [...functions.values()].flat();
  const namedInTexts = new Map<string, ReadonlySet<Routine>>();
  // Another view is read when a table of its query has changed.
  const ofViews = new WeakMap<Relation, Known>();

  return ({ invariant, relation, command, role }) => {
    const read = readBy(relation, relations);
    const own = triggers.filter((trigger) => read.some(({ name }) => trigger.relation === name));
    const textOf = (about: unknown, privileges: readonly string[] | undefined) =>
      JSON.stringify([
        about,
        ...read.map((one) => ({ ...one, ...(one === relation && { privileges }), keys: [] })),
        own,
      ]);
    const memory = relation.definition === null ? ofTables : ofViews;
    const known = memory.get(relation) ?? { named: namedIn(textOf(null, [])), hashes: new Map() };
    memory.set(relation, known);

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

  /** The functions that a text names, each with its schema, as PostgreSQL prints it. Their hashes include those that they call. */
  function namedIn(text: string): ReadonlySet<Routine> {
    const names = (name: string) => text.includes(`.${name}`) || text.includes(`.\\"${name}`);
    return new Set(routines.filter(({ name }) => names(name.slice(name.lastIndexOf('.') + 1))));
  }
}

/** A relation and those that its query names, at any depth. */
function readBy(relation: Relation, relations: Catalogue['relations']): readonly Relation[] {
  const found = new Set([relation]);
  for (const { definition } of found)
    if (definition !== null)
      for (const other of relations.values()) if (definition.includes(other.name)) found.add(other);
  return [...found];
}
