import { type Command, CommanderError } from 'commander';

/**
 * Runs a program, whose mistakes in usage are thrown (`exitOverride`).
 *
 * @returns the exit code: 64, `EX_USAGE` of sysexits.h, for wrong usage
 * @throws any error of a command
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The program has printed everything already. `--help` ends this way, too.
    return error.exitCode === 0 ? 0 : 64;
  }
}
