import type { Identity } from './ownership.ts';
import type { Table } from './readTables.ts';

/**
 * Finds the table that has a row for each person.
 * It is the platform's. Otherwise it is the table with a name such as `users` to which most tables refer.
 * The client's id has the type of its key.
 */
export function findIdentity(tables: readonly Table[], user: string, functions: readonly string[]): Identity {
  const platform = tables.find(({ name }) => name === 'auth.users');
  const references = ({ name }: Table) =>
    tables.filter(({ foreignKeys }) => foreignKeys.some((key) => key.references === name)).length;
  const [named] = tables
    .filter((table) => peopleNames.test(table.bare) && idOf(table) !== undefined)
    .sort((a, b) => references(b) - references(a));
  const table = platform ?? named;
  const column = table?.columns.find(({ name }) => name === idOf(table));
  const type = column?.type ?? 'uuid';
  const isCall = user.endsWith('()');
  return {
    ...{ user: isCall ? user : `(${user})::${type}`, type, functions },
    ...{ table: table?.name ?? null, column: column?.name ?? null },
  };
}

const peopleNames = /^(app_)?(users?|people|persons?|accounts?|members?|profiles?|customers?|employees?)$/;

/** The part of a key that is the person's own, beside that of a tenant. */
function idOf({ primaryKey, foreignKeys }: Table): string | undefined {
  const [first, ...others] = primaryKey.filter(
    (name) => primaryKey.length === 1 || !foreignKeys.some(({ columns }) => columns.includes(name)),
  );
  return others.length === 0 ? first : undefined;
}
