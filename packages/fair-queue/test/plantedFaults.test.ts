// Mutation testing: the simulation finds a fault in each rule of the scheduler (DeMillo, Lipton and Sayward, 1978).
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createFairQueue } from '../src/index.ts';
import { type PlantedFault, plantedFaults } from './plantedFaults.ts';
import { Fault } from './simulation/Judge.ts';
import { type Create, simulate } from './simulation/simulate.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
/** As `npm test` draws for the scheduler itself. */
const seeds = 300;
const events = 1000;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'fair-queue-faults-'));
});
afterAll(() => rm(root, { recursive: true }));

test.each(plantedFaults)('finds that $name', async (fault) => {
  const create = await plant(fault);

  expect(firstFault(create)).toEqual(expect.any(String));
});

test.each(plantedFaults.filter(({ breaksFormula }) => breaksFormula))(
  'the formula alone finds that $name',
  async (fault) => {
    const create = await plant(fault);

    expect(firstFault(create, false)).toMatch(/has waited .*, and the longest is/);
  },
);

test('the formula alone finds nothing where no fault was planted', () => {
  for (let seed = 1; seed <= 50; seed++)
    expect(faultOf(() => simulate(createFairQueue, seed, events, false))).toBeNull();
});

/** A copy of the package with the fault in it. */
async function plant({ file, from, to }: PlantedFault): Promise<Create> {
  const copy = await mkdtemp(join(root, 'copy-'));
  for (const name of ['src', 'package.json']) await cp(join(folder, name), join(copy, name), { recursive: true });
  const path = join(copy, 'src', file);
  const text = await readFile(path, 'utf8');
  expect(text.split(from)).toHaveLength(2);
  await writeFile(
    path,
    text.replace(from, () => to),
  );
  return (await import(pathToFileURL(join(copy, 'src/index.ts')).href)).createFairQueue;
}

function firstFault(create: Create, checksOrder = true): string | null {
  for (let seed = 1; seed <= seeds; seed++) {
    const fault = faultOf(() => simulate(create, seed, events, checksOrder));
    if (fault !== null) return fault;
  }
  return null;
}

/** The judge's finding; another error, such as one of the judge itself, proves nothing. */
function faultOf(run: () => void): string | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}
