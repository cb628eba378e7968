import type { Pool } from 'pg';
import type { Known, Who } from './checks.ts';
import { quote } from './draw.ts';
import { type Case, type Column, camelCase, type Table, typeNameOf } from './model.ts';
import { columnsOf, keyOf } from './sql.ts';
import { typeOf } from './types.ts';
import type { World } from './world.ts';

/** The rows of a table or view, as the owner of the database reads them. */
export type Source = {
  readonly name: string;
  /** The connection of `App` and the type of a row; of an interface that of the interface. */
  readonly field: string;
  readonly type: string;
  readonly table: Table;
  readonly isView: boolean;
  readonly columns: readonly Column[];
  readonly rows: readonly Item[];
};

export type Item = {
  readonly organization: 0 | 1;
  readonly mark: number;
  readonly typename: string;
  readonly texts: Readonly<Record<string, string | null>>;
  readonly values: Readonly<Record<string, unknown>>;
  /** Places among the rows of the organization, equal for equal values; `PRIMARY_KEY` has that of the key, `KEY` that among all rows. */
  readonly ranks: Readonly<Record<string, number>>;
  readonly references: Readonly<Record<string, number | null>>;
};

export type State = {
  readonly drawn: Case;
  readonly world: World;
  readonly sources: ReadonlyMap<string, Source>;
  /** Ids and orders that the service has shown, by {@link keyOfKnown} and by source and order. */
  readonly ids: Map<string, string>;
  readonly orders: Map<string, ReadonlyMap<number, number>>;
  readonly matches: Map<string, ReadonlySet<number>>;
};

export const keyOfKnown = ({ source, organization, mark }: Known) => `${source}/${organization}/${mark}`;

export async function readState(owner: Pool, world: World, drawn: Case): Promise<State> {
  const sources = new Map<string, Source>();
  for (const table of drawn.tables) {
    const source = await readSource(owner, world, drawn, table);
    sources.set(source.name, source);
    if (table.view) {
      const rows = source.rows.filter(({ mark }) => mark % 2 === 1);
      const type = typeNameOf(table.view);
      const view = {
        name: table.view,
        field: camelCase(table.view),
        type,
        isView: true,
        table,
        columns: table.columns,
      };
      sources.set(table.view, { ...view, rows: rows.map((row) => ({ ...row, typename: type })) });
    }
  }
  return { drawn, world, sources, ids: new Map(), orders: new Map(), matches: new Map() };
}

async function readSource(owner: Pool, world: World, { tables }: Case, table: Table): Promise<Source> {
  const ordered = table.columns.filter(({ type }) => !typeOf(type).isUnordered);
  const key = keyOf(table, tables);
  const rank = (by: string, as: string) =>
    `dense_rank() over (partition by t.organization_id order by ${by})::int as ${quote(`rank ${as}`)}`;
  const selected = [
    'organization_id',
    'mark',
    ...(table.interface ? ['kind'] : []),
    ...table.columns.map(({ name }) => `t.${quote(name)}::text as ${quote(`text ${name}`)}`),
    ...table.references.map((reference) => {
      const columns = columnsOf(reference, tables);
      if (reference.target === 'units' || reference.target === 'users')
        return `t.${quote(columns[0]?.name ?? '')} as ${quote(`to ${reference.name}`)}`;
      const equal = columns.map(({ name, key: other }) => `x.${quote(other)} = t.${quote(name)}`).join(' and ');
      return `(select x.mark from app_public.${reference.target} x where x.organization_id = t.organization_id and ${equal}) as ${quote(`to ${reference.name}`)}`;
    }),
    ...ordered.map(({ name }) => rank(`t.${quote(name)} nulls first`, name)),
    rank('t.mark', 'mark'),
    rank(key.map(({ name }) => `t.${quote(name)}`).join(', '), 'PRIMARY_KEY'),
    `dense_rank() over (order by ${key.map(({ name }) => `t.${quote(name)}`).join(', ')})::int as "rank KEY"`,
  ];
  const { rows } = await owner.query(`select ${selected.join(', ')} from app_public.${table.name} t`);
  const type = typeNameOf(table.name);
  return {
    ...{ name: table.name, field: camelCase(table.name), type, table, isView: false, columns: table.columns },
    rows: rows.map((row): Item => {
      const organization = world.organizations[0].id === row.organization_id ? 0 : 1;
      const { units, users } = world.organizations[organization];
      const texts = Object.fromEntries(table.columns.map(({ name }) => [name, row[`text ${name}`] as string | null]));
      return {
        organization,
        mark: row.mark,
        typename: table.interface?.kinds.find(({ value }) => value === row.kind)?.type ?? type,
        texts,
        values: Object.fromEntries(
          table.columns.map((column) => [column.name, toJson(column, texts[column.name] ?? null)]),
        ),
        ranks: Object.fromEntries(
          [...ordered.map(({ name }) => name), 'mark', 'PRIMARY_KEY', 'KEY'].map((name) => [name, row[`rank ${name}`]]),
        ),
        references: Object.fromEntries(
          table.references.map(({ name, target }) => {
            const value = row[`to ${name}`];
            const known = target === 'units' ? units : target === 'users' ? users : null;
            const place = known ? known.findIndex(({ uuid }) => uuid === value) : value;
            return [name, value === null ? null : place];
          }),
        ),
      };
    }),
  };
}

const toJson = ({ type }: Column, text: string | null) => (text === null ? null : typeOf(type).toJson(text));

/** What row-level security promises, by the policies that the table has. */
export function isVisible({ table }: Source, item: Item, { organization, scope }: Who): boolean {
  if (item.organization !== organization) return false;
  if (scope === 'app') return true;
  const place = (target: string) =>
    item.references[table.references.find((one) => one.target === target)?.name ?? ''] ?? null;
  switch (table.policy) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'unit':
      return isKnownVisible('units', place('units'), scope);
    case 'user':
      return isKnownVisible('users', place('users'), scope);
  }
}

/** A person sees the first two units, and themselves. */
export const isKnownVisible = (target: string, place: number | null, scope: Who['scope']) =>
  place !== null && (scope === 'app' || place < (target === 'units' ? 2 : 1));
