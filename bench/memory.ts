import { startTreeDatabase, type TreeService } from './data/startTree.ts';
import { some } from './data/worstDocuments.ts';
import { measureRest } from './memory/measureRest.ts';

/**
 * `npm run bench memory`: where the memory of the service at rest goes; then its resident memory before and after 5,000 distinct
 * documents, small and large: once after a few, when everything that the service needs has been loaded and compiled. Exits with 1 when
 * it grew by 100 MB or more. `node bench/memory.ts rest` does only the first.
 */
const limitMegabytes = 100;
const thousands = 5;

const database = await startTreeDatabase();
try {
  console.log(await measureRest(database));
  if (process.argv[2] !== 'rest') await measureGrowth(await database.startService());
} finally {
  await database.stop();
}

async function measureGrowth(tree: TreeService): Promise<void> {
  console.log(`at start: ${megabytes(await tree.residentBytes())} MB`);
  await sendAll(tree, 'Few', 100);
  const before = megabytes(await tree.residentBytes());
  console.log(`before: ${before} MB`);
  let after = before;
  for (let thousand = 1; thousand <= thousands; thousand++) {
    await sendAll(tree, `Thousand${thousand}`, 1000);
    after = megabytes(await tree.residentBytes());
    console.log(`after ${thousand},000 documents: ${after} MB`);
  }
  console.log(`growth: ${after - before} MB`);
  process.exitCode = after - before < limitMegabytes ? 0 : 1;
  await tree.stop();
}

/** Eight at a time; every tenth document is large. */
async function sendAll({ send }: TreeService, name: string, count: number): Promise<void> {
  let next = 0;
  const sender = async () => {
    while (next < count) {
      const number = next++;
      const { status, text } = await send(number % 10 === 0 ? large(name, number) : small(name, number));
      if (status !== 200) throw new Error(`The service answered ${status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, sender));
}

function small(name: string, number: number): string {
  const fields = `totalCount nodes { id fullName cardAssignments { card { name } } }`;
  return `query ${name}_${number} { app { a${number}: users(first: ${number % 50}) { ${fields} } } }`;
}

/** 7 or 20 root fields of some 20 fields each: what the main thread just plans itself, and what the offload thread does. */
function large(name: string, number: number): string {
  const unit = 'id name externalIdentifier';
  const units = `rootUnits(first: 1) { totalCount nodes { ${unit} children(first: 1) { nodes { ${unit} } } } }`;
  const app = `name users(first: 1) { nodes { id fullName email locale } } ${units}`;
  return `query ${name}_${number} { ${some(number % 20 === 0 ? 20 : 7, (index) => `a${number}_${index}: app { ${app} }`)} }`;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
