import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Catalogue } from './catalogue.ts';
import type { Goal, Invariant } from './interface.ts';

/**
 * Hashes of all that a judgement depends on: the closure of its relation over what policies, views, functions, foreign keys and triggers name.
 *
 * Names are compared as words, and a word that could mean an object counts. So the closure has too much rather than too little, and a
 * judgement with the same digest is the same judgement.
 */
export class Digests {
  readonly #nodes = new Map<string, Node>();
  readonly #byWord = new Map<string, Set<string>>();
  /** Facts about types, by their names without schemas. A fact counts where a text names its type. */
  readonly #types = new Map<string, string[]>();
  readonly #rest: string;
  readonly #invariants: ReadonlyMap<string, readonly Invariant[]>;
  /** Hashes of closures, since commands and roles have them in common. */
  readonly #closures = new Map<string, string>();

  /** @param rest what every judgement depends on, beside the catalogue */
  constructor(catalogue: Catalogue, invariants: readonly Invariant[], rest: unknown) {
    this.#invariants = Map.groupBy(invariants, ({ name, relation = '*' }) => `${name} ${relation}`);
    const { relations, paths: _, functions, triggers, composites, families, checkedTypes, ...others } = catalogue;
    for (const type of [...composites, ...checkedTypes, ...[...families].map((pair) => pair.join(' '))].sort()) {
      const bare = wordsIn(type.split(' ')[0] ?? '').at(-1) ?? type;
      this.#types.set(bare, [...(this.#types.get(bare) ?? []), type]);
    }
    for (const relation of relations.values()) {
      const own = triggers.filter((trigger) => trigger.relation === relation.name);
      this.#add(relation.name, JSON.stringify([relation, own]));
    }
    // A table and a function may have the same name.
    for (const [name, overloads] of functions) this.#add(`${name}()`, JSON.stringify(overloads));
    const events = triggers.filter(({ relation }) => relation === null);
    this.#rest = JSON.stringify(
      [rest, hashOfFiles(fileURLToPath(new URL('.', import.meta.url))), events, others],
      (_key, value) => (value instanceof Map || value instanceof Set ? [...value].sort() : value),
    );
    this.#connect();
  }

  /** A hash of what a goal depends on. */
  of({ invariant, relation, command, role }: Goal): string {
    const key = JSON.stringify([invariant, relation]);
    const closure = this.#closures.get(key) ?? this.#hashOfClosure(invariant, relation);
    this.#closures.set(key, closure);
    return hashOf([closure, command, role]).slice(0, 16);
  }

  #hashOfClosure(invariant: string, relation: string): string {
    const stated: Invariant[] = [];
    const found = new Set<string>();
    const left = [relation];
    const state = (about: string) => {
      const own = this.#invariants.get(`${invariant} ${about}`) ?? [];
      stated.push(...own);
      if (own.length > 0) left.push(...this.#named(new Set(wordsIn(JSON.stringify(own)))));
    };
    state('*');
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      if (found.has(name)) continue;
      found.add(name);
      state(name);
      left.push(...(this.#nodes.get(name)?.near ?? []));
    }
    const nodes = [...found].sort().map((name) => [name, this.#nodes.get(name)?.hash]);
    const words = new Set(wordsIn(JSON.stringify(stated)));
    for (const name of found) for (const word of this.#nodes.get(name)?.words ?? []) words.add(word);
    const types = new Set([...words].sort().flatMap((word) => this.#types.get(word) ?? []));
    return hashOf([invariant, relation, stated, nodes, [...types], this.#rest]);
  }

  #add(name: string, text: string): void {
    const isAsked = /"kind":"view"|"parents":\["/.test(text);
    this.#nodes.set(name, { hash: hashOf(text), words: new Set(wordsIn(text)), isAsked, near: new Set() });
    const bare = wordsIn(name).at(-1) ?? name;
    this.#byWord.set(bare, (this.#byWord.get(bare) ?? new Set()).add(name));
  }

  /** Connects each object with those that it names. A view and a child are also connected from the other side: commands on them change the table. */
  #connect(): void {
    for (const [name, { words, isAsked, near }] of this.#nodes)
      for (const other of this.#named(words)) {
        near.add(other);
        if (isAsked) this.#nodes.get(other)?.near.add(name);
      }
  }

  #named(words: ReadonlySet<string>): Set<string> {
    const named = new Set<string>();
    for (const word of words) for (const name of this.#byWord.get(word) ?? []) named.add(name);
    return named;
  }
}

/** A hash of the prover itself: what another version of it has proven is proven again. */
export function hashOfFiles(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[jt]s$/.test(name));
  for (const name of files.sort()) hash.update(JSON.stringify([name, readFileSync(join(folder, name), 'utf8')]));
  return hash.digest('hex');
}
/** A relation or a function, and those that it names or that a change of it may come from. */
type Node = {
  readonly hash: string;
  readonly words: ReadonlySet<string>;
  readonly isAsked: boolean;
  readonly near: Set<string>;
};

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');

const wordsIn = (text: string): string[] => text.match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? [];
