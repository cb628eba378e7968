import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { createOwnerPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import { applyDocument } from '../../src/provisioning/applyDocument.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../../test/support/dataDirectory.ts';
import { testPasswords } from '../../test/support/passwords.ts';
import { startWithOneLogin } from '../../test/support/startWithOneLogin.ts';
import { getToken } from './getToken.ts';
import { spawnService } from './spawnService.ts';

/** A PostgreSQL with the data, for services that are started on it. */
export type TreeDatabase = {
  /** Where its files are. */
  cluster: string;
  ownerUrl: string;
  /** Starts the service; `environment` is added to its own. */
  startService(environment?: Record<string, string>): Promise<TreeService>;
  stop(): Promise<void>;
};

/** The service in a process of its own, so that its client's work is not its own. */
export type TreeService = {
  url: string;
  /** The id of the started process, which is the supervisor if there are several workers. */
  pid: number;
  /** An access token with scope `app`. */
  token: string;
  /** A token of another application, of the same organization unless it is named. */
  grantToken(clientId?: string): Promise<string>;
  /** The secret of every application. */
  clientSecret: string;
  /** Sends one operation, and reads the answer without looking into it. */
  send(query: string, variables?: Record<string, unknown>): Promise<{ status: number; text: string }>;
  /** Resident memory of the service, in bytes. */
  residentBytes(): Promise<number>;
  /** The most that it was since the start. */
  peakResidentBytes(): Promise<number>;
  stop(): Promise<void>;
};

export type Tree = TreeService & Pick<TreeDatabase, 'cluster'>;

/** Starts both: the service, and a database of its own. */
export async function startTree(environment: Record<string, string> = {}): Promise<Tree> {
  await using resources = new AsyncDisposableStack();
  const database = await startTreeDatabase();
  resources.defer(database.stop);
  const service = await database.startService(environment);
  resources.defer(service.stop);
  const both = resources.move();
  return { ...service, cluster: database.cluster, stop: () => both.disposeAsync() };
}

/**
 * Makes an organization of 20,000 units, a chain of 100 levels among them, and 10,000 users, each with a card and a token for
 * external authentication.
 *
 * @param more what other organizations there are, and what else is changed by SQL
 */
export async function startTreeDatabase(more: Partial<More> = {}): Promise<TreeDatabase> {
  const key = randomBytes(32);
  const clientSecret = randomBytes(32).toString('base64url');
  const log = createLog('error');
  await using resources = new AsyncDisposableStack();
  const dataDir = await createTestDataDirectory();
  resources.defer(() => removeTestDataDirectory(dataDir));
  const postgres = await startWithOneLogin(dataDir, log);
  resources.defer(() => postgres.stop());

  const owner = createOwnerPool(postgres.ownerUrl, log);
  await applyDocument(owner, organizations(clientSecret, more.beside ?? []), {
    secrets: createSecrets([key]),
    passwords: testPasswords,
    report: () => undefined,
  });
  if (more.sql) await owner.query(more.sql);
  await owner.query('vacuum analyze');
  await owner.end();

  const all = resources.move();
  return {
    cluster: postgres.cluster,
    ownerUrl: postgres.ownerUrl,
    startService: (environment = {}) =>
      startService(clientSecret, {
        AUTH_DATABASE_URL: postgres.authUrl,
        SECRET_KEY: key.toString('base64'),
        ...environment,
      }),
    stop: () => all.disposeAsync(),
  };
}

export type More = {
  /** Applications are by their names and scopes. */
  readonly beside: readonly { name: string; applications: Record<string, string[]>; users: object[] }[];
  readonly sql: string;
};

async function startService(clientSecret: string, environment: Record<string, string>): Promise<TreeService> {
  const { url, pid, stop } = await spawnService({ LOG_LEVEL: 'error', ...environment });
  try {
    const grantToken = (clientId = 'other') => getToken(url, { client_id: clientId, client_secret: clientSecret });
    const token = await grantToken('tree');
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: graphqlResponse };
    return {
      url,
      pid,
      token,
      grantToken,
      clientSecret,
      stop,
      async send(query, variables = {}) {
        const body = JSON.stringify({ query, variables });
        const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
        return { status: response.status, text: await response.text() };
      },
      residentBytes: () => readStatus(pid, 'VmRSS'),
      peakResidentBytes: () => readStatus(pid, 'VmHWM'),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A size from proc_pid_status(5), in bytes. */
async function readStatus(pid: number, name: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return Number(kibibytes) * 1024;
}

const graphqlResponse = 'application/graphql-response+json';

type Unit = { externalIdentifier: string; name: string; children?: Unit[] };

/** 20 roots of 20 and 49 units each, and below one more root a chain. */
function organizations(clientSecret: string, beside: More['beside']) {
  const some = <T>(count: number, write: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => write(index));
  const unit = (externalIdentifier: string, children: Unit[] = []): Unit => ({
    externalIdentifier,
    name: `Unit ${externalIdentifier}`,
    ...(children.length > 0 && { children }),
  });
  const chain = (level: number): Unit => unit(`level-${level}`, level < 100 ? [chain(level + 1)] : []);
  const root = (a: number) =>
    unit(
      `${a}`,
      some(20, (b) =>
        unit(
          `${a}-${b}`,
          some(49, (c) => unit(`${a}-${b}-${c}`)),
        ),
      ),
    );
  const users = some(10_000, (index) => ({
    externalIdentifier: `user-${index}`,
    fullName: `Person ${index}`,
    email: `person-${index}@tree.test`,
    externalAuthenticationToken: `token-of-person-${index}`,
    cards: [{ type: 'IdentificationCode', name: `Code ${index}` }],
  }));
  const withSecrets = (applications: Record<string, string[]>) =>
    Object.entries(applications).map(([name, scopes]) => ({ name, clientId: name, clientSecret, scopes }));
  const tree = { name: 'Tree', applications: withSecrets({ tree: ['app'], other: ['app'] }), users };
  const others = beside.map(({ applications, ...other }) => ({ ...other, applications: withSecrets(applications) }));
  return { organizations: [{ ...tree, units: [...some(20, root), chain(1)] }, ...others] };
}
