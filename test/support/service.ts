import { randomBytes } from 'node:crypto';
import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { preparesStatements, type TestDatabase } from './database.ts';
import { opened } from './openThings.ts';
import { testPasswordCost } from './passwords.ts';

export type TestService = {
  /** The base URL, such as `http://localhost:40123`. */
  url: string;
  reload: Service['reload'];
  metricsPort: Service['metricsPort'];
  stop(): Promise<void>;
  /** Every line that was logged, at level trace, as JSON. */
  logs: string[];
};

/** The real service in this process, on a free port; `overrides` are environment variables. */
export async function startTestService(
  database: Pick<TestDatabase, 'authUrl' | 'ownerUrl'>,
  overrides: Record<string, string> = {},
): Promise<TestService> {
  const logs: string[] = [];
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: database.authUrl,
    SECRET_KEY: testSecretKey,
    ...testPasswordCost,
    // On a busy machine anything may be slow, which would ask PostgreSQL for a plan, too.
    SLOW_MS: '600000',
    // Where they are not the subject, nothing else asks the database.
    WEBHOOK_WORKER: 'false',
    // For the same reason: what waits for its turn is refused only where that is the subject.
    DATABASE_POOL_WAIT_MS: '20000',
    DATABASE_PREPARED_STATEMENTS: String(preparesStatements()),
    ...overrides,
  };
  const log = createLog('trace', { write: (line) => logs.push(line) });
  // A worker keeps the variables of each file that it has run. Without its schema, of some 10 MB, a stopped service is small.
  let service: Service | null = await startService(loadConfig(environment, 'serve'), log);
  const { url, metricsPort } = service;
  const closed = opened(`service ${url}`);
  const running = () => {
    if (!service) throw new Error(`The service ${url} has stopped.`);
    return service;
  };
  const stop = async () => {
    await service?.stop();
    service = null;
    closed();
  };
  return { url, reload: () => running().reload(), metricsPort, stop, logs };
}

/** For a service whose throttles are not the subject. */
export const unthrottled = {
  THROTTLE_REQUESTS_PER_MINUTE: '1000000',
  THROTTLE_FAILURES_PER_MINUTE: '1000000',
  THROTTLE_FAILURES_PER_ACCOUNT: '1000000',
};

/** The SECRET_KEY of every test service of this file. */
export const testSecretKey = randomBytes(32).toString('base64');
