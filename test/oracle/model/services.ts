import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startProcess, type TestProcess } from '../../support/process.ts';

/** Two services on one database, the second without compilation, and what `admin` needs. */
export type Services = {
  readonly urls: readonly [string, string];
  readonly database: TestDatabase;
  readonly environment: Record<string, string>;
  /** The lines at level error that they have logged. */
  errorLines(): string[];
  stop(): Promise<void>;
};

/**
 * @param root a copy of the repository; this one by default
 * @param given a database that is dropped in the end; a new one by default
 */
export async function startServices(root?: string, given?: TestDatabase): Promise<Services> {
  const database = given ?? (await createTestDatabase());
  const environment = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATABASE_URL: database.ownerUrl,
    AUTH_DATABASE_URL: database.authUrl,
    THROTTLE_REQUESTS_PER_MINUTE: '1000000',
    // Nothing is to be sent to the URLs of webhooks, and a slow machine is no fault.
    WEBHOOK_WORKER: 'false',
    SLOW_MS: '600000',
    DATABASE_POOL_WAIT_MS: '60000',
    STATEMENT_TIMEOUT_MS: '60000',
  };
  const started = [environment, { ...environment, COMPILATION: 'false' }].map((variables) =>
    startProcess([], variables, root),
  );
  const urls = await Promise.all(started.map(urlOf));

  return {
    urls: [urls[0] ?? '', urls[1] ?? ''],
    database,
    environment,
    errorLines: () => started.flatMap(({ output }) => output.stderr.split('\n').filter(isError)),
    async stop() {
      for (const service of started) service.signal('SIGTERM');
      await Promise.all(started.map(({ exited }) => exited));
      await database.drop();
    },
  };
}

async function urlOf(service: TestProcess): Promise<string> {
  await service.says('Graph Query Service: http');
  return /Graph Query Service: (\S+)/.exec(service.output.stdout)?.[1] ?? '';
}

/** Pino's level of an error is 50. */
const isError = (line: string) => line.includes('INTERNAL') || /^\{"level":[56]0\b/.test(line);
