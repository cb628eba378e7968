import type { Check, Connection, Field, Filter, Known, Root, Who } from './checks.ts';
import type { Arguments } from './learn.ts';
import { camelCase } from './model.ts';
import { drawMutations } from './mutate.ts';
import type { Random } from './random.ts';
import type { Source, State } from './state.ts';

/** Draws what is asked of the drawn tables. */
export class Drawer {
  readonly #random: Random;
  readonly #state: State;
  readonly #arguments: ReadonlyMap<string, Arguments>;

  constructor(random: Random, state: State, known: ReadonlyMap<string, Arguments>) {
    this.#random = random;
    this.#state = state;
    this.#arguments = known;
  }

  /** Each order both ways, each filter, every row by its id, and documents of all of these. */
  checks(): Check[] {
    return [...this.#state.sources.values()].flatMap((source) => [
      ...this.#nodes(source),
      ...this.#walks(source),
      ...this.#filters(source),
      ...Array.from({ length: 12 }, () => this.#document(source)),
      ...(source.isView ? [] : drawMutations(this.#random, source, () => this.#selection(source.name, 1, app(0)))),
    ]);
  }

  #nodes(source: Source): Check[] {
    const whos: Who[] = [app(0), app(1), { organization: 0, scope: 'person' }];
    return whos.flatMap((who): Check[] => {
      const chosen = this.#random.some(source.rows, 8);
      const roots = chosen.map(
        (row): Root => ({ kind: 'node', of: knownOf(source, row), selection: this.#selection(source.name, 0, who) }),
      );
      return roots.length > 0
        ? [
            {
              kind: 'document',
              who,
              roots: roots.map((root) => ({ ...root, selection: this.#selection(source.name, 0, who).slice(0, 5) })),
            },
          ]
        : [];
    });
  }

  #walks(source: Source): Check[] {
    const { orders } = this.#of(source.name);
    return orders.flatMap((orderBy) =>
      [false, true].map((isBackwards): Check => {
        const via = this.#random.chance(0.7) ? null : this.#holder(source);
        const connection = {
          ...this.#connection(source.name, 0, app(0)),
          orderBy,
          page: {},
          wants: ['totalCount', 'pageInfo', 'edges'] as const,
        };
        const size = 1 + this.#random.below(5);
        if (!via)
          return {
            kind: 'walk',
            who: app(0),
            root: { kind: 'app', selection: [{ ...connection, via: { kind: 'app' } }] },
            size,
            isBackwards,
          };
        return {
          kind: 'walk',
          who: this.#who(),
          root: { kind: 'node', of: via.of, selection: [{ ...connection, via: via.via }] },
          size,
          isBackwards,
        };
      }),
    );
  }

  /** A row that has a connection with rows of the source. */
  #holder({ name, table, isView }: Source): { of: Known; via: Connection['via'] } | null {
    if (isView || table.references.length === 0) return null;
    const { target, name: reference } = this.#random.pick(table.references);
    const marks =
      target === 'units' || target === 'users'
        ? [0, 1, 2]
        : (this.#state.sources.get(target)?.rows ?? []).filter((row) => row.organization === 0).map(({ mark }) => mark);
    if (marks.length === 0) return null;
    void name;
    return {
      of: { source: target, organization: 0, mark: this.#random.pick(marks) },
      via: { kind: 'backward', reference },
    };
  }

  #filters(source: Source): Check[] {
    const { filters, orders } = this.#of(source.name);
    return filters.map((filter): Check => {
      const connection = (more: readonly Filter[]): Connection => ({
        ...{ kind: 'connection', via: { kind: 'app' }, source: source.name, page: {} },
        ...{ orderBy: this.#random.pick(orders), filters: more, wants: ['totalCount'], selection: [{ kind: 'mark' }] },
      });
      const other = this.#random.pick(filters);
      const pair = other.argument === filter.argument ? [filter] : [filter, other];
      return {
        kind: 'document',
        who: app(this.#random.chance(0.8) ? 0 : 1),
        roots: [{ kind: 'app', selection: [connection([filter]), connection(pair)] }],
      };
    });
  }

  #document(source: Source): Check {
    const who = this.#who();
    const roots = Array.from({ length: 1 + this.#random.below(2) }, (): Root => {
      if (who.scope === 'app' && this.#random.chance(0.6)) return { kind: 'app', selection: this.#ofApp(source, who) };
      if (who.scope === 'person' && this.#random.chance(0.3))
        return { kind: 'viewer', selection: this.#selection('users', 2, who) };
      const of = this.#random.chance(0.3)
        ? {
            source: this.#random.pick(['units', 'users']),
            organization: this.#random.pick([0, 1] as const),
            mark: this.#random.below(3),
          }
        : source.rows.length > 0
          ? knownOf(source, this.#random.pick(source.rows))
          : { source: 'units', organization: 0 as const, mark: 0 };
      return { kind: 'node', of, selection: this.#selection(of.source, 2, who) };
    });
    return { kind: 'document', who, roots };
  }

  #ofApp(source: Source, who: Who): Field[] {
    const fields: Field[] = Array.from({ length: 1 + this.#random.below(3) }, () =>
      this.#connection(source.name, 2, who),
    );
    const made = source.table.functions.find(({ shape }) => shape === 'ofApp');
    if (made && !source.isView)
      fields.push({
        ...this.#connection(source.name, 1, who),
        via: { kind: 'call', name: camelCase(made.name.replace(/^app_/, '')), ...this.#minimum() },
      });
    return fields;
  }

  #minimum() {
    const minimum = this.#random.pick([undefined, null, 0, 20, 50]);
    return minimum === undefined ? {} : { minimum };
  }

  #selection(of: string, depth: number, who: Who): Field[] {
    const random = this.#random;
    const source = this.#state.sources.get(of);
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
      for (const other of this.#state.sources.values()) {
        for (const reference of other.isView ? [] : other.table.references) {
          if (reference.target !== of) continue;
          const via = { kind: 'backward', reference: reference.name } as const;
          for (let times = random.below(3); times > 0; times--)
            add(0.5, () => ({ ...this.#connection(other.name, depth - 1, who), via }));
        }
      }
    }
    return random.some(fields, fields.length).slice(0, 9);
  }

  #more({ table }: Source, depth: number, who: Who): Field[] {
    const random = this.#random;
    const fields: Field[] = [];
    for (const { name, target } of depth > 0 ? table.references : []) {
      if (random.chance(0.5))
        fields.push({ kind: 'forward', reference: name, selection: this.#selection(target, depth - 1, who) });
    }
    for (const { shape, returns } of table.functions) {
      if (!random.chance(0.5)) continue;
      if (shape === 'least') {
        if (depth > 0)
          fields.push({
            ...this.#connection(returns, depth - 1, who),
            via: { kind: 'call', name: 'least', ...this.#minimum() },
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
          selection: shape === 'next' ? this.#selection(table.name, depth - 1, who) : [],
        });
      }
    }
    return fields;
  }

  #connection(source: string, depth: number, who: Who): Connection {
    const random = this.#random;
    const { orders, filters } = this.#of(source);
    const chosen = random
      .some(filters, random.below(3))
      .filter(({ argument }, index, all) => all.findIndex((other) => other.argument === argument) === index);
    const wants = random.some(['totalCount', 'pageInfo', 'edges'] as const, random.below(4));
    return {
      ...{ kind: 'connection', via: { kind: 'app' }, source, filters: chosen, wants },
      page: random.pick([{}, {}, { first: random.below(5) }, { last: random.below(5) }]),
      orderBy: random.pick(orders),
      ids: random.chance(0.2) ? this.#ids(source) : undefined,
      selection: this.#selection(source, depth, who),
    };
  }

  #ids(source: string): Known[] {
    const own = this.#state.sources.get(source);
    const all = [...(own ? [own, own] : []), this.#random.pick([...this.#state.sources.values()])];
    return this.#random.some(
      all.flatMap((one) => one.rows.map((row) => knownOf(one, row))),
      this.#random.below(5),
    );
  }

  #who = (): Who => this.#random.pick([app(0), app(0), app(1), { organization: 0, scope: 'person' } as const]);

  #of = (source: string): Arguments => this.#arguments.get(source) ?? { orders: [[]], filters: [] };
}

const app = (organization: 0 | 1): Who => ({ organization, scope: 'app' });
const knownOf = (source: Source, { organization, mark }: { organization: 0 | 1; mark: number }): Known => ({
  source: source.name,
  organization,
  mark,
});

/** A column of the key is a field unless it is a `uuid`. */
const isShown = ({ table }: Source, name: string) =>
  !(table.key.includes(name) && table.columns.find((column) => column.name === name)?.type === 'uuid');
