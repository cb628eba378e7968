import { createInterface } from 'node:readline/promises';
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
