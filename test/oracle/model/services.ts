import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startService } from '../service.ts';

/** Two services on one database, the second without compilation. */
export type Services = {
  readonly urls: readonly [string, string];
  readonly database: TestDatabase;
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
  const [compiling, uncompiled] = await Promise.all([
    startService(database.authUrl, {}, root),
    startService(database.authUrl, { COMPILATION: 'false' }, root),
  ]);

  return {
    urls: [compiling.url, uncompiled.url],
    database,
    errorLines: () => [...compiling.failures(), ...uncompiled.failures()],
    async stop() {
      await Promise.all([compiling.stop(), uncompiled.stop()]);
      await database.drop();
    },
  };
}
