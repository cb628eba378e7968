import { relative } from 'node:path';
import { type Client, DatabaseError } from 'pg';
import { isWithoutTransaction } from '../../database/migrations/runCommitted.ts';
import { withClient } from '../../database/pool/transactions.ts';
import { StartupError } from '../../errors/errors.ts';
import { findRemedy } from './findRemedy.ts';
import { split } from './statements.ts';

/** PostgreSQL rejects a file of SQL; the message has the place and the reason. */
export class SqlFileError extends StartupError {
  override name = 'SqlFileError';
}

/** Adds line, source, the place in it and the remedy to PostgreSQL's error about a file of SQL, as far as they are known. */
export async function locateError(file: string, sql: string, error: DatabaseError, url: string): Promise<SqlFileError> {
  const failing = await findFailing(sql, url, error).catch(() => null);
  const offset = error.position ? Number(error.position) - 1 : (failing?.offset ?? null);
  return sqlErrorAt(file, sql, offset, error, failing?.remedy);
}

/** @param offset in characters; null when it is not known */
export function sqlErrorAt(
  file: string,
  text: string,
  offset: number | null,
  error: DatabaseError,
  remedy: string | null = null,
): SqlFileError {
  const place = offset === null ? null : linePosition(text, offset);
  const where = relative(process.cwd(), file) + (place ? `:${place.line}:${place.column}` : '');
  const snippet = place ? [...sourceOf(text, place.line), `       | ${underline(place.text, place.column)}`] : [];
  const more = [error.detail, error.hint && `Hint: ${error.hint}`, error.where, remedy && `Help: ${remedy}`];
  const lines = [
    `${error.message} (SQLSTATE ${error.code})`,
    ...snippet,
    ...more.filter(Boolean).map((said) => `  ${said}`),
  ];
  return new SqlFileError(`${where}: ${lines.join('\n')}`, { cause: error });
}

/** A line of a file, with its number in front. */
export function sourceOf(text: string, line: number): string[] {
  const source = text.split('\n')[line - 1];
  return source === undefined ? [] : [`  ${String(line).padStart(4)} | ${source.replaceAll('\t', ' ')}`];
}

/** Carets below the name, number or sign that begins at a column. */
function underline(line: string, column: number): string {
  const [word = ' '] = /^(?:"[^"]*"|[\p{L}\p{N}_$])(?:"[^"]*"|[\p{L}\p{N}_$.])*/u.exec(line.slice(column - 1)) ?? [];
  return ' '.repeat(column - 1) + '^'.repeat(word.length);
}

/** The line and column of an offset. PostgreSQL counts characters, JavaScript UTF-16 code units. */
export function linePosition(text: string, offset: number) {
  const before = [...text].slice(0, offset).join('');
  const line = before.split('\n').length;
  return {
    line,
    column: before.length - before.lastIndexOf('\n'),
    text: (text.split('\n')[line - 1] ?? '').replaceAll('\t', ' '),
  };
}

/**
 * Where the failing statement begins, in characters, and what to do about it.
 * PostgreSQL reports the place of a mistake that it finds when it parses. For any other, the statements run once more, one by one, in a
 * transaction that is rolled back. Then the database has what the statements before have made, whose names may be meant.
 */
async function findFailing(text: string, ownerUrl: string, error: DatabaseError) {
  const remedy = (client: Client, statement: string) => findRemedy(client, error, statement);
  if (isWithoutTransaction(text)) return null;
  const statements = await split(text);
  // Closing the connection rolls back.
  return withClient(ownerUrl, async (client) => {
    await client.query('begin');
    for (const { offset, sql } of statements) {
      await client.query('savepoint statement');
      const found = await client.query(sql).catch((error: unknown) => error);
      if (!(found instanceof DatabaseError)) continue;
      await client.query('rollback to statement');
      return { offset, remedy: await remedy(client, sql) };
    }
    return null;
  });
}

/** @throws {SqlFileError} when a file without a transaction has several statements: PostgreSQL runs these in one transaction */
export async function requireOneStatement(file: string, text: string): Promise<void> {
  if (!isWithoutTransaction(text)) return;
  // PostgreSQL says what is wrong with a text that is not parsed.
  const [, second] = await split(text).catch(() => []);
  if (!second) return;
  const { line } = linePosition(text, second.offset);
  const message = 'After `--! no-transaction` there is one statement. Put this one into a migration of its own.';
  throw new SqlFileError([`${relative(process.cwd(), file)}:${line}: ${message}`, ...sourceOf(text, line)].join('\n'));
}
