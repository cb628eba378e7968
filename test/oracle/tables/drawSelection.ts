import type { Random } from '../random.ts';
import type { Connection, Field, Known, Who } from './checks.ts';
import type { Arguments } from './learn.ts';
import type { Reference } from './model.ts';
import type { Source, State } from './state.ts';

/** Draws what is selected of a row: columns, references, functions, and connections with their arguments. */
export class SelectionDrawer {
  readonly random: Random;
  readonly state: State;
  readonly known: ReadonlyMap<string, Arguments>;

  constructor(random: Random, state: State, known: ReadonlyMap<string, Arguments>) {
    this.random = random;
    this.state = state;
    this.known = known;
  }

  minimum() {
    const minimum = this.random.pick([undefined, null, 0, 20, 50]);
    return minimum === undefined ? {} : { minimum };
  }

  selection(of: string, depth: number, who: Who): Field[] {
    const random = this.random;
    const source = this.state.sources.get(of);
    const fields: Field[] = [];
    const add = (probability: number, field: () => Field) => {
      if (random.chance(probability)) fields.push(field());
    };
    if (source) {
      fields.push({ kind: 'mark' });
      add(0.3, () => ({ kind: 'id' }));
      add(0.3, () => ({ kind: 'typename' }));
      for (const { name } of source.columns)
        if (isShown(source, name)) add(0.5, () => ({ kind: 'column', column: name }));
      if (!source.isView) fields.push(...this.#more(source, depth, who));
    } else fields.push({ kind: 'externalIdentifier' });
    if (depth > 0 && !source?.isView) {
      for (const other of this.state.sources.values()) {
        for (const reference of other.isView ? [] : other.table.references) {
          if (reference.target !== of) continue;
          for (let times = random.below(3); times > 0; times--) {
            add(0.5, () => ({ ...this.connection(other.name, depth - 1, who), via: this.#backTo(reference) }));
          }
        }
      }
    }
    return random.some(fields, fields.length).slice(0, 9);
  }

  /** The connection that leads back, or the one with a condition. */
  #backTo = ({ name, conditional }: Reference): Connection['via'] => ({
    kind: conditional && this.random.chance(0.5) ? 'conditional' : 'backward',
    reference: name,
  });

  #more({ table }: Source, depth: number, who: Who): Field[] {
    const random = this.random;
    const fields: Field[] = [];
    for (const { name, target } of depth > 0 ? table.references : []) {
      if (random.chance(0.5))
        fields.push({ kind: 'forward', reference: name, selection: this.selection(target, depth - 1, who) });
    }
    for (const { shape, returns } of table.functions) {
      if (!random.chance(0.5)) continue;
      if (shape === 'least') {
        if (depth > 0)
          fields.push({
            ...this.connection(returns, depth - 1, who),
            via: { kind: 'call', name: 'least', ...this.minimum() },
          });
      } else if (shape !== 'ofApp') {
        if (shape === 'next' && depth === 0) continue;
        const given = {
          sum: { by: random.pick([0, 7, null]), word: random.pick(['a', '"', null]) },
          words: { times: random.below(4) },
          label: {},
          next: {},
        }[shape];
        const chosen = random.some(Object.entries(given), random.below(3));
        fields.push({
          kind: 'call',
          name: shape,
          arguments: Object.fromEntries(chosen),
          selection: shape === 'next' ? this.selection(table.name, depth - 1, who) : [],
        });
      }
    }
    return fields;
  }

  connection(source: string, depth: number, who: Who): Connection {
    const random = this.random;
    const { orders, filters } = this.of(source);
    const chosen = random
      .some(filters, random.below(3))
      .filter(({ argument }, index, all) => all.findIndex((other) => other.argument === argument) === index);
    const wants = random.some(['totalCount', 'pageInfo', 'edges'] as const, random.below(4));
    return {
      ...{ kind: 'connection', via: { kind: 'app' }, source, filters: chosen, wants },
      page: random.pick([{}, {}, { first: random.below(5) }, { last: random.below(5) }]),
      orderBy: random.pick(orders),
      ids: random.chance(0.2) ? this.#ids(source) : undefined,
      selection: this.selection(source, depth, who),
    };
  }

  #ids(source: string): Known[] {
    const own = this.state.sources.get(source);
    const all = [...(own ? [own, own] : []), this.random.pick([...this.state.sources.values()])];
    return this.random.some(
      all.flatMap((one) => one.rows.map((row) => knownOf(one, row))),
      this.random.below(5),
    );
  }

  of = (source: string): Arguments => this.known.get(source) ?? { orders: [[]], filters: [] };
}

export const knownOf = (source: Source, { organization, mark }: { organization: 0 | 1; mark: number }): Known => ({
  source: source.name,
  organization,
  mark,
});

/** A column of the key is a field unless it is a `uuid`. */
const isShown = ({ table }: Source, name: string) =>
  !(table.key.includes(name) && table.columns.find((column) => column.name === name)?.type === 'uuid');
