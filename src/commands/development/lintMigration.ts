import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { migrationsFolder } from '../../database/migrations/committedMigrations.ts';
import { isWithoutTransaction } from '../../database/migrations/runCommitted.ts';
import { StartupError } from '../../errors/errors.ts';
import { namedObjects, split } from './statements.ts';

/** An unsafe statement of a migration, found by squawk. */
type UnsafeStatement = { readonly rule: string; readonly line: number; readonly message: string };

/**
 * Lints a migration (`migrations/squawk.toml`): long locks, rewrites of tables, broken clients.
 * `-- squawk-ignore <rule>` above a statement accepts it after review.
 *
 * @param committed the migrations before it
 * @throws {StartupError} when squawk does not run to its end
 */
export async function lintMigration(sql: string, committed: readonly string[] = []): Promise<UnsafeStatement[]> {
  const reports = await runSquawk(sql);
  const isDrop = ({ rule_name: rule }: Report) =>
    rule === 'ban-drop-table' || rule === 'require-concurrent-index-deletion';
  // A text that PostgreSQL does not parse has been reported.
  const isHarmless = reports.some(isDrop) ? await findHarmlessDrops(sql, committed).catch(() => null) : null;
  return reports
    .filter((report) => !isDrop(report) || !isHarmless?.(report))
    .map(({ rule_name: rule, line, message, help }) => ({
      rule,
      line: line + 1,
      message: help ? `${message} ${help}` : message,
    }));
}

/**
 * Finds the statements that drop only objects which the migration itself creates.
 * It may run twice while it is written, so it first drops these, still empty. A table of a committed migration may have rows.
 */
async function findHarmlessDrops(sql: string, committed: readonly string[]): Promise<(report: Report) => boolean> {
  const [statements, before] = await Promise.all([split(sql), Promise.all(committed.map(split))]);
  const objects = namedObjects(statements);
  const isCommitted = new Set(before.flatMap((file) => namedObjects(file)).map(({ makes }) => makes));
  const isMade = (name: string, dropAt: number) =>
    objects.some(({ makes, makesIfMissing }, at) => makes === name && (!makesIfMissing || at > dropAt));
  return ({ line, column }) => {
    const lines = sql.split('\n').slice(0, line + 1);
    const begun = Buffer.from(lines.pop() ?? '').subarray(0, column);
    const offset = [...lines.map((before) => `${before}\n`).join(''), ...begun.toString()].length;
    const at = statements.findLastIndex((statement) => statement.offset <= offset);
    const dropped = objects[at]?.drops ?? [];
    return dropped.length > 0 && dropped.every((name) => isMade(name, at) && !isCommitted.has(name));
  };
}

/** Lines begin at 0, and columns count bytes. */
type Report = { rule_name: string; line: number; column: number; message: string; help: string | null };

async function runSquawk(sql: string): Promise<readonly Report[]> {
  const transaction = isWithoutTransaction(sql) ? ['--no-assume-in-transaction'] : [];
  const args = ['--config', join(migrationsFolder, 'squawk.toml'), ...transaction, '--reporter', 'json'];
  const child = spawn(process.execPath, [squawk, ...args, '--stdin-filepath', 'migration.sql']);
  // It may end before it has read all.
  child.stdin.on('error', () => undefined).end(sql);
  const [found, said, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  try {
    const reports = JSON.parse(found) as readonly Report[];
    if (code === (reports.length > 0 ? 1 : 0)) return reports;
  } catch {
    // It ended before its report did.
  }
  throw new StartupError(
    `squawk, which reads the migration, ended with ${code ?? signal} and no whole report. ${said}`.trim(),
  );
}

const squawk = createRequire(import.meta.url).resolve('squawk-cli/js/bin/squawk');
