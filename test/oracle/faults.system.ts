// The oracle's own proof: each planted fault is found, and by how many drawn documents.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createSourceCopy } from '../support/sourceCopy.ts';
import { faultsOfQueries, type PlantedFault } from './plantedFaults.ts';
import { OracleSearch, prepare, type Search } from './search.ts';
import { startService } from './service.ts';

const search: Search = {
  seed: Number(process.env.SEED || Math.floor(Math.random() * 2 ** 31)),
  documents: Number(process.env.DOCUMENTS || 3000),
  perWorld: 300,
  keepsGoing: false,
  leavesWhole: true,
};

let database: TestDatabase;
let prepared: Awaited<ReturnType<typeof prepare>>;
let root: string;
beforeAll(async () => {
  process.stdout.write(`Documents are drawn with SEED=${search.seed}\n`);
  database = await createTestDatabase();
  prepared = await prepare(database, search);
  root = await createSourceCopy(['src', 'plugins', 'package.json', 'migrations']);
}, 600_000);
afterAll(async () => {
  await rm(root, { recursive: true });
  await database.drop();
});

const found: string[] = [];
afterAll(() => process.stdout.write(`${found.join('\n')}\n`));

test.each(faultsOfQueries.map((fault) => [fault.name, fault] as const))(
  '%s: is found',
  async (name, fault) => {
    const undo = await plant(fault);
    const oracle = await ask().finally(undo);

    found.push(`${String(oracle.coverage.documents).padStart(5)} documents: ${name}`);
    expect(oracle.findings).not.toHaveLength(0);
  },
  900_000,
);

/** Asks services of the copy until an answer is wrong. */
async function ask(): Promise<OracleSearch> {
  const services = {
    compiling: await startService(database.authUrl, {}, root),
    uncompiled: await startService(database.authUrl, { COMPILATION: 'false' }, root),
  };
  try {
    const sdl = await (await fetch(`${services.compiling.url}/graphql/schema.graphql`)).text();
    const oracle = new OracleSearch(search, sdl, database, services, prepared);
    await oracle.run(Number.MAX_SAFE_INTEGER);
    return oracle;
  } finally {
    await Promise.all([services.compiling.stop(), services.uncompiled.stop()]);
  }
}

/** Plants a fault, and returns what takes it back. */
async function plant(fault: PlantedFault): Promise<() => Promise<unknown>> {
  if ('sql' in fault) {
    const { rows } = await database.owner.query<{ undo: string }>(undoing, [fault.sql]);
    await database.owner.query(fault.sql);
    return () => database.owner.query(rows.map(({ undo }) => undo).join(';\n'));
  }
  const path = join(root, fault.file);
  const text = await readFile(path, 'utf8');
  if (text.split(fault.from).length !== 2) throw new Error(`${fault.file} has not once: ${fault.from}`);
  await writeFile(
    path,
    text.replace(fault.from, () => fault.to),
  );
  return () => writeFile(path, text);
}

/** The statements that make policies and functions named in a statement what they are. */
const undoing = `
  select format('alter policy %I on %s using (%s)', polname, polrelid::regclass, pg_get_expr(polqual, polrelid)) as undo
  from pg_policy where $1::text like format('alter policy %s on %s %%', polname, polrelid::regclass)
  union all
  select pg_get_functiondef(oid) from pg_proc
  where $1::text like format('create or replace function %s()%%', oid::regproc)`;
