import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { asAdministrator, openTestDatabase } from '../../../../test/support/database.ts';
import { runCommand } from '../../src/command/runCommand.ts';

/** A schema as public projects have them, the file of its platform before it, and the arguments that it needs. */
export const foreign = {
  chat: { files: ['platform.sql', 'chat.sql'], preset: 'supabase' },
  starter: { files: ['starter.sql'], preset: 'postgraphile' },
  shop: { files: ['shop.sql'], preset: 'postgrest' },
} as const;

/** A database with one of these schemas. Roles are the cluster's, and each worker has a cluster of its own. */
export async function openForeign(name: keyof typeof foreign) {
  const database = `foreign_${randomUUID().replaceAll('-', '')}`;
  await asAdministrator(`create database ${database} template template0`);
  const opened = openTestDatabase(database);
  const texts = await Promise.all(foreign[name].files.map((file) => readFile(new URL(file, import.meta.url), 'utf8')));
  for (const text of texts) await opened.owner.query(text);
  const roles = texts.flatMap((text) => [...text.matchAll(/^create role (\w+)/gm)].map(([, role]) => role));

  return {
    url: opened.ownerUrl,
    owner: opened.owner,
    /** Runs the command against it. */
    run: (...args: string[]) => run(...args, '--preset', foreign[name].preset, opened.ownerUrl),
    async stop() {
      await opened.drop();
      for (const role of roles.toReversed()) await asAdministrator(`drop role ${role}`);
    },
  };
}

/** The output of the command, and its exit code. */
export async function run(...args: string[]): Promise<{ code: number; out: string; error: string }> {
  const printed = { out: '', error: '' };
  const code = await runCommand(args, {
    out: (text) => {
      printed.out += text;
    },
    error: (text) => {
      printed.error += text;
    },
  });
  return { code, ...printed };
}
