import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { buffer } from 'node:stream/consumers';
import { StartupError } from '../../errors/errors.ts';

/**
 * The first line of standard input, since every user of the machine can see the command line.
 *
 * @param what names the value in a prompt, if a person is at the terminal
 * @throws {StartupError} when there is none
 */
export async function readLine(what: string): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write(`Type the ${what}, then Enter: `);
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) return line;
  } finally {
    lines.close();
  }
  throw new StartupError(`The ${what} is read from standard input, which is empty.`);
}

/**
 * The JSON value in a file; `-` is standard input.
 *
 * @throws {StartupError} when it cannot be read or is not JSON in UTF-8; the message has the place, but quotes nothing, since the file
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
    throw new StartupError(`${name} is not JSON${placeOfMistake(error)}.`);
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

/** The parser's message without its quotations: the position, or else the character. */
function placeOfMistake(error: unknown): string {
  const message = String(error);
  const place = /\(line (\d+) column (\d+)\)/.exec(message);
  if (place) return `: see line ${place[1]}, column ${place[2]}`;
  const token = /Unexpected token '(.)'/u.exec(message)?.[1];
  return token === undefined ? ': it ends too early' : `: there is a ${JSON.stringify(token)} where none can be`;
}
