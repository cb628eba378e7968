import { atLeast, atMost, type Measured, median } from '../support/measured.ts';
import type { Send } from './sendWithToken.ts';

const perRequest = 1000;
const rounds = 7;
const limits = { changedMs: 500, unchangedMs: 100, allSeconds: 40, ratio: 0.8 };

/** `usersSync` of a thousand, and of all `users`, in turns with hand-written SQL. */
export async function timeSync({ users, ours, sql }: { users: number; ours: Send; sql: Send }): Promise<Measured[]> {
  const total = { ours: 0, sql: 0 };
  for (let first = 0; first < users; first += perRequest) {
    const people = peopleFrom(first, 'User');
    total.ours += await sync(ours, people, 'CREATED');
    total.sql += (await sql({ operationName: 'usersSync', variables: { users: people } })).ms;
  }

  const changed: number[] = [];
  const unchanged: number[] = [];
  const changedBySql: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const people = peopleFrom(0, `Changed ${round}`);
    changed.push(await sync(ours, people, 'UPDATED'));
    changedBySql.push((await sql({ operationName: 'usersSync', variables: { users: people } })).ms);
    unchanged.push(await sync(ours, people, 'UNCHANGED'));
  }

  const requests = users / perRequest;
  const seconds = total.ours / 1000;
  return [
    atMost('usersSync of 1,000 changed users', median(changed), limits.changedMs, 'ms'),
    atMost('usersSync of 1,000 unchanged users', median(unchanged), limits.unchangedMs, 'ms'),
    atMost(`${users} new users in ${requests} requests`, seconds, (limits.allSeconds * users) / 100_000, 's'),
    atLeast(`${users} new users, hand-written SQL by ours`, total.sql / total.ours, limits.ratio),
    atLeast('1,000 changed users, hand-written SQL by ours', median(changedBySql) / median(changed), limits.ratio),
  ];
}

const document = `mutation($users: [UserSyncInput!]!) {
  usersSync(users: $users) { results { externalIdentifier outcome error { code message } } } }`;

async function sync(ours: Send, users: readonly object[], outcome: string): Promise<number> {
  const { answer, ms } = await ours({ query: document, variables: { users } });
  const count = answer.split(`"outcome":"${outcome}"`).length - 1;
  if (count !== users.length) throw new Error(`${count} of ${users.length} are ${outcome}: ${answer.slice(0, 500)}`);
  return ms;
}

const peopleFrom = (first: number, name: string) =>
  Array.from({ length: perRequest }, (_, index) => ({
    externalIdentifier: `user-${first + index}`,
    fullName: `${name} ${first + index}`,
    email: `user-${first + index}@bench.test`,
    locale: 'de',
    timeZone: 'Europe/Berlin',
  }));
