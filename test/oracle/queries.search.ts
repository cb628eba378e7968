// Answers to drawn queries against graphql-js over the same rows, which is given the SDL and knows nothing of the service.
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { isWhole, sizeOf } from '../support/search.ts';
import { tell } from './report.ts';
import { executableSchema } from './schema.ts';
import { OracleSearch, prepare, type Search } from './search.ts';
import { type Service, startService } from './service.ts';
import { unknownTo } from './unknown.ts';

const search: Search = {
  // Another one in each run, the small one included: what is drawn is not known beforehand.
  seed: Number(process.env.SEED || Math.floor(Math.random() * 2 ** 31)),
  documents: Number(process.env.DOCUMENTS || sizeOf({ small: 60, whole: 20_000 })),
  perWorld: isWhole ? 300 : 60,
  keepsGoing: process.env.ORACLE_KEEP_GOING === '1',
};

const isLong = isWhole || process.env.DOCUMENTS !== undefined;
/** A busy machine draws fewer of the small part. */
const smallMs = 4000;

let database: TestDatabase;
let services: { compiling: Service; uncompiled: Service };
beforeAll(async () => {
  database = await createTestDatabase();
  const [compiling, uncompiled] = await Promise.all([
    startService(database.authUrl),
    isLong ? startService(database.authUrl, { COMPILATION: 'false' }) : null,
  ]);
  // Grafast answers what is asked for the first time, also where it is compiled then.
  services = { compiling, uncompiled: uncompiled ?? compiling };
});
afterAll(async () => {
  await Promise.all([...new Set(Object.values(services))].map((service) => service.stop()));
  await database.drop();
});

test('the oracle knows every field, argument and order of queries but those of the feed', async () => {
  const schema = executableSchema(await readSdl());

  // Deliveries are changes that are on their way.
  const left = unknownTo(schema).filter((name) => !name.startsWith('WebhookDelivery.'));
  expect(left.sort()).toEqual(['App.changes', 'Webhook.deliveries']);
});

test(
  `${search.documents} drawn queries are answered as graphql-js answers them over the rows`,
  async () => {
    process.stdout.write(`${search.documents} queries are drawn with SEED=${search.seed}\n`);
    const sdl = await readSdl();
    const prepared = await prepare(database, search);
    const oracle = new OracleSearch(search, sdl, database, services, prepared);

    const start = performance.now();
    await oracle.run(isLong ? undefined : smallMs);

    const seconds = (performance.now() - start) / 1000;
    process.stdout.write(`${oracle.coverage.report(seconds)}; wrong ${oracle.wrong}\n`);
    await oracle.shrinkRows();
    expect(oracle.findings.map((finding) => tell(finding, search.seed)).join('\n\n')).toBe('');
    expect([...services.compiling.failures(), ...services.uncompiled.failures()]).toEqual([]);
    if (isWhole) expect(oracle.coverage.missed()).toEqual([]);
  },
  isLong ? 4 * 3_600_000 : 120_000,
);

async function readSdl(): Promise<string> {
  return (await fetch(`${services.compiling.url}/graphql/schema.graphql`)).text();
}
