import { type Person, uuidOf } from './people.ts';
import type { Column, Table } from './readTables.ts';

/**
 * Lists values that a column may have for a person, the most likely first.
 * It does not solve checks. It offers the literals with which checks and policies compare the column, and PostgreSQL accepts or rejects the row.
 */
export function valuesFor(column: Column, table: Table, person: Person, number: number, texts: string): string[] {
  const { name, category, base } = column;
  const listed = labelsOf(column, table, texts);
  if (listed.length > 0) return ordered(name, listed, table, person);
  const fit = (text: string) => text.slice(0, column.maxLength ?? text.length);
  if (base === 'uuid') return [uuidOf(person, number)];
  if (category === 'B')
    return privileges.test(name) && person.isPrivileged.everywhere ? ['true', 'false'] : ['false', 'true'];
  if (category === 'N') return numbersOf(base, person, number);
  if (category === 'D')
    return /start|begin|from|since|created/.test(name) ? ['2020-01-01', '2040-01-01'] : ['2040-01-01', '2020-01-01'];
  if (category === 'A') return ['{}'];
  if (category === 'S') return textsOf(name, person).map(fit);
  if (base in others) return others[base] ?? [];
  // citext and the like are in no category of PostgreSQL's own.
  return category === 'U' || category === 'X' ? textsOf(name, person).map(fit) : [];
}

/** Columns that grant privileges in an application. */
export const privileges =
  /^(roles?|user_role|member_role|account_role|team_role|is_(super_?)?(admin|user|staff|owner|moderator)|(super_?)?admin|permissions?|plan(_id)?|tier|credits|balance|is_(verified|staff|pro|premium))$/;

/** Labels of an enum, or the texts with which checks and policies compare the column. */
export function labelsOf({ name, labels, category }: Column, { checks }: Table, texts: string): readonly string[] {
  if (labels.length > 0) return labels;
  if (category !== 'S') return [];
  const listed = [...checks, privileges.test(name) ? texts : ''].flatMap((text) => literalsBeside(name, text));
  return [...new Set(listed)];
}

/** `status = 'a'`, `status in ('a', 'b')`, as PostgreSQL prints them. */
function literalsBeside(column: string, text: string): string[] {
  const compared = new RegExp(
    `\\b${column}\\b"?\\)?(?:::[\\w ]+)?\\)*\\s*(?:=|<>|in|IN)\\s*((?:ANY|ALL|any|all)?\\s*\\(*(?:ARRAY\\[|array\\[)?[^\\])]*)`,
    'g',
  );
  return [...text.matchAll(compared)].flatMap(([, list = '']) =>
    [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, literal = '']) => literal.replaceAll("''", "'")),
  );
}

const high = /owner|admin|manager|enterprise|pro\b|premium/i;

/** Labels in the order in which to try them. A privileged person gets one such as `admin`. In columns of other kinds, persons get different labels. */
function ordered(name: string, labels: readonly string[], table: Table, person: Person): string[] {
  if (!privileges.test(name)) {
    const first = (person.number - 1) % labels.length;
    return [...labels.slice(first), ...labels.slice(0, first)];
  }
  const isInTeam = table.foreignKeys.length > 1;
  const isPrivileged = isInTeam ? person.isPrivileged.inTeam : person.isPrivileged.everywhere;
  return [...labels].sort((a, b) => Number(high.test(b) === isPrivileged) - Number(high.test(a) === isPrivileged));
}

function numbersOf(base: string, { number: person }: Person, number: number): string[] {
  if (base === 'int2') return [String(number * 10 + person), String(person)];
  if (base === 'int4' || base === 'int8') return [String(900000000 + number * 10 + person), String(person)];
  return [String(person), `0.${person}`];
}

function textsOf(name: string, { name: person, number }: Person): string[] {
  const lower = person.toLowerCase();
  const plain = [`${name.replaceAll('_', ' ')} of ${person}`, `of-${lower}`, lower, String(number)];
  if (/mail/.test(name)) return [`of-${lower}@example.com`, ...plain];
  if (/url|link|website/.test(name)) return [`https://example.com/of-${lower}`, ...plain];
  if (/slug|handle|username|key|code/.test(name)) return [`of-${lower}`, ...plain];
  return [...plain, `https://example.com/of-${lower}`, `of-${lower}@example.com`, `+155500000${number}`];
}

const others: Readonly<Record<string, string[]>> = {
  json: ['{}', '[]'],
  jsonb: ['{}', '[]'],
  bytea: ['\\x0a'],
  inet: ['10.0.0.1'],
  cidr: ['10.0.0.0/8'],
  interval: ['1 day'],
  tsvector: [''],
  point: ['(0,0)'],
  int4range: ['[1,2)'],
  int8range: ['[1,2)'],
  numrange: ['[1,2)'],
  daterange: ['[2020-01-01,2040-01-01)'],
  tsrange: ['[2020-01-01,2040-01-01)'],
  tstzrange: ['[2020-01-01,2040-01-01)'],
};
