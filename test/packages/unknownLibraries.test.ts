// The service with a library of a version that packages/grafast-compile does not know.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { foundVersions } from '../../packages/grafast-compile/src/internals.ts';
import { ask, createTenant, createUnit, expectRefused, read } from '../graphql/support.ts';
import { scrape } from '../observability/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService } from '../support/service.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const versions = foundVersions as Record<string, string | undefined>;

test.each([
  ['unknown', '9.9.9', {}, 0, ['grafast is 9.9.9 and not 1.1.3']],
  ['known', versions.grafast, {}, 1, []],
  ['known, without compilation', versions.grafast, { COMPILATION: 'false' }, 0, []],
])(
  '%s: the service answers, a metric says whether it compiles, and its log why not',
  async (_, version, environment, compiles, reasons) => {
    const installed = versions.grafast;
    versions.grafast = version;
    let compiled = 0;
    const count = () => void compiled++;
    subscribe('grafast-compile:compiled', count);
    const service = await startTestService(database, {
      METRICS_PORT: '0',
      LIMIT_BYTES: '20000',
      ...environment,
    }).finally(() => {
      versions.grafast = installed;
    });
    const tenant = await createTenant({ database });
    await createUnit(tenant, { name: 'Hall' });

    const answer = await read(service, tenant.app, '{ app { rootUnits { nodes { name } } } }');
    const tooLong = await ask(service, tenant.app, `{ app { rootUnits { nodes { ${'n'.repeat(20_000)}: name } } } }`);
    const { samples } = await scrape(service.metricsPort ?? 0);
    unsubscribe('grafast-compile:compiled', count);
    await service.stop();

    expect(answer).toEqual({ app: { rootUnits: { nodes: [{ name: 'Hall' }] } } });
    expectRefused(tooLong, 400, { code: 'LIMIT_EXCEEDED', limit: 'bytes' });
    expect(samples.get('graph_compilation')).toBe(compiles);
    expect(compiled > 0).toBe(compiles === 1);
    const lines = service.logs
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'operations are not compiled');
    expect(lines.map(({ reason }) => reason)).toEqual(reasons);
  },
);
