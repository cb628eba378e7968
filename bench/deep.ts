import { startCluster } from './data/startCluster.ts';

/**
 * `node bench/deep.ts`: how long 100 levels of `children` take over a chain of 100 units, over HTTP: the first time, and the
 * median of later ones. Exits with 1 when a later one takes 300 ms or more, or the deepest name is missing.
 */
const levels = 100;
const limitMs = 300;
const rounds = 21;

await using cluster = await startCluster();
await provisionChain();
await using service = await cluster.startService();
const { url } = service;
const token = await service.getToken('deep');
const rows = [];
for (const form of ['nodes { # }', 'edges { node { # } }']) rows.push(await time(form));
console.table(rows);
process.exitCode = rows.every((row) => row['warm ms'] < limitMs) ? 0 : 1;

type Unit = { externalIdentifier: string; name: string; children?: Unit[] };

async function provisionChain(): Promise<void> {
  const chain = (level: number): Unit => ({
    externalIdentifier: `level-${level}`,
    name: `Level ${level}`,
    ...(level < levels && { children: [chain(level + 1)] }),
  });
  const applications = [{ name: 'Deep', clientId: 'deep', clientSecret: cluster.clientSecret }];
  await cluster.provision([{ name: 'Deep', applications, units: [chain(1)] }]);
}

async function time(form: string) {
  let selection = 'name';
  for (let level = levels; level > 1; level--) selection = `name children { ${form.replace('#', selection)} }`;
  const body = JSON.stringify({ query: `{ app { rootUnits { nodes { ${selection} } } } }` });
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };

  const times = [];
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now();
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    if (!(await response.text()).includes(`"Level ${levels}"`)) throw new Error(`Level ${levels} is missing`);
    times.push(performance.now() - start);
  }
  const [first = 0, ...later] = times;
  const warm = later.sort((a, b) => a - b)[rounds >> 1] ?? 0;
  return { form: form.replace('#', '…'), levels, 'first ms': Math.round(first), 'warm ms': Math.round(warm) };
}
