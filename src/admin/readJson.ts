import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { StartupError } from '../startupError.ts';

/**
 * The JSON value in a file; `-` is standard input.
 *
 * @throws {StartupError} when it cannot be read or is not JSON in UTF-8; says where, but quotes nothing, since the file
 * holds passwords
 */
export async function readJson(file: string): Promise<unknown> {
  const name = file === '-' ? 'Standard input' : file;
  const bytes = await read(file);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new StartupError(`${name} is not text in UTF-8.`);
  }
  if (text.trim() === '') throw new StartupError(`${name} is empty; it must hold a JSON object with "organizations".`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StartupError(`${name} is not JSON${placeOf(error, text)}.`);
  }
}

async function read(file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    throw new StartupError(`Cannot read ${file}.`, { cause: error });
  }
}

/** The parser's own message quotes what is around the place. */
function placeOf(error: unknown, text: string): string {
  const position = /at position (\d+)/.exec(String(error))?.[1];
  if (position === undefined) return ': it ends too early or begins with something else';
  const before = text.slice(0, Number(position)).split('\n');
  return `: see line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
