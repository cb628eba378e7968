import { dirname, join } from 'node:path';
import type { DatabaseError } from 'pg';
import { readCommitted, readPlainText } from '../../database/migrations/committedMigrations.ts';
import { withClient } from '../../database/pool/transactions.ts';
import { currentFile } from './migrations.ts';
import { SqlFileError, sqlErrorAt } from './sqlFileError.ts';

/** Locates an error that a call found in a function's body: its line in a migration, if known. */
export async function defectIn(error: DatabaseError, ownerUrl: string): Promise<SqlFileError> {
  const { where = '', internalQuery, internalPosition } = error;
  const [frame, signature, line] = /^PL\/pgSQL function (.+\)) line (\d+) at .*$/m.exec(where) ?? [];
  const body = signature === undefined ? internalQuery : await functionBody(signature, ownerUrl);
  const found = body ? await findInMigrations(body) : null;
  if (!body || !found) return new SqlFileError(`${frame ?? 'A statement'}: ${error.message} (SQLSTATE ${error.code})`);
  const inBody = line === undefined ? Number(internalPosition ?? 1) - 1 : offsetOfLine(body, Number(line));
  return sqlErrorAt(found.file, found.text, found.offset + inBody, error);
}

async function functionBody(signature: string, ownerUrl: string): Promise<string | undefined> {
  const text = 'select prosrc from pg_proc where oid = to_regprocedure($1)';
  const { rows } = await withClient(ownerUrl, (client) => client.query<{ prosrc: string }>(text, [signature]));
  return rows[0]?.prosrc;
}

/** The offset in characters; PL/pgSQL's first line is the one after the opening quote. */
function offsetOfLine(body: string, line: number): number {
  const lines = body.split('\n');
  const before = lines.slice(0, line - 1).map((text) => `${text}\n`);
  const [indent = ''] = /^\s*/.exec(lines[line - 1] ?? '') ?? [];
  return [...before.join(''), ...indent].length;
}

/** The latest migration wins, since it may have replaced the function. */
async function findInMigrations(body: string) {
  const folder = join(dirname(currentFile), 'committed');
  const committed = (await readCommitted()).map(({ name }) => join(folder, name));
  for (const file of [currentFile, ...committed.toReversed()]) {
    const text = await readPlainText(file).catch(() => '');
    const index = text.indexOf(body);
    if (index !== -1) return { file, text, offset: [...text.slice(0, index)].length };
  }
  return null;
}
