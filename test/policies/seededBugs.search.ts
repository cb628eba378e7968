import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { isWhole, seed } from '../support/search.ts';
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

  const part = Object.entries(bugs).filter((_, index) => isWhole || index % 8 === 0);

  it.each(part)('finds a policy that %s', async (_name, bug) => {
    await database.owner.query(bug);

    expect(await compare(database, 30, { shrinks: false })).toMatch(/^Error: .+ by .+ gives .+ instead of /s);
  });
});
