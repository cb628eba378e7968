import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { startCluster } from './data/startCluster.ts';
import { startLoad } from './peers/load/startLoad.ts';
import { median } from './support/measured.ts';

/**
 * `node bench/reads.ts`: what it costs to record reading. It asks for a person's own row and 20 units (Q1 of `bench peers`) over HTTP, 16
 * at a time. Meanwhile the service records the reading of `app_public.users` and `app_public.units` by no statement, by one in a hundred,
 * or by every statement, in turns. Exits with 1 when one in a hundred costs more than 5 %.
 */
const shares = [0, 0.01, 1];
const rounds = 12;
const seconds = 1.5;
const connections = 16;
const maxCost = 0.05;

const password = randomBytes(16).toString('base64url');
await using cluster = await startCluster();
await provision();
await using service = await cluster.startService();
const rates = await measure();
const [none = 0, ...others] = rates.map((found) => median(found));
console.table(
  rates.map((found, index) => ({
    'share that is recorded': shares[index],
    'requests per second': Math.round(median(found)),
    'of none recorded': Number((median(found) / none).toFixed(3)),
  })),
);
process.exitCode = (others[0] ?? 0) >= none * (1 - maxCost) ? 0 : 1;

/** Requests per second in each round, by share; in turns, so that whatever else the machine does falls on all. */
async function measure(): Promise<number[][]> {
  const owner = new Client({ connectionString: cluster.postgres.ownerUrl });
  // The database is stopped when something has failed.
  owner.on('error', () => undefined);
  await owner.connect();
  const token = await service.getToken('bench', { username: 'u@bench.test', password });
  const order = {
    ...{ port: Number(new URL(service.url).port), operation: 'Q1' as const, connections, from: 0 },
    ...{
      tokens: { users: [token], applications: [], grantedEverything: token },
      size: { users: 1, unitsByDepth: [1, 40], serverSettings: {} },
    },
  };
  const load = startLoad();
  const rates: number[][] = shares.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, share] of shares.entries()) {
      for (const table of ['app_public.users', 'app_public.units'])
        await owner.query('select audit.record_reads($1, $2)', [table, share]);
      // Each connection plans its statements anew.
      await load.run({ ...order, seconds: seconds / 5 });
      const { latenciesMs, seconds: took } = await load.run({ ...order, seconds });
      if (round >= 0) rates[index]?.push(latenciesMs.length / took);
    }
  }
  load.stop();
  await owner.end();
  return rates;
}

async function provision(): Promise<void> {
  const children = Array.from({ length: 40 }, (_, number) => ({
    externalIdentifier: `${number}`,
    name: `Unit ${number}`,
  }));
  const user = {
    externalIdentifier: 'u',
    fullName: 'User',
    email: 'u@bench.test',
    password,
    accessibleUnits: ['root'],
  };
  const application = {
    name: 'Bench',
    clientId: 'bench',
    clientSecret: cluster.clientSecret,
    scopes: ['me'],
    mobileApp: { authenticationType: 'password' },
  };
  const units = [{ externalIdentifier: 'root', name: 'Root', children }];
  await cluster.provision([{ name: 'Bench', applications: [application], units, users: [user] }]);
  const owner = cluster.ownerPool();
  await owner.query('vacuum analyze').finally(() => owner.end());
}
