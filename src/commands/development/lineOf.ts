import { linePosition } from './sqlFileError.ts';
import { split } from './statements.ts';

/**
 * The line of a migration that makes an object or comments on it, or null.
 * The object is named as a finding does, such as `app_public.doors.name`, `app_public.door_create(uuid,text)` or `doors_unit_id_fkey on
 * app_public.doors`.
 *
 * @param said texts that the finding is about, such as `@filter`; the first one that the migration has literally is used
 */
export async function lineOf(text: string, object: string, said: readonly string[] = []): Promise<number | null> {
  const names = namesOf(object);
  const statements = (await split(text)).filter(({ sql }) => !/^drop\s/i.test(sql));
  const lineIn = ({ offset, sql }: { offset: number; sql: string }, index: number) =>
    linePosition(text, offset + [...sql.slice(0, Math.max(index, 0))].length).line;
  const naming = (all: readonly string[]) =>
    statements.filter(({ sql }) => all.every((name) => indexOf(sql, name) >= 0));

  for (const words of said) {
    // The last comment is the one in force.
    const saying = naming(names).findLast(({ sql }) => sql.includes(words));
    if (saying) return lineIn(saying, saying.sql.indexOf(words));
  }
  // PostgreSQL makes up a name where the migration gives none; then only the table can be found.
  const [making] = [...naming(names), ...naming(names.slice(-1))];
  return making ? lineIn(making, indexOf(making.sql, names[0] ?? '')) : null;
}

/** The innermost name first, the table last. */
function namesOf(object: string): string[] {
  const [path = '', table] = object.replace(/\(.*\)$/s, '').split(/ on (?=[^"]*(?:"[^"]*"[^"]*)*$)/);
  if (table !== undefined) return [...namesIn(path), ...namesIn(table).slice(-1)];
  const [first = '', ...withinSchema] = namesIn(path);
  return withinSchema.length > 0 ? withinSchema.reverse() : [first];
}

const namesIn = (path: string) =>
  [...path.matchAll(/"((?:[^"]|"")+)"|[^."]+/g)].map(([name, quoted]) => quoted?.replaceAll('""', '"') ?? name);

/** As a word of its own; -1 when it is not there. */
const indexOf = (sql: string, name: string) =>
  sql.search(new RegExp(`(?<![\\w$])${name.replace(/\W/g, '\\$&')}(?![\\w$])`, 'i'));
