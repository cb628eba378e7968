import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { hashToken } from '../../src/token/format.ts';
import { createTenant, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { addressOf, workersOf } from '../support/workers.ts';

const kills = 50;
const writers = 16;

let database: TestDatabase;
let tenant: Tenant;
const secret = 'a-secret-of-the-writers-that-nobody-guesses';
beforeAll(async () => {
  database = await createTestDatabase();
  tenant = await createTenant({ database });
  await database.owner.query(
    'insert into oauth.application_secrets (organization_id, application_id, secret_hash) values ($1, $2, $3)',
    [tenant.organizationId, tenant.applicationId, hashToken(secret)],
  );
});
afterAll(() => database.drop());

test('what was acknowledged is there after 50 kills at random moments, and nothing is half there', async () => {
  const acknowledged = { users: [] as string[], deleted: [] as string[], tokens: [] as string[] };
  let service = await start();
  let url = addressOf(service);
  let writing = true;
  let number = 0;

  /** Makes a user with three values in one mutation, deletes every third, and gets a token. */
  const write = async (): Promise<void> => {
    const name = `u-${number++}`;
    const id = await mutate(
      url,
      `userCreate(fullName: "${name}", email: "${name}@kills.test", externalIdentifier: "${name}")`,
    );
    if (!id) return;
    acknowledged.users.push(name);
    const issued = await issue(url);
    if (issued) acknowledged.tokens.push(issued);
    if (number % 3 === 0) {
      // Whether it is still there cannot be known of one whose answer got lost.
      acknowledged.users.splice(acknowledged.users.indexOf(name), 1);
      if (await mutate(url, `userDelete(externalIdentifier: "${name}")`)) acknowledged.deleted.push(name);
    }
  };
  const writer = async () => {
    while (writing) await write();
  };
  const all = Array.from({ length: writers }, writer);

  for (let kill = 0; kill < kills; kill++) {
    await delay(randomInt(50, 500));
    // By turns the whole service and one of its workers.
    if (kill % 2 === 0) {
      service.signalGroup('SIGKILL');
      await service.exited;
      service = await start();
      url = addressOf(service);
    } else {
      const [victim] = await workersOf(service);
      if (victim) process.kill(victim, 'SIGKILL');
    }
  }
  writing = false;
  await Promise.all(all);
  service.signal('SIGTERM');
  await service.exited;

  const { rows: users } = await database.owner.query<{ name: string; whole: boolean }>(
    `select full_name as name, email = full_name || '@kills.test' and external_identifier = full_name as whole
     from app_public.users where organization_id = $1`,
    [tenant.organizationId],
  );
  const { rows: tokens } = await database.owner.query<{ hash: Buffer; whole: boolean }>(
    `select a.token_hash as hash, exists (select from oauth.refresh_tokens r where r.grant_id = a.grant_id) as whole
     from oauth.access_tokens a join oauth.grants g on g.id = a.grant_id where g.organization_id = $1 and a.token_hash <> all ($2)`,
    [tenant.organizationId, [tenant.app, tenant.basic].map(hashToken)],
  );
  const names = new Set(users.map(({ name }) => name));
  const hashes = new Set(tokens.map(({ hash }) => hash.toString('hex')));
  expect(acknowledged.users.filter((name) => !names.has(name))).toEqual([]);
  expect(acknowledged.deleted.filter((name) => names.has(name))).toEqual([]);
  expect(acknowledged.tokens.filter((token) => !hashes.has(hashToken(token).toString('hex')))).toEqual([]);
  expect(users.filter(({ whole }) => !whole)).toEqual([]);
  expect(tokens.filter(({ whole }) => !whole)).toEqual([]);
  expect(acknowledged.users.length).toBeGreaterThan(kills);
  console.log(
    `${kills} kills: ${acknowledged.users.length} users, ${acknowledged.deleted.length} deletions and ${acknowledged.tokens.length} tokens were acknowledged`,
  );
}, 600_000);

/** The id of the user in the answer; null when the service did not acknowledge. */
async function mutate(url: string, call: string): Promise<string | null> {
  const query = `mutation { it: ${call} { user { id } } }`;
  const headers = { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' };
  const answer = await post(`${url}/graphql`, { headers, body: JSON.stringify({ query }) });
  const { data } = (answer ?? {}) as { data?: { it?: { user?: { id: string } } | null } };
  return data?.it?.user?.id ?? null;
}

async function issue(url: string): Promise<string | null> {
  const client = { client_id: `client-${tenant.applicationId}`, client_secret: secret };
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'app', ...client });
  const answer = await post(`${url}/oauth/token`, { body });
  return (answer as { access_token?: string } | null)?.access_token ?? null;
}

/** The JSON of a whole answer. */
async function post(url: string, request: RequestInit): Promise<unknown> {
  try {
    const response = await fetch(url, { method: 'POST', ...request });
    return response.ok ? await response.json() : null;
  } catch {
    // Leaves the machine to the start of the next.
    await delay(20);
    return null;
  }
}

async function start(): Promise<TestProcess> {
  const service = startProcess([], {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: database.authUrl,
    SECRET_KEY: testSecretKey,
    WORKERS: '2',
    LOG_LEVEL: 'error',
    THROTTLE_REQUESTS_PER_MINUTE: '1000000',
  });
  await service.says('Graph Query Service: http');
  return service;
}
