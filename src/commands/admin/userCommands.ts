import { type Command, Option } from 'commander';
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
}
