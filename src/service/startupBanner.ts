import { pages } from '../pages/pages.ts';
import type { DemoCredentials } from '../provisioning/demo.ts';

export type Started = {
  /** The specification's `{base_url}`. */
  url: string;
  /** Whether the pages beside the API are there. */
  explorers: boolean;
  /** Unset with a database of one's own. */
  embedded: { cluster: string; demo: DemoCredentials } | undefined;
};

/** The startup banner on stdout: where everything is and how to try it. */
export function startupBanner({ url, explorers, embedded }: Started): string[] {
  return [
    `Graph Query Service: ${url}`,
    ...(explorers ? pages.map(({ title, path }) => `${title}: ${url}${path}`) : []),
    ...(embedded ? embeddedLines(url, embedded) : []),
  ];
}

function embeddedLines(url: string, { cluster, demo }: NonNullable<Started['embedded']>): string[] {
  const credentials = [
    `client_id demo-backend, client_secret ${demo.clientSecret}`,
    `ada@demo.test, password ${demo.password}, client_id demo-mobile`,
    `external_authentication_token ${demo.externalAuthenticationToken}, client_id demo-external`,
  ];
  return [
    `Database: an embedded PostgreSQL in ${cluster}, migrated, with the organization Demo`,
    `Demo credentials: ${credentials.join('; ')}`,
    'Try it:',
    curl(url, demo.clientSecret),
  ];
}

/** Gets an access token and asks with it; needs nothing but curl and sed. */
function curl(url: string, clientSecret: string): string {
  const form = `grant_type=client_credentials&client_id=demo-backend&client_secret=${clientSecret}&scope=app`;
  const token = `$(curl -s ${url}/oauth/token -d '${form}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
  const query = '{"query":"{ app { name users(first: 3) { nodes { id fullName } } } }","variables":{}}';
  return `curl -s ${url}/graphql -H "Authorization: Bearer ${token}" -H 'Content-Type: application/json' -d '${query}'`;
}
