import { startProcess, type TestProcess } from './process.ts';
import { testSecretKey } from './service.ts';

/** `npm start` on a database that runs, in a process of its own that serves; `environment` has its AUTH_DATABASE_URL and what else. */
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
