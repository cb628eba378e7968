import { createInterface } from 'node:readline/promises';
import { StartupError } from '../../errors/startupError.ts';

/**
 * The first line of standard input: everybody on the machine can see the command line.
 *
 * @param what is asked for, when a person is there to be asked
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
