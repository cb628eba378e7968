import { type Command, Option } from 'commander';
import { assignCard, assignUnit, withdrawCard, withdrawUnit } from './access.ts';
import type { UserName } from './findUser.ts';
import { readLine } from './readLine.ts';
import { endUserTokens, setPassword, setUserDisabled } from './users.ts';
import type { Run, RunWithInput } from './withOwner.ts';

/** The commands about people, who are named by organization and external identifier or e-mail address. */
export function addUserCommands(program: Command, run: Run, runWithInput: RunWithInput): void {
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

  program.commandsGroup('Cards and units of a user:');
  aboutUser('assign-card', 'gives the user a card, or changes the one of the same type and name')
    .addOption(cardType())
    .requiredOption('--name <name>', 'the name of the card')
    .option('--nfc-identifier <hex>', '4, 7 or 10 bytes; of an NfcCard')
    .option('--proximity-uuid <uuid>', 'of a BeaconCard')
    .option('--major <number>', '0 to 65535; of a BeaconCard', Number)
    .option('--minor <number>', '0 to 65535; of a BeaconCard', Number)
    .action(({ organization, externalIdentifier, email, ...card }: UserName & CardOptions) =>
      run(({ owner }) => assignCard(owner, { organization, externalIdentifier, email }, card)),
    );
  aboutUser('withdraw-card', 'takes a card from the user')
    .addOption(cardType())
    .requiredOption('--name <name>', 'the name of the card')
    .action(({ type, name, ...user }: UserName & CardOptions) =>
      run(({ owner }) => withdrawCard(owner, user, { type, name })),
    );
  aboutUser('assign-unit', 'lets the user access a unit and everything below it')
    .requiredOption('--unit <identifier>', 'the external identifier of the unit')
    .action(({ unit, ...user }: UserName & { unit: string }) => run(({ owner }) => assignUnit(owner, user, unit)));
  aboutUser('withdraw-unit', 'ends that; access by way of a unit above stays')
    .requiredOption('--unit <identifier>', 'the external identifier of the unit')
    .action(({ unit, ...user }: UserName & { unit: string }) => run(({ owner }) => withdrawUnit(owner, user, unit)));
}

type CardOptions = { type: string; name: string };

const cardType = () =>
  new Option('--type <type>', 'the type of the card')
    .choices(['NfcCard', 'BeaconCard', 'IdentificationCode'])
    .makeOptionMandatory();
