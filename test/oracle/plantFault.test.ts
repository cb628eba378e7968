// The faults of faults.system.ts are texts of the code: each must still be there once, or the proof of the oracles loses it without a word.
import { rm } from 'node:fs/promises';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createSourceCopy } from '../support/sourceCopy.ts';
import { faultsOfDecisions } from './plantedDecisionFaults.ts';
import { faultsOfQueries } from './plantedFaults.ts';
import { faultsOfMutations } from './plantedMutationFaults.ts';
import { faultsOfTables } from './plantedTableFaults.ts';
import { plantFault } from './plantFault.ts';

let root: string;
let database: TestDatabase;
beforeAll(async () => {
  root = await createSourceCopy(['src', 'plugins', 'packages']);
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  await rm(root, { recursive: true });
});

test.each([...faultsOfQueries, ...faultsOfMutations, ...faultsOfTables, ...faultsOfDecisions])(
  'can plant: $name',
  async (fault) => {
    const undo = await plantFault(fault, root, database.owner);

    await undo();
  },
);
