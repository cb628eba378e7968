import { startProcess, type TestProcess } from './process.ts';
import { testSecretKey } from './service.ts';

/** Starts a server process on a running database, and waits until it serves. `environment` has AUTH_DATABASE_URL and other variables. */
export async function startServer(environment: Record<string, string>): Promise<TestProcess> {
  const started = startProcess([], {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    SECRET_KEY: testSecretKey,
    THROTTLE_REQUESTS_PER_MINUTE: '1000000',
    ...environment,
  });
  await started.says('Graph Query Service: http');
  return started;
}
