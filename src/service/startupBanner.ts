import { styleText } from 'node:util';
import { pages } from '../pages/pages.ts';
import type { DemoCredentials } from '../provisioning/demo.ts';

export type Started = {
  /** The specification's `{base_url}`. */
  url: string;
  /** Whether the pages beside the API are served. */
  explorers: boolean;
  /** Unset with an external database. */
  embedded: { cluster: string; demo: DemoCredentials; issueToken(): Promise<string | null> } | undefined;
};

/** The startup banner on stdout: the addresses, the demo's credentials, and a command that asks it. */
export async function startupBanner({ url, explorers, embedded }: Started): Promise<string[]> {
  return [
    `Graph Query Service: ${url}`,
    ...(explorers ? pages.map(({ title, path }) => `${title}: ${url}${path}`) : []),
    ...(embedded ? embeddedLines(url, embedded, await embedded.issueToken()) : []),
  ];
}

/** A line for each kind of credential, and one command. */
function embeddedLines(
  url: string,
  { cluster, demo }: NonNullable<Started['embedded']>,
  token: string | null,
): string[] {
  const { clientSecret, password, externalAuthenticationToken } = demo;
  return [
    `Database: an embedded PostgreSQL in ${cluster}, migrated, with the organization Demo`,
    `Demo credentials of an application: client_id demo-backend, client_secret ${clientSecret}`,
    `Demo credentials of a user: username ada@demo.test, password ${password}, client_id demo-mobile`,
    `Demo credentials of a user's other system: external_authentication_token ${externalAuthenticationToken}, client_id demo-external`,
    ...(token === null ? [] : [curl(url, token)]),
  ];
}

/** A command that needs nothing but curl, from any folder. Its token is like that of `npm run -s token`. */
function curl(url: string, token: string): string {
  const json = JSON.stringify({ query: '{ app { name users(first: 3) { nodes { id fullName } } } }', variables: {} });
  return `curl -s ${url}/graphql -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${json}'`;
}

/** Colours what a person looks for. It has none unless stdout is a terminal, nor with `NO_COLOR`. */
export function inColour(lines: readonly string[]): string {
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: process.stdout });
  return lines
    .map((line) => {
      const [, label, value = ''] = /^([A-Z][^:]*: )(.*)$/.exec(line) ?? [];
      if (label === undefined) return style('green', line);
      return style('bold', label) + (value.startsWith('http') ? style('cyan', value) : value);
    })
    .join('\n');
}
