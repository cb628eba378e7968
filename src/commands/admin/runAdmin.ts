import type { Config } from '../../config.ts';
import { runProgram } from '../runProgram.ts';
import { createAdminProgram } from './createAdminProgram.ts';

/**
 * `npm run admin -- <args>`
 *
 * @returns the exit code
 * @throws {ConfigError | StartupError} and whatever else a command fails with
 */
export const runAdmin = (args: readonly string[], loadConfig: () => Config): Promise<number> =>
  runProgram(createAdminProgram(loadConfig), args);
