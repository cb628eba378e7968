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
  readonly #texts = new Map<string, string>();
  readonly #byWord = new Map<string, Set<string>>();
  readonly #near = new Map<string, ReadonlySet<string>>();
  /** What is known of types, which counts where a text names one. */
  readonly #types: readonly string[];
  readonly #rest: string;
  readonly #invariants: readonly Invariant[];

  /** @param rest what every judgement depends on, beside the catalogue */
  constructor(catalogue: Catalogue, invariants: readonly Invariant[], rest: unknown) {
    this.#invariants = invariants;
    const { relations, paths: _, functions, triggers, composites, families, checkedTypes, ...others } = catalogue;
    this.#types = [...composites, ...checkedTypes, ...[...families].map((pair) => pair.join(' '))].sort();
    for (const relation of relations.values()) {
      const own = triggers.filter((trigger) => trigger.relation === relation.name);
      this.#add(relation.name, JSON.stringify([relation, own]));
    }
    for (const [name, overloads] of functions) this.#add(name, JSON.stringify(overloads));
    const events = triggers.filter(({ relation }) => relation === null);
    this.#rest = JSON.stringify(
      [rest, hashOfFiles(fileURLToPath(new URL('.', import.meta.url))), events, others],
      (_key, value) => (value instanceof Map || value instanceof Set ? [...value].sort() : value),
    );
    this.#connect();
  }

  /** A hash of what a goal depends on. */
  of({ invariant, relation, command, role }: Goal): string {
    const statedOf = (about: string) =>
      this.#invariants.filter((one) => one.name === invariant && (one.relation ?? '*') === about);
    const stated = statedOf('*');
    const found = new Set<string>();
    const left = [relation, ...this.#named(JSON.stringify(stated))];
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      if (found.has(name)) continue;
      found.add(name);
      const own = statedOf(name);
      stated.push(...own);
      left.push(...(this.#near.get(name) ?? []), ...this.#named(JSON.stringify(own)));
    }
    const texts = [...found].sort().map((name) => [name, this.#texts.get(name)]);
    const words = new Set(wordsIn(JSON.stringify([stated, texts])));
    const types = this.#types.filter((type) => wordsIn(type).some((word) => words.has(word)));
    return createHash('sha256')
      .update(JSON.stringify([stated, relation, command, role, texts, types, this.#rest]))
      .digest('hex')
      .slice(0, 16);
  }

  #add(name: string, text: string): void {
    this.#texts.set(name, text);
    const bare = wordsIn(name).at(-1) ?? name;
    this.#byWord.set(bare, (this.#byWord.get(bare) ?? new Set()).add(name));
  }

  /** What an object names, and who names it: a change through a view, of a parent or by an action counts, too. */
  #connect(): void {
    const near = new Map([...this.#texts.keys()].map((name) => [name, new Set<string>()]));
    for (const [name, text] of this.#texts)
      for (const other of this.#named(text)) {
        near.get(name)?.add(other);
        if (/"kind":"view"|"parents":\["/.test(text)) near.get(other)?.add(name);
      }
    for (const [name, names] of near) this.#near.set(name, names);
  }

  #named(text: string): Set<string> {
    const named = new Set<string>();
    for (const word of new Set(wordsIn(text))) for (const name of this.#byWord.get(word) ?? []) named.add(name);
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

const wordsIn = (text: string): string[] => text.match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? [];
