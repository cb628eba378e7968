import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('stopping', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  it('accepts nothing new, finishes what is in flight and exits with 0', async () => {
    const service = startProcess([], {
      PATH: process.env.PATH ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      AUTH_DATABASE_URL: database.authUrl,
      SECRET_KEY: testSecretKey,
    });
    await service.says('Graph Query Service: http');
    const url = /Graph Query Service: (http\S+)/.exec(service.output.stdout)?.[1] ?? '';
    const blocker = await database.owner.connect();
    await blocker.query('begin; lock table graphile_migrate.migrations');
    const inFlight = fetch(`${url}/readyz`);
    await until(async () => {
      const waiting = await database.owner.query(
        // Its watch on migrations may be waiting, too.
        `select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%where hash = %'`,
      );
      return waiting.rowCount === 1;
    });

    service.signal('SIGUSR2');
    service.signal('SIGTERM');
    await service.says('stopping');
    await until(() =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    await blocker.query('rollback');
    blocker.release();

    expect((await inFlight).status).toBe(200);
    expect(await service.exited).toEqual({ code: 0, signal: null });
  });
});
