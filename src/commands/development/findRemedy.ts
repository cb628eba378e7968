import { suggestionList } from 'graphql/jsutils/suggestionList.js';
import type { Client, DatabaseError } from 'pg';
import { readCommitted } from '../../database/migrations/committedMigrations.ts';
import { namedObjects, split } from './statements.ts';

/**
 * Says what to do about an error of PostgreSQL in a migration, as a compiler's help does; null where it knows nothing.
 * A wrong name gets the nearest names that there are. Any other error gets a sentence by its SQLSTATE.
 *
 * @param client in the state before the failing statement
 */
export async function findRemedy(client: Client, error: DatabaseError, statement: string): Promise<string | null> {
  const { code = '', detail = '' } = error;
  const names = namesText[code];
  if (names !== undefined) return nearest(namedIn(error), await readNames(client, names));
  if (isDuplicate(code)) return dropFirst(client, statement);
  const [, recorder, table] = /trigger (audit|follow)_columns on table (\S+)/.exec(detail) ?? [];
  if (table !== undefined) return nameAnew(recorder === 'audit', table);
  return remedies[code] ?? null;
}

/** By SQLSTATE of a name that does not exist: the names that do. Those of PostgreSQL itself need no schema. */
const namesText: Readonly<Record<string, string>> = {
  // undefined_table
  '42P01': `select format('%s.%s', relnamespace::regnamespace, quote_ident(relname)) from pg_class
    where relkind in ('r', 'p', 'v', 'm', 'f') and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'`,
  // undefined_function
  '42883': `select concat(nullif(pronamespace::regnamespace::text, 'pg_catalog') || '.', quote_ident(proname)) from pg_proc`,
  // undefined_object: a type, or a role
  '42704': `select concat(nullif(typnamespace::regnamespace::text, 'pg_catalog') || '.', quote_ident(typname)) from pg_type
      where typelem = 0 and typnamespace::regnamespace::text <> 'information_schema'
    union all select rolname from pg_roles`,
  // invalid_schema_name
  '3F000': 'select nspname from pg_namespace',
};

async function readNames(client: Client, text: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`select distinct names.name from (${text}) as names (name)`);
  return rows.map(({ name }) => name).filter((name) => !name.startsWith('pg_'));
}

/** The name that PostgreSQL has not found: in quotes, or before the arguments of a function. */
const namedIn = ({ message }: DatabaseError) => {
  const [, quoted, called] = /"([^"]+)"|(\S+)\(/.exec(message) ?? [];
  return quoted ?? called ?? '';
};

/** With their schemas, since nothing is in the search path of migrations but what is PostgreSQL's own. */
function nearest(wrong: string, known: readonly string[]): string | null {
  // The function is there, with other arguments.
  if (known.includes(wrong)) return null;
  const last = (name: string) => name.split('.').at(-1) ?? '';
  const same = known.filter((name) => last(name) === last(wrong));
  if (same.length > 0) return didYouMean(same);
  const isQualified = wrong.includes('.');
  const [word] = suggestionList(wrong, isQualified ? known : [...new Set(known.map(last))]);
  const near = known.filter((name) => name === word || (!isQualified && last(name) === word));
  return near.length > 0 ? didYouMean(near) : null;
}

const didYouMean = (names: readonly string[]) => `Did you mean ${names.slice(0, maxSuggestions).join(' or ')}?`;

const maxSuggestions = 3;

/** Duplicate table, object (such as a policy), function, column, schema, and the like. */
const isDuplicate = (code: string) => /^(42P0[467]|42710|42723|42701)$/.test(code);

/**
 * An object that the file itself makes is dropped first, since the file runs on every save.
 * One of a committed migration is not dropped.
 */
async function dropFirst(client: Client, statement: string): Promise<string | null> {
  const [, kind, name, rest = ''] = creation.exec(statement) ?? [];
  if (kind !== undefined && name !== undefined) {
    const [, table] = place.exec(rest) ?? [];
    const on = /^(policy|trigger)$/i.test(kind) && table ? ` on ${table}` : '';
    if (await isCommitted(client, statement))
      return 'A committed migration has made it. Choose another name, or change what is there by `alter`.';
    return `The file runs on every save: put \`drop ${kind.toLowerCase()} if exists ${name}${on};\` at its top.`;
  }
  const [, table, column] = addition.exec(statement) ?? [];
  if (table === undefined || column === undefined) return null;
  const drop = `alter table ${table} drop column if exists ${column};`;
  return `The file runs on every save. If it has added the column, put \`${drop}\` at its top. If not, choose another name.`;
}

async function isCommitted(client: Client, statement: string): Promise<boolean> {
  const { rows } = await client.query<{ schema: string }>('select current_schema() as schema');
  const namesIn = async (text: string, schema?: string) =>
    namedObjects(await split(text), schema).flatMap(({ makes }) => makes?.replace(oneNamespace, '') ?? []);
  const [made] = await namesIn(statement, rows[0]?.schema);
  for (const { body } of await readCommitted()) if (made && (await namesIn(body)).includes(made)) return true;
  return false;
}

/** Such a trigger has the columns that history or feed was given. */
const nameAnew = (isHistory: boolean, table: string) =>
  isHistory
    ? `Name the columns without this one before: select audit.record('${table}', secrets => '{…}'), or derived, subject_id or row_id.`
    : `Name the columns without this one before: select feed.follow('${table}', ignored => '{…}').`;

/** Kinds of objects of which two cannot have the same name. */
const oneNamespace = /OBJECT_(TABLE|VIEW|MATVIEW|INDEX|SEQUENCE|TYPE|DOMAIN)/;

/** A name with its schema, each perhaps in quotes. */
const path = String.raw`((?:"(?:[^"]|"")*"|[\p{L}\p{N}_$.&])+)`;
const creation = new RegExp(
  String.raw`^create\s+(?:or\s+replace\s+|unique\s+|constraint\s+|unlogged\s+)*(materialized\s+view|table|view|index|sequence|type|domain|function|procedure|schema|role|policy|trigger)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?${path}(.*)`,
  'isu',
);
const place = new RegExp(String.raw`\son\s+${path}`, 'iu');
const addition = new RegExp(
  String.raw`^alter\s+table\s+(?:only\s+)?${path}\s+add\s+(?:column\s+)?(?!constraint\b)${path}`,
  'isu',
);

/** By SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const remedies: Readonly<Record<string, string>> = {
  // active_sql_transaction
  '25001': 'Put `--! no-transaction` into the first line of the file, and nothing else beside this statement.',
  // dependent_objects_still_exist
  '2BP01': 'Drop first what depends on it: at the top of the file the latest object comes first.',
  // invalid_foreign_key
  '42830': 'Keys begin with the organization: foreign key (organization_id, unit_id) references app_public.units.',
  // not_null_violation, foreign_key_violation, unique_violation, check_violation
  ...Object.fromEntries(
    ['23502', '23503', '23505', '23514'].map((code) => [
      code,
      'Rows that are there break this rule: change them before it, in this file.',
    ]),
  ),
};
