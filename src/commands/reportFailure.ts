import { ConfigError } from '../config.ts';
import { StartupError } from '../errors/startupError.ts';
import { createLog } from '../log.ts';
import { WorkerFailed } from '../workers/followWorker.ts';

/**
 * Prints on stderr why a command has failed; an unexpected failure is logged with its stack.
 *
 * @returns the exit code
 */
export function reportFailure(error: unknown): number {
  if (error instanceof WorkerFailed) return error.exitCode;
  if (error instanceof ConfigError || error instanceof StartupError) {
    const reason = error.cause instanceof Error ? `\n${error.cause.message}` : '';
    process.stderr.write(`${error.message}${reason}\n`);
    return error instanceof ConfigError ? 78 : 1;
  }
  createLog('fatal').fatal({ error }, 'unexpected failure');
  return 1;
}
