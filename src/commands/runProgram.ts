import { type Command, CommanderError } from 'commander';
import { reportFailure } from './reportFailure.ts';

/**
 * Runs a program, whose mistakes in usage are thrown (`exitOverride`).
 *
 * @returns the exit code
 * @throws any error of a command
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return reportFailure(error);
  }
}
