import { Logger, migrate } from 'graphile-migrate';
import { migrationsFolder } from '../../src/database/migrations/committedMigrations.ts';
import { runGraphileMigrate } from '../../src/database/migrations/runCommitted.ts';
import { byTcp, createTestDatabase, listenerOf } from '../support/database.ts';
import { startTcpProxy } from '../system/support/tcpProxy.ts';

test('its connections are closed when it is done: it would end the process when the server were stopped before', async () => {
  const database = await createTestDatabase();
  // Its farewell arrives late.
  const proxy = await startTcpProxy(() => listenerOf(database.ownerUrl));
  await proxy.become({ kind: 'slow', delayMs: 30 });
  const url = byTcp(database.ownerUrl, proxy.port);
  const owner = await database.owner.connect();
  const settings = {
    migrationsFolder,
    logger: new Logger(() => () => undefined),
  };
  const connections = async () => {
    const { rows } = await owner.query<{ datname: string }>(
      "select from pg_stat_activity where datname = current_database() and application_name like 'graphile-migrate %'",
    );
    return rows.length;
  };

  for (let time = 0; time < 2; time++) {
    let during = 0;
    await runGraphileMigrate(owner, async (named) => {
      await migrate({ ...settings, connectionString: named(url) });
      during = await connections();
    });
    expect([during, await connections()]).toEqual([1, 0]);
  }

  const failure = runGraphileMigrate(owner, async (named) => {
    await migrate({ ...settings, connectionString: named(url) });
    throw new Error('of the command');
  });
  await expect(failure).rejects.toThrow('of the command');
  expect(await connections()).toBe(0);
  owner.release();
  await proxy.stop();
  await database.drop();
});
