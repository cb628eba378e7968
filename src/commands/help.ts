import { describeVariables } from '../variables.ts';

/** The text of `npm start -- --help`: the commands and the environment variables. */
export function helpText(): string {
  const variables = describeVariables().map(({ name, meaning, values, unset }) =>
    `  ${name.padEnd(34)} ${meaning}${values && ` [${values}]`}${unset && ` (${unset})`}`.replaceAll('`', ''),
  );
  return `${commands}\n${variables.join('\n')}\n\nAn empty variable counts as unset. docs/configuration.md says more.`;
}

const commands = `npm start                    the service
npm run dev                  the service, whose schema follows each save of migrations/current.sql
npm run worker               sends webhooks alone, for services with WEBHOOK_WORKER=false
npm run db:migrate           migrates your own database
npm run -s admin -- --help   provisioning, secrets, people
npm run -s audit -- --help   who may see and do what

Environment variables: meaning [values] (default)`;
