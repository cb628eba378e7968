import type { Config } from '../../config.ts';
import { createLog, type Log } from '../../log.ts';
import { type DevelopmentCommand, readArguments } from '../help.ts';

/**
 * `npm run db:commit`, `db:uncommit`, `db:rehash`, `db:reset`, `db:status`, `schema:update`.
 * Reports to `print`.
 *
 * @param loadConfig is called when the arguments are right
 * @returns the exit code: 1 when `status` has found a difference
 * @throws {CommanderError} for wrong arguments, {StartupError} when it cannot be done
 */
export async function runDevelopmentCommand(
  command: DevelopmentCommand,
  args: readonly string[],
  loadConfig: () => Config,
  print: (line: string) => void,
): Promise<number> {
  const given = readArguments(command, args);
  // Results are printed; only failures on the way are logged.
  const lines = await run[command](loadConfig(), createLog('warn'), given);
  if (command !== 'status') return printed(lines, 0);
  return lines.length > 0 ? printed(lines, 1) : printed(['Migrations, database and golden files agree.'], 0);

  function printed(text: readonly string[], exitCode: number): number {
    for (const line of text) print(line);
    return exitCode;
  }
}

type Given = ReturnType<typeof readArguments>;

/** Each command is loaded alone, since some need PostGraphile, which loads for longer than the others work. */
const run: Record<DevelopmentCommand, (config: Config, log: Log, given: Given) => Promise<string[]>> = {
  commit: async (config, log, { operands: [message] }) => (await import('./commit.ts')).commit(config, message, log),
  uncommit: async (config, log, { operands: [file], options }) =>
    (await import('./uncommit.ts')).uncommit(config, { ...options, file }, log),
  rehash: async () => (await import('./rehash.ts')).rehash(),
  reset: async (config, log, { options }) => (await import('./reset.ts')).reset(config, options, log),
  schema: async (config, log) => (await import('./updateSchema.ts')).updateSchema(config, log),
  status: async (config, log) => (await import('./status.ts')).status(config, log),
};
