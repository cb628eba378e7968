import { pages } from '../pages/pages.ts';
import type { DemoCredentials } from '../provisioning/demo.ts';

export type Started = {
  /** The specification's `{base_url}`. */
  url: string;
  /** Whether the pages beside the API are served. */
  explorers: boolean;
  /** Unset with an external database. */
  embedded: { cluster: string; demo: DemoCredentials } | undefined;
};

/** The startup banner on stdout: the addresses and how to try the service. */
export function startupBanner({ url, explorers, embedded }: Started): string[] {
  return [
    `Graph Query Service: ${url}`,
    ...(explorers ? pages.map(({ title, path }) => `${title}: ${url}${path}`) : []),
    ...(embedded ? embeddedLines(url, embedded) : []),
  ];
}

/** A line for each kind of credential, and a command that gets a token with it and sends a query. */
function embeddedLines(url: string, { cluster, demo }: NonNullable<Started['embedded']>): string[] {
  const { clientSecret: client_secret, password, externalAuthenticationToken: external_authentication_token } = demo;
  const app = '{ app { name users(first: 3) { nodes { id fullName } } } }';
  const viewer = '{ viewer { fullName accessibleUnits(first: 3) { nodes { id name } } } }';
  const ofApp = { grant_type: 'client_credentials', scope: 'app' };
  const ofUser = { grant_type: 'password', scope: 'me' };
  const kinds: [string, Record<string, string>, Record<string, string>, string][] = [
    ['an application', { client_id: 'demo-backend', client_secret }, ofApp, app],
    ['a user', { username: 'ada@demo.test', password, client_id: 'demo-mobile' }, ofUser, viewer],
    ["a user's other system", { external_authentication_token, client_id: 'demo-external' }, ofUser, viewer],
  ];
  return [
    `Database: an embedded PostgreSQL in ${cluster}, migrated, with the organization Demo`,
    ...kinds.flatMap(([whose, credentials, grant, query]) => [
      `Demo credentials of ${whose}: ${Object.entries(credentials)
        .map((pair) => pair.join(' '))
        .join(', ')}`,
      curl(url, { ...grant, ...credentials }, query),
    ]),
  ];
}

/** A command that gets an access token and sends a query with it; it needs only curl and sed. */
function curl(url: string, form: Record<string, string>, query: string): string {
  const body = new URLSearchParams(form);
  const token = `$(curl -s ${url}/oauth/token -d '${body}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
  const json = JSON.stringify({ query, variables: {} });
  return `curl -s ${url}/graphql -H "Authorization: Bearer ${token}" -H 'Content-Type: application/json' -d '${json}'`;
}
