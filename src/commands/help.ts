import { describeVariables } from '../variables.ts';

/** A command of npm: how it is called, what it does, and a call that works as it stands, or with names of one's own. */
export type CommandHelp = { readonly usage: string; readonly does: string; readonly example: string };

/** Each command of `main.ts`, by its name there. */
export const commandHelps: Readonly<Record<string, CommandHelp>> = {
  serve: { usage: 'npm start', does: 'the service', example: 'PORT=4000 npm start' },
  token: {
    usage: 'npm run -s token [app|basic|external|EMAIL]',
    does: 'prints an access token of the demo, which runs',
    example: 'npm run -s token ada@demo.test',
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
    usage: 'npm run db:commit -- MESSAGE',
    does: 'makes migrations/current.sql the next committed migration',
    example: 'npm run db:commit -- "add doors"',
  },
  uncommit: {
    usage: 'npm run db:uncommit -- [FILE] [--database NAME]',
    does: 'takes the newest committed migration back to migrations/current.sql',
    example: 'npm run db:uncommit',
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
  },
  schema: {
    usage: 'npm run schema:update',
    does: 'writes the golden files of the schema and of each object of the database',
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

/** The text of `--help` after a command that has no further commands. */
export function commandHelpText({ usage, does, example }: CommandHelp): string {
  return `Usage: ${usage}\n\n${does}\n\nExample:\n  ${example}`;
}
