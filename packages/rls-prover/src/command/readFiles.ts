import { readFile } from 'node:fs/promises';
import { loadModule, parseSync } from 'libpg-query';
import type { Acceptance, Command, Invariant } from '../interface.ts';
import type { Digested } from '../proveChanged.ts';
import { UsageError } from './usage.ts';

/** Reads the acceptances from a JSON file: a list of judgements' goals and hashes, each with a reason. @throws {UsageError} */
export async function readAcceptances(path: string): Promise<Acceptance[]> {
  const listed = await readJson(path);
  if (!Array.isArray(listed)) throw new UsageError(`${path} has to be a list in JSON`);
  return listed.map((one, index) => {
    const missing = ['invariant', 'relation', 'command', 'role', 'reason'].filter(
      (name) => typeof one?.[name] !== 'string',
    );
    if (missing.length > 0) throw new UsageError(`${path}: entry ${index + 1} needs ${missing.join(', ')}`);
    const { invariant, relation, command, role, reason, hash = null } = one;
    return { invariant, relation, command, role, reason, hash };
  });
}

/** The judgements of an earlier run, as `--format json` prints them. @throws {UsageError} */
export async function readEarlier(path: string): Promise<Digested[]> {
  const { judgements } = (await readJson(path)) ?? {};
  if (!Array.isArray(judgements)) throw new UsageError(`${path} is not what \`--format json\` prints`);
  return judgements;
}

/**
 * Invariants, written as policies: `create policy tenant on app.notes for update to member using (old.tenant_id = …)`.
 * `on "*"` states one for every table and view. @throws {UsageError}
 */
export async function readInvariants(path: string): Promise<Invariant[]> {
  await loadModule();
  const text = await read(path);
  const bytes = Buffer.from(text);
  try {
    return (parseSync(text).stmts ?? []).map(({ stmt, stmt_location: from = 0, stmt_len: length = 0 }) => {
      const own = bytes.subarray(from, length === 0 ? bytes.length : from + length).toString();
      if (!stmt || !('CreatePolicyStmt' in stmt))
        throw new UsageError(`${path} has a statement that is no \`create policy\``);
      const {
        policy_name: name = '',
        table,
        cmd_name: command = 'all',
        roles = [],
        permissive,
        with_check,
      } = stmt.CreatePolicyStmt;
      const [, expression] = /\busing\s*\(([\s\S]*)\)\s*$/i.exec(own.trim()) ?? [];
      if (!expression || with_check || !permissive)
        throw new UsageError(`${path}: ${name} needs its expression in \`using (…)\`, and nothing after it`);
      const relation = table?.relname === '*' ? '*' : `${table?.schemaname}.${table?.relname}`;
      if (relation.startsWith('undefined.')) throw new UsageError(`${path}: ${name} needs the schema of its table`);
      const named = roles.flatMap((role) =>
        'RoleSpec' in role && role.RoleSpec.rolename ? [role.RoleSpec.rolename] : [],
      );
      return {
        ...{ name, relation, expression },
        ...(command === 'all' ? {} : { commands: [command as Command] }),
        ...(named.length > 0 ? { roles: named } : {}),
      };
    });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
}

async function readJson(path: string) {
  try {
    return JSON.parse(await read(path));
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${path} is no JSON: ${error.message}`);
    throw error;
  }
}

const read = (path: string) =>
  readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError(`${path} cannot be read: ${error.message}`);
  });
