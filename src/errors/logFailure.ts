import type { Log } from '../log.ts';
import { describeFailure, explainFailure } from './explainFailure.ts';
import { StartupError } from './startupError.ts';

/**
 * Logs a failure after which the process goes on: its cause and remedy, and the stack at `debug` only.
 * A fault of the service has no other explanation than its stack.
 */
export function logFailure(
  log: Log,
  level: 'warn' | 'error',
  { error, ...fields }: { readonly error: unknown } & Readonly<Record<string, unknown>>,
  message: string,
): void {
  const isExplained = error instanceof StartupError || explainFailure(error) !== null;
  log[level]({ ...fields, ...(isExplained ? { cause: describeFailure(error) } : { error }) }, message);
  if (isExplained) log.debug({ error }, 'where that failed');
}
