import { Command } from 'commander';
import type { Config } from '../config.ts';
import { applyFile } from './applyFile.ts';
import { printDatabaseUrl } from './printDatabaseUrl.ts';

/**
 * The admin command line. Results go to stdout, everything else to stderr; what goes wrong is thrown.
 *
 * @param loadConfig is called by a command only, so that `--help` works without a configuration
 */
export function createAdminProgram(loadConfig: () => Config): Command {
  const program = new Command('admin')
    .description('Administers the database of the service, whether the service runs or not.')
    .usage('<command> [arguments]')
    .exitOverride()
    .showHelpAfterError('`npm run -s admin -- --help` lists the commands.')
    .addHelpText('after', `\n${afterHelp}`);

  program
    .command('apply')
    .description('makes organizations, applications, units, users and cards what a JSON file says; deletes nothing')
    .argument('<file>', 'the JSON file; - reads standard input')
    .action((file: string) => applyFile(file, loadConfig()));

  program
    .command('database-url')
    .description("prints the owner's connection URL, for psql and the like")
    .action(() => printDatabaseUrl(loadConfig()));

  return program;
}

const afterHelp = `Results are printed on stdout, everything else on stderr.
Exit code: 0 done, 1 failed and nothing was changed, 64 wrong usage, 78 wrong configuration.`;
