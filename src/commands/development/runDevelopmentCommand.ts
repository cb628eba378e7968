import type { Config } from '../../config.ts';
import { createLog } from '../../log.ts';
import { commit } from './commit.ts';
import { rehash } from './rehash.ts';
import { reset } from './reset.ts';
import { status } from './status.ts';
import { uncommit } from './uncommit.ts';
import { updateSchema } from './updateSchema.ts';

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
    const differences = await status(config, log);
    for (const line of differences.length > 0 ? differences : ['Migrations, database and golden files agree.'])
      print(line);
    return differences.length > 0 ? 1 : 0;
  }
  const lines = await { commit, uncommit, rehash, reset, schema: updateSchema }[command](config, args, log);
  for (const line of lines) print(line);
  return 0;
}
