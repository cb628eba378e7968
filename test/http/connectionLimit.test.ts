import { ask, createTenant } from '../graphql/support.ts';
import { asAdministrator, createTestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('a server on a database that has no connection left', () => {
  it('is ready while the connections that it has serve, and not when it has none', async () => {
    const database = await createTestDatabase();
    const tenants = [await createTenant({ database }), await createTenant({ database })];
    // A tenant that finds the one connection in use opens another.
    const service = await startTestService(database, { DATABASE_POOL_SIZE: '1' });
    const name = new URL(database.authUrl).pathname.slice(1);
    await asAdministrator(`alter database ${name} connection limit 0`);
    const outcomes = async () => {
      const asked = tenants.map(({ app }) => ask(service, app, '{ app { name } }'));
      return (await Promise.all(asked)).map(({ status }) => status);
    };

    await until(async () => (await outcomes()).includes(503));
    // The one connection may still be in use by what was answered last.
    await until(async () => (await readiness(service))[0] === 200);
    expect(await outcomes()).toContain(200);

    await asAdministrator(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    const reason = expect.stringContaining('no connection left');
    await until(async () => (await readiness(service))[0] === 503);
    expect(await readiness(service)).toEqual([503, { status: 'unavailable', reason }]);

    await asAdministrator(`alter database ${name} connection limit -1`);
    await until(async () => (await readiness(service))[0] === 200);
    await service.stop();
    await database.drop();
  });
});

async function readiness(service: TestService): Promise<[number, unknown]> {
  const response = await fetch(`${service.url}/readyz`);
  return [response.status, await response.json()];
}
