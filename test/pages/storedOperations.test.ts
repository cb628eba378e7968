import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

const notice = 'This service answers its stored operations only.';

describe('the explorers', () => {
  let folder: string;
  let database: TestDatabase;
  let strict: TestService;
  let open: TestService;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'graph-query-operations-'));
    await writeFile(join(folder, 'name.graphql'), '{ app { name } }');
    database = await createTestDatabase();
    strict = await startTestService(database, { EXPLORERS: 'true', PERSISTED_OPERATIONS: folder });
    open = await startTestService(database, { EXPLORERS: 'true' });
  });

  afterAll(async () => {
    await strict.stop();
    await open.stop();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  it.each(['/graphiql', '/playground'])(
    'say at %s that only stored operations are answered, where it is so',
    async (path) => {
      expect(await (await fetch(strict.url + path)).text()).toContain(notice);
      expect(await (await fetch(open.url + path)).text()).not.toContain(notice);
    },
  );

  it('show the schema all the same where they need not ask for it', async () => {
    for (const path of ['/documentations/graphql', '/graphql/schema.graphql'])
      expect(await (await fetch(strict.url + path)).text()).toContain('UnitConnection');
  });
});
