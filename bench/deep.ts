import { startTree } from './data/startTree.ts';
import { median } from './support/measured.ts';

/**
 * `node bench/deep.ts`: how long 100 levels of `children` take over a chain of 100 units, over HTTP: the first time, and the
 * median of later ones. Exits with 1 when a later one takes 300 ms or more, or the deepest name is missing.
 */
const levels = 100;
const limitMs = 300;
const rounds = 21;

const tree = await startTree();
try {
  const rows = [];
  for (const form of ['nodes { # }', 'edges { node { # } }']) rows.push(await time(form));
  console.table(rows);
  process.exitCode = rows.every((row) => row['warm ms'] < limitMs) ? 0 : 1;
} finally {
  await tree.stop();
}

async function time(form: string) {
  let selection = 'name';
  for (let level = levels; level > 1; level--) selection = `name children { ${form.replace('#', selection)} }`;
  const query = `{ app { rootUnits(externalIdentifiers: ["level-1"]) { nodes { ${selection} } } } }`;

  const times = [];
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now();
    const { text } = await tree.send(query);
    if (!text.includes(`"Unit level-${levels}"`)) throw new Error(`Level ${levels} is missing`);
    times.push(performance.now() - start);
  }
  const [first = 0, ...later] = times;
  return { form: form.replace('#', '…'), levels, 'first ms': Math.round(first), 'warm ms': Math.round(median(later)) };
}
