import { type ClientBase, DatabaseError, escapeLiteral } from 'pg';
import type { Json } from '../ExampleRows.ts';
import { refusedAs } from '../refusals.ts';
import { within } from '../savepoints.ts';
import { inOrder } from './inOrder.ts';
import { labelsOf, privileges, valuesFor } from './inventValue.ts';
import { type Ownership, quoted } from './ownership.ts';
import { type Person, people, uuidOf } from './people.ts';
import type { Column, Table } from './readTables.ts';

/** A row that PostgreSQL has accepted, and the statements that made it. */
export type InventedRow = {
  readonly table: string;
  readonly person: Person;
  readonly row: Json;
  readonly statements: readonly string[];
};

/**
 * Generates test data: a row of each table for each person, parents first, that checks, triggers and domains accept.
 *
 * A row refers to rows of the same person, so that only a team connects two persons. PostgreSQL decides which values are valid. A row that it
 * rejects is tried with fewer columns, then with other values, at last without triggers. If PostgreSQL rejects all of them, the table stays
 * empty for that person, and no row of it refutes anything.
 */
export async function inventRows(
  client: ClientBase,
  tables: readonly Table[],
  ownership: Ownership,
  texts: string,
): Promise<InventedRow[]> {
  const invented: InventedRow[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (name: string) => {
    const known = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, known);
    return known;
  };
  for (const table of inOrder(tables, ownership)) {
    for (const person of people) {
      if (person.joins && ownership.isShared(table)) continue;
      const of = (name: string) => rowOf(invented, name, person);
      const given = givenOf(table, person, of, ownership, numberOf, (name) => keyOf(invented, name, person));
      const offers = table.columns
        .filter(({ isGenerated }) => !isGenerated)
        .map((column): Offer => {
          const own = given.get(column.name);
          const values = own === undefined ? valuesFor(column, table, person, numberOf(table.name), texts) : [own];
          return { column, values, isNeeded: isNeeded(column, table, texts) || own !== undefined };
        });
      const row = await insert(client, table, offers);
      if (row) invented.push({ table: table.name, person, ...row });
    }
  }
  return invented;
}

/** A person's row of a table, or the row of the person with whom they share it. */
export const rowOf = (invented: readonly InventedRow[], table: string, { name, joins }: Person): Json | undefined =>
  (
    invented.find((one) => one.table === table && one.person.name === name) ??
    invented.find((one) => one.table === table && one.person.name === joins)
  )?.row;

/** Finds by the name alone what a column such as `tenant_id` holds for a person: the key of their row in the table `tenants`. */
export function keyOf(invented: readonly InventedRow[], name: string, person: Person): string | undefined {
  const stem = name.replace(/_id$/, '');
  const named = name === stem ? undefined : invented.find(({ table }) => new RegExp(`\\.${stem}(s|es)?$`).test(table));
  const row = named && rowOf(invented, named.table, person);
  const key = row?.id ?? Object.values(row ?? {})[0];
  return key === undefined || key === null ? undefined : String(key);
}

type Offer = { column: Column; values: readonly (string | null)[]; isNeeded: boolean };

const isNeeded = (column: Column, table: Table, texts: string) => {
  const { name, isRequired, hasDefault } = column;
  const { primaryKey, policies } = table;
  return (
    (isRequired && !hasDefault) ||
    primaryKey.includes(name) ||
    privileges.test(name) ||
    labelsOf(column, table, texts).length > 0 ||
    policies.some((policy) => policy.includes(name))
  );
};

/** The columns with one possible value: foreign keys, owners, and ids that tables have in common without a foreign key. */
function givenOf(
  table: Table,
  person: Person,
  of: (name: string) => Json | undefined,
  ownership: Ownership,
  numberOf: (name: string) => number,
  known: (name: string) => string | undefined,
): Map<string, string | null> {
  const given = new Map<string, string | null>();
  for (const { name, base } of table.columns) {
    const isShared = base === 'uuid' && /_id$/.test(name) && !table.primaryKey.includes(name);
    if (isShared) given.set(name, known(name) ?? uuidOf(person, numberOf(name)));
  }
  const { table: peoples, column } = ownership.identity;
  const id = peoples && column ? of(peoples)?.[column] : undefined;
  if (table.name !== peoples)
    for (const { name, type } of ownership.owners(table)) {
      if (id !== undefined) given.set(name, String(id));
      else if (type === 'uuid') given.set(name, uuidOf(person, numberOf('a person')));
    }
  for (const { columns, references, referenced } of table.foreignKeys) {
    const target = of(references);
    columns.forEach((name, index) => {
      const value = target?.[referenced[index] ?? ''];
      if (value !== undefined && value !== null) given.set(name, String(value));
      else if (!table.columns.some((one) => one.name === name && one.isRequired)) given.set(name, null);
    });
  }
  return given;
}

