// The proof of the oracles by mutation testing: each planted fault is found, and by how many draws.
import { rm } from 'node:fs/promises';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createSourceCopy, program } from '../support/sourceCopy.ts';
import { drawSequence } from './model/draw.ts';
import { errorOf } from './model/explain.ts';
import { startServices } from './model/services.ts';
import { createWorlds } from './model/world.ts';
import { faultsOfQueries } from './plantedFaults.ts';
import { faultsOfMutations } from './plantedMutationFaults.ts';
import { faultsOfTables } from './plantedTableFaults.ts';
import { type PlantedFault, plantFault } from './plantFault.ts';
import { randomOf } from './random.ts';
import { executableSchema } from './schema.ts';
import { OracleSearch, openWorld, prepare, type Search } from './search.ts';
import { startService } from './service.ts';
import { drawCase } from './tables/draw.ts';
import { runCase } from './tables/run.ts';
import { createWorld } from './tables/world.ts';

// `SEED=… DOCUMENTS=… SEQUENCES=… TABLES=… npm run -s test:system -- oracle/faults` repeats a run.
const seed = Number(process.env.SEED || Math.floor(Math.random() * 2 ** 31));
const documents = Number(process.env.DOCUMENTS || 3000);
const sequences = Number(process.env.SEQUENCES || 200);
const tables = Number(process.env.TABLES || 100);
const tablesOfACase = 10;
const timeout = 900_000;

const byName = <Fault extends { name: string }>(faults: readonly Fault[]) =>
  faults.map((fault) => [fault.name, fault] as const);

let root: string;
beforeAll(async () => {
  process.stdout.write(`Drawn with SEED=${seed}\n`);
  root = await createSourceCopy(program);
});
afterAll(() => rm(root, { recursive: true }));

const found: string[] = [];
afterAll(() => process.stdout.write(`${found.join('\n')}\n`));

describe('a fault of queries', () => {
  const search: Search = { seed, documents, perWorld: 300, keepsGoing: false, leavesWhole: true };
  let database: TestDatabase;
  let prepared: Awaited<ReturnType<typeof prepare>>;
  /** So many draws were asked until a fault was found. */
  let most = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    prepared = await prepare(database, search);
    // By the service as it is, before a fault is planted.
    const service = await startService(database.authUrl, {}, root);
    const schema = executableSchema(await readSdl(service.url));
    for (const world of prepared.worlds) await openWorld(database, service, schema, prepared, world);
    await service.stop();
  }, timeout);
  afterAll(() => database.drop());

  test.each(byName(faultsOfQueries))(
    '%s: is found',
    async (name, fault) => {
      const undo = await plantFault(fault, root, database.owner);
      const oracle = await ask(documents).finally(undo);

      most = Math.max(most, oracle.coverage.documents);
      found.push(`${String(oracle.coverage.documents).padStart(5)} documents: ${name}`);
      expect(oracle.findings).not.toHaveLength(0);
    },
    timeout,
  );

  it('none: nothing is found by as many documents', async () => {
    const oracle = await ask(most);

    found.push(`${String(most).padStart(5)} documents without a fault`);
    expect(oracle.findings).toEqual([]);
  }, 14_400_000);

  /** Asks services of the copy until an answer is wrong. */
  async function ask(count: number): Promise<OracleSearch> {
    const services = {
      compiling: await startService(database.authUrl, {}, root),
      uncompiled: await startService(database.authUrl, { COMPILATION: 'false' }, root),
    };
    try {
      const sdl = await readSdl(services.compiling.url);
      const oracle = new OracleSearch({ ...search, documents: count }, sdl, database, services, prepared);
      await oracle.run(Number.MAX_SAFE_INTEGER);
      return oracle;
    } finally {
      await Promise.all([services.compiling.stop(), services.uncompiled.stop()]);
    }
  }
});

describe('a fault of mutations', () => {
  let most = 0;

  test.each(byName(faultsOfMutations))(
    '%s: is found',
    async (name, fault) => {
      const drawn = await countUntilFound(sequences, fault);

      most = Math.max(most, drawn);
      found.push(`${String(drawn).padStart(5)} sequences: ${name}`);
      expect(drawn).toBeLessThanOrEqual(sequences);
    },
    timeout,
  );

  it('none: nothing is found by as many sequences', async () => {
    found.push(`${String(most).padStart(5)} sequences without a fault`);
    expect(await countUntilFound(most)).toBe(most + 1);
  }, 14_400_000);

  /** How many sequences are sent to services of the copy until one disagrees with the model. */
  async function countUntilFound(count: number, fault?: PlantedFault): Promise<number> {
    const database = await createTestDatabase();
    const undo = fault && (await plantFault(fault, root, database.owner));
    const services = await startServices(root, database);
    try {
      for (let drawn = 0; drawn < count; ) {
        const worlds = await createWorlds(services.database, Math.min(20, count - drawn));
        for (const world of worlds) {
          drawn += 1;
          if (await errorOf(services, world, drawSequence(randomOf(seed + drawn)))) return drawn;
        }
      }
      return count + 1;
    } finally {
      await undo?.();
      await services.stop();
    }
  }
});

describe('a fault of tables', () => {
  let most = 0;

  test.each(byName(faultsOfTables))(
    '%s: is found',
    async (name, fault) => {
      const drawn = await countUntilFound(tables, fault);

      most = Math.max(most, drawn);
      found.push(`${String(drawn).padStart(5)} tables: ${name}`);
      expect(drawn).toBeLessThanOrEqual(tables);
    },
    timeout,
  );

  it('none: nothing is found in as many tables', async () => {
    found.push(`${String(most).padStart(5)} tables without a fault`);
    expect(await countUntilFound(most)).toBe(most + 1);
  }, 14_400_000);

  /** How many tables are drawn until one is answered wrong; they are asked in tens. */
  async function countUntilFound(count: number, fault?: PlantedFault): Promise<number> {
    const database = await createTestDatabase();
    const undo = fault && (await plantFault(fault, root, database.owner));
    const world = await createWorld(database, [true], root);
    try {
      for (let drawn = 0; drawn < count; drawn += tablesOfACase) {
        const random = randomOf(seed + drawn);
        const { failures } = await runCase(database.owner, world, drawCase(random, tablesOfACase), seed + drawn);
        if (failures.length > 0) return drawn + tablesOfACase;
      }
      return count + 1;
    } finally {
      await undo?.();
      await world.stop();
      await database.drop();
    }
  }
});

const readSdl = async (url: string): Promise<string> => (await fetch(`${url}/graphql/schema.graphql`)).text();
