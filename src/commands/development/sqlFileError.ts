import { relative } from 'node:path';
import { DatabaseError } from 'pg';
import { isWithoutTransaction } from '../../database/migrations/graphileMigrate.ts';
import { withClient } from '../../database/pool/withClient.ts';

/** PostgreSQL has rejected a file of SQL; the message has the place and the reason. */
export class SqlFileError extends Error {
  override name = 'SqlFileError';
}

/** Adds line, source and caret to PostgreSQL's error about a file of SQL, as far as they are known. */
export async function locateError(file: string, sql: string, error: DatabaseError, url: string): Promise<SqlFileError> {
  const offset = error.position ? Number(error.position) - 1 : await offsetOfStatement(sql, url);
  return sqlErrorAt(file, sql, offset, error);
}

/** @param offset in characters; null when it is not known */
export function sqlErrorAt(file: string, text: string, offset: number | null, error: DatabaseError): SqlFileError {
  const place = offset === null ? null : placeOf(text, offset);
  const where = relative(process.cwd(), file) + (place ? `:${place.line}:${place.column}` : '');
  const snippet = place
    ? [`  ${String(place.line).padStart(4)} | ${place.text}`, `       | ${' '.repeat(place.column - 1)}^`]
    : [];
  const more = [error.detail, error.hint && `Hint: ${error.hint}`, error.where].filter(Boolean);
  const lines = [`${error.message} (SQLSTATE ${error.code})`, ...snippet, ...more.map((line) => `  ${line}`)];
  return new SqlFileError(`${where}: ${lines.join('\n')}`, { cause: error });
}

/** The line and column of an offset. PostgreSQL counts characters, JavaScript UTF-16 code units. */
export function placeOf(text: string, offset: number) {
  const before = [...text].slice(0, offset).join('');
  const line = before.split('\n').length;
  return {
    line,
    column: before.length - before.lastIndexOf('\n'),
    text: (text.split('\n')[line - 1] ?? '').replaceAll('\t', ' '),
  };
}

/**
 * Where the failing statement begins, in characters.
 * PostgreSQL reports the place of a mistake that it finds when it parses. For any other, the statements run once more, one by one, in a
 * transaction that is rolled back.
 */
async function offsetOfStatement(text: string, ownerUrl: string): Promise<number | null> {
  if (isWithoutTransaction(text)) return null;
  const statements = await split(text);
  // Closing the connection rolls back.
  return withClient(ownerUrl, async (client) => {
    await client.query('begin');
    for (const { offset, sql } of statements) {
      const error = await client.query(sql).catch((error: unknown) => error);
      if (error instanceof DatabaseError) return offset;
    }
    return null;
  });
}

/** The statements of a file and where each begins, in characters; PostgreSQL's parser counts bytes. */
export async function split(text: string): Promise<{ offset: number; sql: string }[]> {
  const { parse } = await import('libpg-query');
  const bytes = Buffer.from(text);
  const { stmts = [] } = await parse(text);
  return stmts.map(({ stmt_location: start = 0, stmt_len: length }) => {
    const sql = bytes.subarray(start, length === undefined ? undefined : start + length).toString();
    const [blank = ''] = /^(\s|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)*/.exec(sql) ?? [];
    return { offset: [...bytes.subarray(0, start).toString(), ...blank].length, sql: sql.slice(blank.length) };
  });
}
