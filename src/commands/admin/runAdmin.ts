import { Command } from 'commander';
import type { Config } from '../../config.ts';
import { createSecrets } from '../../crypto/secrets.ts';
import { StartupError } from '../../errors/errors.ts';
import { purgeExpired } from '../../oauth/purge.ts';
import { applyDocument } from '../../provisioning/applyDocument.ts';
import { documentJsonSchema } from '../../provisioning/document.ts';
import { requireSecretKeyOf } from '../../service/openConnections.ts';
import { addExamples } from '../addExamples.ts';
import { createProgress } from '../progress.ts';
import { runProgram } from '../runProgram.ts';
import { addApplicationCommands } from './applicationCommands.ts';
import { addMoveCommand } from './moveOrganization/moveCommand.ts';
import { printDatabaseUrl } from './printDatabaseUrl.ts';
import { readJson } from './readJson.ts';
import { reEncrypt } from './reEncrypt.ts';
import { takeCharge } from './takeCharge.ts';
import { addUserCommands } from './userCommands.ts';
import { type Run, type RunWithInput, withOwner } from './withOwner.ts';

/**
 * `npm run admin -- <args>`
 *
 * @returns the exit code
 * @throws {ConfigError | StartupError} and whatever else a command fails with
 */
export const runAdmin = (args: readonly string[], loadConfig: () => Config): Promise<number> =>
  runProgram(createAdminProgram(loadConfig), args);

/**
 * The admin command line. Results go to stdout, everything else to stderr; failures are thrown.
 *
 * @param loadConfig is called by a command only, so that `--help` works without a configuration
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the commands are declared in the order in which `--help` lists them.
export function createAdminProgram(loadConfig: () => Config): Command {
  const runWithInput: RunWithInput = async (read, work) => {
    const config = loadConfig();
    const input = await read();
    print(await withOwner(config, (context) => work(context, input)));
  };
  const run: Run = (work) => runWithInput(async () => undefined, work);
  const program = new Command('admin')
    .description('Administers the database of the service, whether the service runs or not.')
    .usage('<command> [arguments]')
    .exitOverride()
    .helpCommand(false)
    .showHelpAfterError('`npm run -s admin -- --help` lists the commands.')
    .addHelpText('after', `\n${afterHelp}`);

  program.commandsGroup('Everything at once:');
  program
    .command('apply')
    .description('makes organizations, applications, units, users and cards what a JSON file says; deletes nothing')
    .argument('[file]', 'the JSON file; - reads standard input')
    .option('--schema', 'prints the JSON Schema of such a file, and applies nothing')
    .action(async (file: string | undefined, { schema }: { schema?: boolean }, command: Command) => {
      if (schema) return print(documentJsonSchema());
      if (file === undefined) return command.error("error: missing required argument 'file'");
      const { report, end } = createProgress();
      await runWithInput(
        () => readJson(file),
        async ({ owner, keys, passwords }, source) => {
          await requireSecretKeyOf(owner, keys);
          return applyDocument(owner, source, { secrets: createSecrets(keys), passwords, report }).finally(end);
        },
      );
    });
  addApplicationCommands(program, run);
  addUserCommands(program, run, runWithInput);

  program.commandsGroup('Operation:');
  program
    .command('re-encrypt')
    .description(
      'seals under SECRET_KEY what is sealed under SECRET_KEY_PREVIOUS: external authentication tokens, secrets of webhooks',
    )
    .addHelpText(
      'after',
      `
To change SECRET_KEY: restart every server with the new SECRET_KEY and the old one as SECRET_KEY_PREVIOUS, run this with
the same two, and drop SECRET_KEY_PREVIOUS a day later. It may be interrupted and run again, while the service runs.
If there are several servers, first restart each with the old SECRET_KEY and the new one as SECRET_KEY_PREVIOUS
(docs/operating.md, "Leaked credentials").
Exit code 1 when some could not be moved; the ids of their users and webhooks are in the result.`,
    )
    .option(
      '--lost-key',
      'there is no key before: the service starts with SECRET_KEY, and what does not open is set again by hand',
    )
    .action(async ({ lostKey }: { lostKey?: boolean }) => {
      const outcome = await withOwner(loadConfig(), ({ owner, keys }) => reEncrypt(owner, keys, lostKey));
      print(outcome);
      const failed = outcome.failed.length;
      if (failed > 0)
        throw new StartupError(`${failed} tokens or secrets open under neither key, or are another user's already.`);
    });
  program
    .command('purge')
    .description(
      'deletes expired tokens, codes, sessions and counts, and grants without a token; the server does it hourly',
    )
    .action(() =>
      run(async ({ owner }) => {
        const purged = await purgeExpired((query) => owner.query(query));
        if (!purged) throw new StartupError('Another process is purging right now.');
        return purged;
      }),
    );
  program
    .command('take-charge')
    .description('has the webhooks sent from this database, which is a copy of one that sends no more')
    .action(() => run(({ owner }) => takeCharge(owner)));
  addMoveCommand(program, run);
  program
    .command('database-url')
    .description("prints the owner's connection URL, for psql and the like")
    .action(() => printDatabaseUrl(loadConfig()));

  addExamples(program, 'admin', examples);
  return program;
}

/** The arguments of an example for each command. */
export const examples: Readonly<Record<string, string>> = {
  apply: 'apply organizations.json',
  'list-applications': 'list-applications --organization Demo',
  'create-application':
    'create-application --organization Demo --name "Door App" --client-id door-app --public --redirect-uri https://doors.example.com/callback',
  'disable-application': 'disable-application demo-external',
  'enable-application': 'enable-application demo-external',
  'rotate-secret': 'rotate-secret demo-backend',
  'retire-secret': 'retire-secret demo-backend',
  'end-application-tokens': 'end-application-tokens demo-mobile',
  'set-password': 'set-password --organization Demo --email grace@demo.test < password.txt',
  'disable-user': 'disable-user --organization Demo --external-identifier konrad',
  'enable-user': 'enable-user --organization Demo --external-identifier konrad',
  'end-user-tokens': 'end-user-tokens --organization Demo --email ada@demo.test',
  're-encrypt': 're-encrypt',
  purge: 'purge',
  'move-organization': 'move-organization Demo --to postgres://postgres@cell-2.example.com/graph',
  'take-charge': 'take-charge',
  'database-url': 'database-url',
};

const print = (result: unknown) => void process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);

const afterHelp = `Results are printed on stdout, everything else on stderr.
Exit code: 0 done, 1 failed, 64 wrong usage, 78 wrong configuration.`;