async function insert(
  client: ClientBase,
  table: Table,
  offers: readonly Offer[],
): Promise<Pick<InventedRow, 'row' | 'statements'> | null> {
  const needed = offers.filter((offer) => offer.isNeeded);
  const all = offers.filter(({ values, column, isNeeded: must }) => must || (values.length > 0 && !column.hasDefault));
  const choices = [all, needed, ...otherChoices(needed, table), ...otherChoices(all, table)].slice(0, maxChoices);
  for (const chosen of choices) {
    const statement = insertion(table, chosen);
    const outcome = await returned(client, [statement]);
    if (typeof outcome !== 'string') return { row: outcome, statements: [statement] };
    // A trigger has made the row with that of another table.
    if (outcome === uniqueViolation) return adopt(client, table, chosen);
  }
  // A trigger may want values that cannot be guessed. A login that may not switch triggers off leaves the table empty.
  const statements = [
    'set local session_replication_role = replica',
    insertion(table, needed),
    'set local session_replication_role = origin',
  ];
  const outcome = await returned(client, statements);
  return typeof outcome === 'string' ? null : { row: outcome, statements };
}

const maxChoices = 40;
const uniqueViolation = '23505';

/** The row that statements insert or change, or the code of PostgreSQL's error. */
const returned = (client: ClientBase, statements: readonly string[]): Promise<Json | string> =>
  within(client, async () => {
    const rows: Json[] = [];
    for (const statement of statements) {
      const isWrite = /^(insert|update)/.test(statement);
      const result = await client.query(isWrite ? `${statement} returning to_jsonb(t) as row` : statement);
      if (isWrite) rows.push(...result.rows.map(({ row }) => row as Json));
    }
    return rows[0] ?? 'no row';
  }).catch((error: unknown) => {
    if (!(error instanceof DatabaseError)) throw error;
    return error.code ?? '';
  });

const literalOf = (value: string | null | undefined) => (value == null ? 'null' : escapeLiteral(value));

function insertion({ name, columns }: Table, offers: readonly Offer[]): string {
  const overriding = columns.some(({ isIdentity }) => isIdentity) ? ' overriding system value' : '';
  return offers.length === 0
    ? `insert into ${name} as t default values`
    : `insert into ${name} as t (${offers.map(({ column }) => quoted(column.name)).join(', ')})${overriding}` +
        ` values (${offers.map(({ values: [value] }) => literalOf(value)).join(', ')})`;
}

/** The same columns with other values: one of those that checks ask for at a time, then all. */
function otherChoices(offers: readonly Offer[], { checks }: Table): Offer[][] {
  const isChecked = ({ column, values }: Offer) =>
    values.length > 1 && checks.some((check) => check.includes(column.name) || check.includes('VALUE'));
  const turned = (offer: Offer, by: number): Offer => ({ ...offer, values: offer.values.slice(by) });
  const checked = offers.filter(isChecked);
  const single = checked.flatMap((offer) =>
    offer.values.slice(1).map((_, by) => offers.map((one) => (one === offer ? turned(one, by + 1) : one))),
  );
  const together = [1, 2, 3].map((by) =>
    offers.map((one) => (checked.includes(one) ? turned(one, Math.min(by, one.values.length - 1)) : one)),
  );
  return checked.length > 0 ? [...together, ...single] : [];
}

/** Takes a row that is there already for one of the person's, and gives it the person's values as far as it takes them. */
async function adopt(
  client: ClientBase,
  { name, primaryKey, unique }: Table,
  offers: readonly Offer[],
): Promise<Pick<InventedRow, 'row' | 'statements'> | null> {
  const wanted = (column: string) => offers.find((offer) => offer.column.name === column)?.values[0];
  const keys = [primaryKey, ...unique.map((column) => [column])];
  for (const key of keys) {
    if (key.length === 0 || key.some((column) => wanted(column) == null)) continue;
    const condition = key.map((column) => `${quoted(column)} = ${literalOf(wanted(column))}`).join(' and ');
    const found = await within(client, () =>
      client.query(`select to_jsonb(t) as row from ${name} t where ${condition}`),
    ).catch(refusedAs(null));
    let row = found?.rows[0]?.row as Json | undefined;
    if (!row) continue;
    const statements: string[] = [];
    for (const { column, values } of offers.filter((offer) => !key.includes(offer.column.name))) {
      const statement = `update ${name} as t set ${quoted(column.name)} = ${literalOf(values[0])} where ${condition}`;
      const outcome = await returned(client, [statement]);
      if (typeof outcome === 'string') continue;
      row = outcome;
      statements.push(statement);
    }
    return { row, statements };
  }
  return null;
}
