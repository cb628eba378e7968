import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasCode } from '../../errors/hasCode.ts';
import { StartupError } from '../../errors/startupError.ts';

/** Beside `src`, whatever the working directory is. */
export const migrationsFolder = fileURLToPath(new URL('../../../migrations', import.meta.url));

/**
 * The text of a migration's file, the same whichever editor or git wrote it: without a byte order mark, and with LF.
 * A hash covers this text, so that a file has one hash on every machine.
 *
 * @throws {StartupError} when it is not UTF-8
 */
export const readPlainText = async (file: string): Promise<string> => (await readBoth(file)).text;

/**
 * Works with a folder of migrations in which each file is plain text, for graphile-migrate, which reads the files itself.
 * That is the folder of the migrations, or a copy of it while the work lasts.
 */
export async function withPlainFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const current = await read('current.sql').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  const files = [...(await readCommittedFiles()), ...(current ? [current] : [])];
  if (files.every(({ isPlain }) => isPlain)) return work(migrationsFolder);
  const copy = await mkdtemp(join(tmpdir(), 'migrations-'));
  try {
    for (const { path, text } of files) {
      await mkdir(dirname(join(copy, path)), { recursive: true });
      await writeFile(join(copy, path), text);
    }
    return await work(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

type Plain = { readonly text: string; readonly isPlain: boolean };
type PlainFile = Plain & { readonly path: string };

/** Paths are those within the folder. */
async function readCommittedFiles(): Promise<PlainFile[]> {
  const names = (await readdir(join(migrationsFolder, 'committed'))).filter((name) => name.endsWith('.sql'));
  return Promise.all(names.map((name) => read(join('committed', name))));
}

const read = async (path: string): Promise<PlainFile> => ({ path, ...(await readBoth(join(migrationsFolder, path))) });

async function readBoth(file: string): Promise<Plain> {
  const bytes = await readFile(file).catch((error: unknown) => {
    if (!hasCode(error, 'EISDIR')) throw error;
    throw new StartupError(`${relative(process.cwd(), file)} is a folder; a file must be there.`);
  });
  const text = decode(bytes)?.replaceAll('\r\n', '\n');
  if (text === undefined)
    throw new StartupError(`${relative(process.cwd(), file)} is not text in UTF-8, perhaps UTF-16; save it as UTF-8.`);
  return { text, isPlain: Buffer.from(text).equals(bytes) };
}

/** Without the byte order mark. UTF-16 without one has zeros, which no text of PostgreSQL may have. */
function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
