import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { olderBinaries } from './olderPostgres.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Runs the commands that a page of docs shows under a heading, as somebody who pastes them, but that the files which they
 * write are in `folder`. Fails with what was said when one of them does. A `PATH` of the environment comes first.
 *
 * @param cwd the folder of the service
 */
export async function follow(
  heading: string,
  folder: string,
  environment: Record<string, string>,
  page = 'upgrading',
  cwd = repository,
): Promise<void> {
  const guide = await readFile(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8');
  const section = guide.split(/^##+ /m).find((text) => text.startsWith(`${heading}\n`));
  const commands = /^```sh\n(?!# Not run by a test)([\s\S]*?)^```$/m.exec(section ?? '')?.[1];
  if (!commands) throw new Error(`docs/${page}.md has no commands under "${heading}"`);

  const written = /(?:\$PWD\/)?(graph\.dump|data-backup|owner-url|owner-pgpass)/g;
  const elsewhere = commands.replaceAll(written, (_, name: string) => join(folder, name));
  const path = [environment.PATH, olderBinaries, process.env.PATH].filter(Boolean).join(':');
  const env = { ...environment, PATH: path, HOME: process.env.HOME ?? '' };
  await promisify(execFile)('sh', ['-e', '-c', elsewhere], { cwd, env });
}
