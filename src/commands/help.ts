import { Command } from 'commander';
import { describeVariables } from '../variables.ts';

/** A command that has no further commands. */
export type PlainCommand = 'serve' | 'token' | 'dev' | 'worker' | 'migrate' | DevelopmentCommand;

/** `npm run db:commit` and its like; `schema` is `npm run schema:update`. */
export type DevelopmentCommand = 'status' | 'commit' | 'uncommit' | 'rehash' | 'reset' | 'schema';

/** A command of npm: how it is called, what it does, and a call that works as it stands, or with names of one's own. */
type CommandHelp = {
  readonly usage: string;
  readonly does: string;
  readonly example: string;
  /** Declares its arguments and options. */
  readonly takes?: (command: Command) => void;
};

/** Each command of `main.ts`, by its name there. */
export const commandHelps: Readonly<Record<PlainCommand | 'admin' | 'audit', CommandHelp>> = {
  serve: { usage: 'npm start', does: 'the service', example: 'PORT=4000 npm start' },
  token: {
    usage: 'npm run -s token [app|basic|external|EMAIL]',
    does: 'prints an access token of the demo, which runs',
    example: 'npm run -s token ada@demo.test',
    takes: (command) => command.argument('[whose]', "`app`, `basic`, `external` or a person's e-mail address", 'app'),
  },
  dev: {
    usage: 'npm run dev',
    does: 'the service, whose schema follows each save of migrations/current.sql',
    example: 'npm run dev',
  },
  worker: {
    usage: 'npm run worker',
    does: 'sends webhooks alone, for services with WEBHOOK_WORKER=false',
    example: 'npm run worker',
  },
  migrate: {
    usage: 'npm run db:migrate',
    does: 'migrates your own database, and creates missing roles',
    example:
      'DATABASE_URL=postgres://owner:…@host/graph AUTH_DATABASE_URL=postgres://server:…@host/graph npm run db:migrate',
  },
  status: {
    usage: 'npm run db:status',
    does: 'where migrations, database and golden files have drifted apart',
    example: 'npm run db:status',
  },
  commit: {
    usage: 'npm run db:commit -- "MESSAGE"',
    does: 'makes migrations/current.sql the next committed migration',
    example: 'npm run db:commit -- "add doors"',
    takes: (command) =>
      command.argument('[message]', 'what the migration does, in quotes; one that was uncommitted has its message'),
  },
  uncommit: {
    usage: 'npm run db:uncommit -- [FILE] [--database NAME]',
    does: 'takes the newest committed migration back to migrations/current.sql',
    example: 'npm run db:uncommit',
    takes: (command) =>
      command
        .argument('[file]', 'the migration, where two branches have met')
        .option('--database <name>', 'a database of your own, by its name'),
  },
  rehash: {
    usage: 'npm run db:rehash',
    does: 'rewrites the hashes of committed migrations that were edited in place and that no release has',
    example: 'npm run db:rehash',
  },
  reset: {
    usage: 'npm run db:reset -- [--erase NAME]',
    does: 'drops the database and starts over; NAME is a database of your own',
    example: 'npm run db:reset',
    takes: (command) => command.option('--erase <name>', 'a database of your own, by its name'),
  },
  schema: {
    usage: 'npm run schema:update',
    does: 'writes the golden files of the schema and of the database',
    example: 'npm run schema:update',
  },
  admin: {
    usage: 'npm run -s admin -- COMMAND',
    does: 'provisioning, secrets, people',
    example: 'npm run -s admin -- --help',
  },
  audit: {
    usage: 'npm run -s audit -- [COMMAND]',
    does: 'who may see and do what',
    example: 'npm run -s audit -- --help',
  },
};

/** The text of `npm start -- --help`: the commands and the environment variables. */
export function helpText(): string {
  const width = 2 + Math.max(...Object.values(commandHelps).map(({ usage }) => usage.length));
  const commands = Object.values(commandHelps).map(({ usage, does }) => usage.padEnd(width) + does);
  const variables = describeVariables().map(({ name, meaning, values, unset }) =>
    `  ${name.padEnd(34)} ${meaning}${values && ` [${values}]`}${unset && ` (${unset})`}`.replaceAll('`', ''),
  );
  return [
    ...commands,
    '',
    'After any of them, `-- --help` shows an example.',
    '',
    'Environment variables: meaning [values] (default)',
    ...variables,
    '',
    'An empty variable counts as unset. docs/configuration.md says more.',
  ].join('\n');
}

/**
 * Reads the arguments of a command.
 *
 * @returns its arguments in their order, and its options
 * @throws {CommanderError} for wrong arguments and for `--help`, after it has printed what is wrong, or the help
 */
export function readArguments(name: PlainCommand, args: readonly string[]) {
  const { usage, does, example, takes } = commandHelps[name];
  const command = new Command(name)
    .description(does)
    .configureHelp({ commandUsage: () => usage })
    .addHelpText('after', `\nExample:\n  ${example}`)
    .showHelpAfterError(`Usage: ${usage}`)
    .exitOverride();
  takes?.(command);
  command.parse(args, { from: 'user' });
  return { operands: command.processedArgs as (string | undefined)[], options: command.opts<Options>() };
}

/** Those of `db:uncommit` and `db:reset`. */
type Options = { readonly database?: string; readonly erase?: string };
