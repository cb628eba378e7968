import type { Config } from '../../config.ts';
import { createLog } from '../../log.ts';

export type DevelopmentCommand = 'commit' | 'uncommit' | 'rehash' | 'reset' | 'status' | 'schema';

/**
 * `npm run db:commit`, `db:uncommit`, `db:rehash`, `db:reset`, `db:status`, `schema:update`.
 * Reports to `print`.
 *
 * @returns the exit code: 1 when `status` has found a difference
 * @throws {StartupError} when it cannot be done
 */
export async function runDevelopmentCommand(
  command: DevelopmentCommand,
  args: readonly string[],
  config: Config,
  print: (line: string) => void,
): Promise<number> {
  // Results are printed; only failures on the way are logged.
  const log = createLog('warn');
  if (command === 'status') {
    const { status } = await import('./status.ts');
    const differences = await status(config, log);
    for (const line of differences.length > 0 ? differences : ['Migrations, database and golden files agree.'])
      print(line);
    return differences.length > 0 ? 1 : 0;
  }
  const run = await load[command]();
  for (const line of await run(config, args, log)) print(line);
  return 0;
}

/** Each command is loaded alone, since some need PostGraphile, which loads for longer than the others work. */
const load = {
  commit: async () => (await import('./commit.ts')).commit,
  uncommit: async () => (await import('./uncommit.ts')).uncommit,
  rehash: async () => (await import('./rehash.ts')).rehash,
  reset: async () => (await import('./reset.ts')).reset,
  schema: async () => (await import('./updateSchema.ts')).updateSchema,
};
