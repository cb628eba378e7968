import { type Command, Option } from 'commander';
import type { Pool } from 'pg';
import type { Config } from '../../config.ts';
import { createSecrets } from '../../crypto/secrets.ts';
import { StartupError } from '../../errors/errors.ts';
import { mobileAppGrants } from '../../oauth/grants/grants.ts';
import { purgeExpired } from '../../oauth/purge.ts';
import { applyDocument } from '../../provisioning/applyDocument.ts';
import { documentJsonSchema } from '../../provisioning/document.ts';
import { requireSecretKeyOf } from '../../service/openConnections.ts';
import { defaultScopes, scopesInWords } from '../../token/scopes.ts';
import { addExamples, createProgram, runProgram } from '../commandLine.ts';
import { createProgress } from '../progress.ts';
import { retireSecret, rotateSecret } from './applicationSecrets.ts';
import { createApplication, endApplicationTokens, listApplications, setApplicationDisabled } from './applications.ts';
import type { UserName } from './findUser.ts';
import { type MoveOptions, moveOrganization } from './moveOrganization/moveOrganization.ts';
import { printDatabaseUrl } from './printDatabaseUrl.ts';
import { reEncrypt } from './reEncrypt.ts';
import { readJson, readLine } from './standardInput.ts';
import { takeCharge } from './takeCharge.ts';
import { endUserTokens, setPassword, setUserDisabled } from './users.ts';
import { type Run, type RunWithInput, withOwner } from './withOwner.ts';

/**
 * `npm run admin -- <args>`
 *
 * @returns the exit code
 * @throws {ConfigError | StartupError} and any other error of a command
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
  const description = 'Administers the database of the service, whether the service runs or not.';
  const program = createProgram('admin', description, '<command> [arguments]', afterHelp);

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

  return addExamples(program, examples);
}

/** The commands about applications, which are named by their client id. */
function addApplicationCommands(program: Command, run: Run): void {
  program.commandsGroup('Applications:');
  program
    .command('list-applications')
    .description('lists the applications, disabled ones too, and when their valid secrets were made')
    .option('--organization <name>', 'of this organization alone')
    .action(({ organization }: { organization?: string }) => run(({ owner }) => listApplications(owner, organization)));

  program
    .command('create-application')
    .description('adds an application to an organization; prints the secret of a confidential one, once')
    .requiredOption('--organization <name>', 'the organization, which exists')
    .requiredOption('--name <name>', 'the name that people read')
    .requiredOption('--client-id <id>', 'the client id, unique on this server')
    .option('--public', 'it cannot keep a secret: a browser or an app on a phone', false)
    .option(
      '--scope <scope...>',
      `${scopesInWords} (default: ${defaultScopes.application}, or ${defaultScopes.user} with --public)`,
    )
    .option('--redirect-uri <uri...>', 'where the authorization endpoint may send people')
    .addOption(new Option('--mobile-app <type>', 'how the users of its mobile app sign in').choices(mobileAppGrants))
    .action((options: CreateOptions) =>
      run(({ owner }) => createApplication(owner, options.organization, toSource(options))),
    );

  const aboutOne = (name: string, description: string, work: (owner: Pool, clientId: string) => Promise<unknown>) =>
    program
      .command(name)
      .description(description)
      .argument('<client-id>', 'the client id of the application')
      .action((clientId: string) => run(({ owner }) => work(owner, clientId)));
  aboutOne(
    'disable-application',
    'refuses an application and its tokens, from the next request on',
    (owner, clientId) => setApplicationDisabled(owner, clientId, true),
  );
  aboutOne('enable-application', 'ends that; tokens that have not expired work again', (owner, clientId) =>
    setApplicationDisabled(owner, clientId, false),
  );
  const rotation = 'adds a new secret and prints it, once; the present one stays valid until it is retired';
  aboutOne('rotate-secret', rotation, rotateSecret);
  aboutOne('retire-secret', 'ends the older one of two secrets', retireSecret);
  const end = 'ends every token that was issued to an application, from the next request on';
  aboutOne('end-application-tokens', end, endApplicationTokens);
}

type CreateOptions = {
  organization: string;
  name: string;
  clientId: string;
  public: boolean;
  scope?: string[];
  redirectUri?: string[];
  mobileApp?: string;
};

/** In the form of a provisioning document. */
function toSource(options: CreateOptions) {
  return {
    name: options.name,
    clientId: options.clientId,
    confidential: !options.public,
    scopes: options.scope ?? [defaultScopes[options.public ? 'user' : 'application']],
    redirectUris: options.redirectUri,
    mobileApp: options.mobileApp && { authenticationType: options.mobileApp },
  };
}

/** The commands about people, who are named by organization and external identifier or e-mail address. */
function addUserCommands(program: Command, run: Run, runWithInput: RunWithInput): void {
  const aboutUser = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .requiredOption('--organization <name>', 'the organization of the user')
      .addOption(new Option('--external-identifier <identifier>', 'which user').conflicts('email'))
      .option('--email <address>', 'which user')
      .hook('preAction', (command) => {
        const { externalIdentifier, email } = command.opts<UserName>();
        if ((externalIdentifier ?? email) === undefined) {
          command.error("error: name the user by '--external-identifier <identifier>' or '--email <address>'");
        }
      });

  program.commandsGroup('Users:');
  aboutUser(
    'set-password',
    'sets the password that is read from standard input; signs the user out of browsers',
  ).action((user: UserName) =>
    runWithInput(
      () => readLine('password'),
      ({ owner, passwords }, password) => setPassword(owner, passwords, user, password),
    ),
  );
  aboutUser('disable-user', 'refuses a user and all tokens, from the next request on').action((user: UserName) =>
    run(({ owner }) => setUserDisabled(owner, user, true)),
  );
  aboutUser('enable-user', 'ends that; tokens that have not expired work again').action((user: UserName) =>
    run(({ owner }) => setUserDisabled(owner, user, false)),
  );
  aboutUser('end-user-tokens', 'ends every token and session of a user, from the next request on').action(
    (user: UserName) => run(({ owner }) => endUserTokens(owner, user)),
  );
}

/** Declares `move-organization`. */
function addMoveCommand(program: Command, run: Run): void {
  program
    .command('move-organization')
    .description(
      'moves an organization to another cell: copies it while it works, then cuts over (docs/outgrowing-one-machine.md)',
    )
    .argument('<name>', 'the name of the organization')
    .requiredOption('--to <url>', "a superuser's URL of the other cell's database")
    .option('--from <url>', 'by which PostgreSQL there reaches this database; DATABASE_URL unless given')
    .option('--cut-over', 'stops the organization for a moment, compares both cells, and has the other one serve it')
    .option('--drop', 'deletes here what has moved; its history stays')
    .option('--abort', 'leaves both cells as they were before the move, until the cut-over is over')
    .action(async (name: string, options: MoveOptions, command: Command) => {
      if ([options.cutOver, options.drop, options.abort].filter(Boolean).length > 1)
        return command.error('error: one of --cut-over, --drop and --abort at a time');
      await run(({ ownerUrl, keys: [key] }) => moveOrganization({ ownerUrl, key }, name, options, showOnTerminal()));
    });
}

/** Shows the progress to a person, at most once a second; a script reads the result alone. */
function showOnTerminal(): (message: string) => void {
  let last = 0;
  return (message) => {
    if (!process.stderr.isTTY || performance.now() - last < 1000) return;
    last = performance.now();
    process.stderr.write(`${message}\n`);
  };
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
