import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seed } from '../support/search.ts';
import { bugs } from './bugs.ts';
import { compare } from './compare.ts';

describe(`the comparison of the database with sets (SEED=${seed})`, () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(async () => {
    await database.drop();
  });

  it.each(Object.entries(bugs))('finds a policy that %s', async (_name, bug) => {
    await database.owner.query(bug);

    expect(await compare(database, 30, { shrinks: false })).toMatch(/^Error: .+ by .+ gives .+ instead of /s);
  });
});
