import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { isWithoutTransaction } from '../../database/migrations/graphileMigrate.ts';
import { migrationsFolder } from '../../database/migrations/plainText.ts';

/** An unsafe statement of a migration, found by squawk. */
export type Finding = { readonly rule: string; readonly line: number; readonly message: string };

/**
 * Lints a migration (`migrations/squawk.toml`): long locks, rewrites of tables, broken clients.
 * `-- squawk-ignore <rule>` above a statement accepts it after review.
 */
export async function lintMigration(sql: string): Promise<Finding[]> {
  const transaction = isWithoutTransaction(sql) ? ['--no-assume-in-transaction'] : [];
  const args = ['--config', join(migrationsFolder, 'squawk.toml'), ...transaction, '--reporter', 'json'];
  const child = spawn(process.execPath, [squawk, ...args, '--stdin-filepath', 'migration.sql'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(sql);
  const found = (await json(child.stdout)) as readonly Report[];
  const lines = sql.split('\n');
  return found
    .map(({ rule_name: rule, line, line_end: end, message, help }) => ({
      rule,
      line: line + 1,
      message: help ? `${message} ${help}` : message,
      statement: lines.slice(line, end + 1).join('\n'),
    }))
    .filter(({ rule, statement }) => rule !== 'ban-drop-table' || !makesAnew(sql, statement))
    .map(({ statement: _, ...finding }) => finding);
}

type Report = { rule_name: string; line: number; line_end: number; message: string; help: string | null };

/**
 * Whether a migration creates the tables that it drops.
 * It may run twice while it is written, so it first drops them, still empty.
 */
function makesAnew(sql: string, statement: string): boolean {
  const [, names = ''] = /drop\s+table\s+if\s+exists\s+([^;]+)/i.exec(statement) ?? [];
  const dropped = names.replace(/\bcascade\b|\brestrict\b/gi, '').split(',');
  const patterns = dropped.map((name) => name.trim().replace(/\W/g, '\\$&'));
  return patterns.every((name) => new RegExp(`create\\s+table\\s+${name}\\s*\\(`, 'i').test(sql));
}

const squawk = createRequire(import.meta.url).resolve('squawk-cli/js/bin/squawk');
