import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';

/**
 * A fault that an oracle must find: a text of a source file or of a function in the database that is another one, or a policy that asks
 * for something else.
 */
export type PlantedFault = { readonly name: string } & (
  | { readonly file: string; readonly from: string; readonly to: string }
  | { readonly function: string; readonly from: string; readonly to: string }
  | { readonly policy: string; readonly table: string; readonly using: string }
);

/** Mutation testing (DeMillo, Lipton and Sayward, 1978): plants a fault, and returns what takes it back. */
export async function plantFault(fault: PlantedFault, root: string, owner: Pool): Promise<() => Promise<unknown>> {
  if ('policy' in fault) {
    const { policy, table } = fault;
    const using = async (expression: string) => owner.query(`alter policy ${policy} on ${table} using (${expression})`);
    const { rows } = await owner.query<{ qual: string }>(
      'select pg_get_expr(polqual, polrelid) as qual from pg_policy where polname = $1 and polrelid = $2::regclass',
      [policy, table],
    );
    const [{ qual } = { qual: '' }] = rows;
    await using(fault.using);
    return () => using(qual);
  }
  if ('function' in fault) {
    const { rows } = await owner.query<{ definition: string }>('select pg_get_functiondef($1::regproc) as definition', [
      fault.function,
    ]);
    const [{ definition } = { definition: '' }] = rows;
    await owner.query(replacedOnce(definition, fault, fault.function));
    return () => owner.query(definition);
  }
  const path = join(root, fault.file);
  const text = await readFile(path, 'utf8');
  await writeFile(path, replacedOnce(text, fault, fault.file));
  return () => writeFile(path, text);
}

function replacedOnce(text: string, { from, to }: { from: string; to: string }, where: string): string {
  if (text.split(from).length !== 2) throw new Error(`${where} has not once: ${from}`);
  return text.replace(from, () => to);
}
