import type { Check, Connection, Field, Filter, Known, Root, Who } from './checks.ts';
import { knownOf, SelectionDrawer } from './drawSelection.ts';
import { exchangeValues } from './exchangeValues.ts';
import { camelCase } from './model.ts';
import { drawMutations } from './mutate.ts';
import type { Source } from './state.ts';

/** Draws what is asked of the drawn tables. */
export class Drawer extends SelectionDrawer {
  /** Each order both ways, each filter, every row by its id, and documents of all of these. */
  checks(): Check[] {
    return [...this.state.sources.values()].flatMap((source) => [
      ...this.#nodes(source),
      ...this.#walks(source),
      ...this.#filters(source),
      ...Array.from({ length: 12 }, () => this.#document(source)),
      ...(source.isView ? [] : drawMutations(this.random, source, () => this.selection(source.name, 1, app(0)))),
    ]);
  }

  #nodes(source: Source): Check[] {
    const whos: Who[] = [app(0), app(1), { organization: 0, scope: 'person' }];
    return whos.map((who): Check => {
      const roots = this.random.some(source.rows, 8).map(
        (row): Root => ({
          kind: 'node',
          of: knownOf(source, row),
          selection: this.selection(source.name, 0, who).slice(0, 5),
        }),
      );
      return { kind: 'document', who, roots: [...roots, { kind: 'node', of: firstUnit, selection: [] }] };
    });
  }

  #walks(source: Source): Check[] {
    const { orders } = this.of(source.name);
    return orders.flatMap((orderBy) =>
      [false, true].map((isBackwards): Check => {
        const connection = {
          ...this.connection(source.name, 0, app(0)),
          ...{ orderBy, page: {}, wants: ['totalCount', 'pageInfo', 'edges'] as const },
        };
        const holder = this.random.chance(0.7) ? null : this.#holder(source);
        const root: Root = holder
          ? { kind: 'node', of: holder.of, selection: [{ ...connection, via: holder.via }] }
          : { kind: 'app', selection: [connection] };
        return {
          ...{ kind: 'walk', who: holder ? this.#who() : app(0), root },
          ...{ size: 1 + this.random.below(5), isBackwards },
        };
      }),
    );
  }

  /** A row that has a connection with rows of the source. */
  #holder({ table, isView }: Source): { of: Known; via: Connection['via'] } | null {
    if (isView || table.references.length === 0) return null;
    const { target, name: reference } = this.random.pick(table.references);
    const marks =
      target === 'units' || target === 'users'
        ? [0, 1, 2]
        : (this.state.sources.get(target)?.rows ?? []).filter((row) => row.organization === 0).map(({ mark }) => mark);
    if (marks.length === 0) return null;
    return {
      of: { source: target, organization: 0, mark: this.random.pick(marks) },
      via: { kind: 'backward', reference },
    };
  }

  #filters(source: Source): Check[] {
    const { filters, orders } = this.of(source.name);
    return filters.map((filter): Check => {
      const connection = (more: readonly Filter[]): Connection => ({
        ...{ kind: 'connection', via: { kind: 'app' }, source: source.name, page: {} },
        ...{ orderBy: this.random.pick(orders), filters: more, wants: ['totalCount'], selection: [{ kind: 'mark' }] },
      });
      const other = this.random.pick(filters);
      const pair = other.argument === filter.argument ? [filter] : [filter, other];
      const roots: Root[] = [{ kind: 'app', selection: [connection([filter]), connection(pair)] }];
      return { kind: 'document', who: app(this.random.chance(0.8) ? 0 : 1), roots, exchanged: this.#exchanged(roots) };
    });
  }

  #document(source: Source): Check {
    const who = this.#who();
    const roots = Array.from({ length: 1 + this.random.below(2) }, (): Root => {
      if (who.scope === 'app' && this.random.chance(0.6)) return { kind: 'app', selection: this.#ofApp(source, who) };
      if (who.scope === 'person' && this.random.chance(0.3))
        return { kind: 'viewer', selection: this.selection('users', 2, who) };
      const of = this.random.chance(0.3)
        ? {
            source: this.random.pick(['units', 'users']),
            organization: this.random.pick([0, 1] as const),
            mark: this.random.below(3),
          }
        : source.rows.length > 0
          ? knownOf(source, this.random.pick(source.rows))
          : firstUnit;
      return { kind: 'node', of, selection: this.selection(of.source, 2, who) };
    });
    return { kind: 'document', who, roots, exchanged: this.#exchanged(roots) };
  }

  #exchanged = (roots: readonly Root[]) => exchangeValues(roots, this.random, this.known);

  #ofApp(source: Source, who: Who): Field[] {
    const fields: Field[] = Array.from({ length: 1 + this.random.below(3) }, () =>
      this.connection(source.name, 2, who),
    );
    const made = source.table.functions.find(({ shape }) => shape === 'ofApp');
    if (made && !source.isView)
      fields.push({
        ...this.connection(source.name, 1, who),
        via: { kind: 'call', name: camelCase(made.name.replace(/^app_/, '')), ...this.minimum() },
      });
    return fields;
  }

  #who = (): Who => this.random.pick([app(0), app(0), app(1), { organization: 0, scope: 'person' } as const]);
}

const firstUnit: Known = { source: 'units', organization: 0, mark: 0 };

const app = (organization: 0 | 1): Who => ({ organization, scope: 'app' });
