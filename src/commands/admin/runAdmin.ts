import { CommanderError } from 'commander';
import type { Config } from '../../config.ts';
import { DocumentError } from '../../provisioning/problem.ts';
import { createAdminProgram } from './createAdminProgram.ts';

/**
 * `npm run admin -- <args>`
 *
 * @returns the exit code
 * @throws {ConfigError | StartupError} and whatever else a command fails with
 */
export async function runAdmin(args: readonly string[], loadConfig: () => Config): Promise<number> {
  try {
    await createAdminProgram(loadConfig).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      // It has said everything already. `--help` comes this way, too.
      return error.exitCode === 0 ? 0 : wrongUsage;
    }
    if (!(error instanceof DocumentError)) throw error;
    process.stderr.write(`${error.problems.join('\n')}\nNothing was changed: ${counted(error.problems.length)}.\n`);
    return 1;
  }
}

/** `EX_USAGE` of sysexits.h. */
const wrongUsage = 64;

const counted = (problems: number) => (problems === 1 ? 'there is a problem' : `there are ${problems} problems`);
