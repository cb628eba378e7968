import { Client } from 'pg';
import { table } from '../src/commands/audit/markdown.ts';
import { measureGrowth } from './audit/measureGrowth.ts';
import { startCluster } from './data/startCluster.ts';
import { median } from './support/measured.ts';
import { sendWithToken } from './write/sendWithToken.ts';

/**
 * `node bench/audit.ts [changes …]`: what the history costs, and how it grows. Two equal services on one PostgreSQL take turns, and the
 * database of one records nothing. It measures `userCreate` over HTTP, and how long 20,000 users take to provision. Then it measures how
 * long the questions of docs/auditing-access.md and a purge take beside 100,000 people and so many changes (1,000,000 and 10,000,000
 * unless given). Exits with 1 when the history costs `userCreate` more than 15 %, or provisioning more than 40 %. So it does when a
 * question takes more than 3 s, or a purge holds its lock for more than a tenth of a second.
 */
const rounds = 1000;
const users = 20_000;
const provisionings = 3;
const limits = { userCreate: 1.15, provisioning: 1.4, questionMs: 3000, purgeMs: 100 };
const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000_000, 10_000_000];

/** Takes the triggers of the history away. */
const forget = `
  do $$
  declare
    recording record;
  begin
    for recording in select tgname, tgrelid::regclass as relation from pg_trigger where tgname like 'audit\\_%' loop
      execute format('drop trigger %I on %s', recording.tgname, recording.relation);
    end loop;
  end
  $$`;

await using cluster = await startCluster();
const { postgres } = cluster;
const database = (name: string) => ({ owner: at(postgres.ownerUrl, name), auth: at(postgres.authUrl, name) });
await asOwner(at(postgres.ownerUrl, 'postgres'), 'create database recording template graph_query_service');
await asOwner(at(postgres.ownerUrl, 'postgres'), 'create database plain template graph_query_service');
await asOwner(at(postgres.ownerUrl, 'postgres'), 'create database grown template graph_query_service');
await asOwner(at(postgres.ownerUrl, 'plain'), forget);

const provisioning = await timeProvisioning(database('recording').owner, database('plain').owner);
const userCreate = await timeUserCreate(database('recording').auth, database('plain').auth);
console.table([userCreate, provisioning]);
const affordable = userCreate.ratio <= limits.userCreate && provisioning.ratio <= limits.provisioning;
process.exitCode = (await showGrowth(database('grown').owner)) && affordable ? 0 : 1;

/** @returns whether it is fast enough at every size */
async function showGrowth(ownerUrl: string): Promise<boolean> {
  const owner = cluster.ownerPool(ownerUrl);
  const grown = await measureGrowth(owner, sizes).finally(() => owner.end());
  const names = [...(grown[0]?.times.keys() ?? [])];
  const rows = names.map((name) => ({
    'ms, by changes': name,
    ...Object.fromEntries(grown.map(({ changes, times }) => [`${changes / 1e6} million`, format(times.get(name))])),
  }));
  console.log(table(rows, ''));
  return grown.every(({ times }) =>
    names.every((name) => {
      const time = times.get(name) ?? Number.POSITIVE_INFINITY;
      // The file system frees a month when PostgreSQL has committed and released its locks.
      if (name.endsWith('with its commit')) return true;
      return time <= (name.startsWith('Purge') ? limits.purgeMs : limits.questionMs);
    }),
  );
}

function format(ms = 0): string {
  return ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en');
}

/** In turns, so that whatever else the machine does falls on both; the median of each. */
async function timeUserCreate(recordingUrl: string, plainUrl: string) {
  await using recordingService = await cluster.startService(recordingUrl);
  await using plainService = await cluster.startService(plainUrl);
  const [recording, plain] = [await creatingOn(recordingService), await creatingOn(plainService)];
  const times: { recording: number[]; plain: number[] } = { recording: [], plain: [] };
  for (let round = -200; round < rounds; round++) {
    const pair = [recording(round), plain(round)] as const;
    // One after the other: both at once would share the processor.
    const first = round % 2 === 0 ? ['recording', 'plain'] : ['plain', 'recording'];
    for (const name of first as ('recording' | 'plain')[]) {
      const time = await (name === 'recording' ? pair[0]() : pair[1]());
      if (round >= 0) times[name].push(time);
    }
  }
  return compared('userCreate over HTTP', 'ms', median(times.recording), median(times.plain));
}

async function creatingOn({ url, getToken }: Awaited<ReturnType<typeof cluster.startService>>) {
  const send = sendWithToken(`${url}/graphql`, await getToken('bench'));
  const query = `mutation($email: String!) { userCreate(fullName: "Ada Lovelace", email: $email) { user { id } } }`;
  return (round: number) => async () => {
    const { answer, ms } = await send({ query, variables: { email: `round${round}@bench.test` } });
    if (!answer.includes('"id"')) throw new Error(answer);
    return ms;
  };
}

/** Each time into an organization of its own; the best of each. */
async function timeProvisioning(recordingUrl: string, plainUrl: string) {
  const urls = { recording: recordingUrl, plain: plainUrl };
  const best = { recording: Number.POSITIVE_INFINITY, plain: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < provisionings; turn++) {
    for (const name of ['recording', 'plain'] as const) {
      const start = performance.now();
      await provision(urls[name], turn);
      best[name] = Math.min(best[name], (performance.now() - start) / 1000);
    }
  }
  return compared(`provisioning ${users} users`, 's', best.recording, best.plain);
}

async function provision(ownerUrl: string, turn: number): Promise<void> {
  const people = Array.from({ length: users }, (_, number) => ({
    externalIdentifier: `user-${number}`,
    fullName: `User ${number}`,
    email: `user-${number}@bench.test`,
  }));
  const applications = turn === 0 ? [{ name: 'Bench', clientId: 'bench', clientSecret: cluster.clientSecret }] : [];
  await cluster.provision([{ name: `Bench ${turn}`, applications, users: people }], ownerUrl);
}

function compared(what: string, unit: string, recording: number, plain: number) {
  return {
    what,
    'with history': `${recording.toFixed(2)} ${unit}`,
    'without history': `${plain.toFixed(2)} ${unit}`,
    ratio: Number((recording / plain).toFixed(3)),
  };
}

function at(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

async function asOwner(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
