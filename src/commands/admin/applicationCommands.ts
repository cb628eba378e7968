import { type Command, Option } from 'commander';
import type { Pool } from 'pg';
import { mobileAppGrants } from '../../oauth/grants/grants.ts';
import { defaultScopes, scopesInWords } from '../../token/scopes.ts';
import { retireSecret, rotateSecret } from './applicationSecrets.ts';
import { createApplication, endApplicationTokens, listApplications, setApplicationDisabled } from './applications.ts';
import type { Run } from './withOwner.ts';

/** The commands about applications, which are named by their client id. */
export function addApplicationCommands(program: Command, run: Run): void {
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
