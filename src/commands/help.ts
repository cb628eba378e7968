import { describeVariables, type Variable } from '../config.ts';

/** The text of `npm start -- --help`: the commands, and each environment variable by group. */
export function helpText(): string {
  const variables = describeVariables().map(([group, list]) => [group, ...list.map(lineOf)].join('\n'));
  return [commands, ...variables, 'An empty variable counts as unset. docs/configuration.md says more.'].join('\n\n');
}

const commands = `npm start                    the service
npm run dev                  the service, whose schema follows each save of migrations/current.sql
npm run db:migrate           migrates your own database
npm run -s admin -- --help   provisioning, secrets, people
npm run -s audit -- --help   who may see and do what

Environment variables: meaning [values] (default)`;

function lineOf({ name, meaning, values, unset }: Variable): string {
  return `  ${name.padEnd(34)} ${meaning}${values && ` [${values}]`}${unset && ` (${unset})`}`.replaceAll('`', '');
}
