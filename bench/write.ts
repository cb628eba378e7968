import { startCluster } from './data/startCluster.ts';
import { sendWithToken } from './write/sendWithToken.ts';
import { serveSql } from './write/serveSql.ts';
import { timeBadges } from './write/timeBadges.ts';
import { timeMove } from './write/timeMove.ts';
import { timeMutations } from './write/timeMutations.ts';
import { timeSync } from './write/timeSync.ts';

/**
 * `npm run -s bench write [users]`: how long writing takes over HTTP, and beside hand-written SQL under the same policies. `usersSync` of
 * 1,000 rows, changed and unchanged, and of 100,000 users in 100 requests, in turns with one `insert … on conflict` for each 1,000. Then
 * 5,000 people with badges, single mutations, and a move. Exits with 1 when a bound is missed.
 */
const users = Number(process.argv[2] ?? 100_000);

await using cluster = await startCluster();
const units = ['hq', 'annex'].map((name) => ({ externalIdentifier: name, name }));
await cluster.provision(
  ['ours', 'sql'].map((name) => ({
    name,
    applications: [{ name, clientId: name, clientSecret: cluster.clientSecret }],
    units,
  })),
);
await using service = await cluster.startService();
await using resources = new AsyncDisposableStack();
const handWritten = await serveSql(cluster.postgres.authUrl);
resources.defer(handWritten.stop);

const ours = sendWithToken(`${service.url}/graphql`, await service.getToken('ours'));
const sql = sendWithToken(handWritten.url, await service.getToken('sql'));
const rows = [
  ...(await timeSync({ users, ours, sql })),
  ...(await timeBadges({ ours, sql })),
  ...(await timeMutations({ users, ours, sql })),
  ...(await timeMove({ ours, other: sendWithToken(`${service.url}/graphql`, await service.getToken('sql')) })),
];
console.table(rows);
process.exitCode = rows.every(({ isMet }) => isMet) ? 0 : 1;
