import { CommanderError } from 'commander';
import { ConfigError } from '../config.ts';
import { describeFailure, explainFailure, SchemaError, StartupError } from '../errors/errors.ts';
import { createLog } from '../log.ts';
import { WorkerFailed } from '../workers/followWorker.ts';

/**
 * Prints on stderr why a command has failed, and what to do.
 * The stack is logged at `debug` only.
 *
 * @param logLevel LOG_LEVEL, which may be wrong
 * @returns the exit code: 64 and 78 are `EX_USAGE` and `EX_CONFIG` of sysexits.h
 */
export function reportFailure(error: unknown, logLevel?: string): number {
  if (error instanceof WorkerFailed) return error.exitCode;
  // It has printed everything already. `--help` ends this way, too.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 64;
  process.stderr.write(`${failureText(error)}\n`);
  if (logLevel === 'debug' || logLevel === 'trace') createLog(logLevel).debug({ error }, 'the command failed');
  return error instanceof ConfigError ? 78 : 1;
}

function failureText(error: unknown): string {
  if (!(error instanceof ConfigError || error instanceof StartupError)) {
    if (explainFailure(error)) return describeFailure(error);
    return `This is a fault of the service: ${describeFailure(error)}. LOG_LEVEL=debug shows where; please report it.`;
  }
  const { message, cause } = error;
  // A schema's error has said all that its cause does.
  if (!(cause instanceof Error) || error instanceof SchemaError || cause instanceof SchemaError) return message;
  // Other messages may have the cause's.
  if (!message.includes(cause.message)) return `${message}\n${describeFailure(cause)}`;
  return [message, explainFailure(cause)?.remedy].filter(Boolean).join('\n');
}
