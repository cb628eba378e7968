import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { DatabaseConfig } from '../config.ts';
import { hasCode, StartupError } from '../errors/errors.ts';
import { type DemoEnvironment, demoEnvironmentFile } from '../service/demo.ts';

/**
 * Requests an access token of the demo at its token endpoint, as a client does. The service runs.
 *
 * @param whose `app` unless given, `basic`, `external`, or a person's e-mail address
 * @throws {StartupError} which says how else to get one
 */
export async function requestDemoToken(database: DatabaseConfig, whose = 'app'): Promise<string> {
  if (database.kind === 'own')
    throw new StartupError('Only the demo has these tokens; docs/oauth.md says how a client of yours gets one.');
  const environment = await readEnvironment(database.dataDir);
  const form = tokenRequest(whose, environment);
  if (!form) throw new StartupError(`npm run -s token [app|basic|external|EMAIL]: there is no ${whose}.`);
  const { BASE_URL: url } = environment;
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) }).catch(() => {
    throw new StartupError(`No service answers at ${url}; start it by npm start.`);
  });
  const { access_token, error_description } = (await response.json()) as Record<string, string | undefined>;
  if (access_token === undefined) throw new StartupError(`${url} refuses: ${error_description}`);
  return access_token;
}

function tokenRequest(whose: string, { CLIENT_SECRET, PASSWORD, EXTERNAL_TOKEN }: DemoEnvironment) {
  if (whose === 'app' || whose === 'basic')
    return { grant_type: 'client_credentials', scope: whose, client_id: 'demo-backend', client_secret: CLIENT_SECRET };
  const ofPerson = { grant_type: 'password', scope: 'me' };
  if (whose === 'external')
    return { ...ofPerson, client_id: 'demo-external', external_authentication_token: EXTERNAL_TOKEN };
  return whose.includes('@') ? { ...ofPerson, client_id: 'demo-mobile', username: whose, password: PASSWORD } : null;
}

async function readEnvironment(dataDir: string): Promise<DemoEnvironment> {
  const path = join(dataDir, demoEnvironmentFile);
  try {
    return parseEnv(await readFile(path, 'utf8')) as DemoEnvironment;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw new StartupError(`Cannot read ${path}.`, { cause: error });
    throw new StartupError(
      `${path} is not there: start the service by npm start, in this folder or with the same DATA_DIR.`,
    );
  }
}
