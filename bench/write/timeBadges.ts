import { atLeast, atMost, type Measured } from '../support/measured.ts';
import type { Send } from './sendWithToken.ts';

const perRequest = 1000;
const requests = 10;
const limits = { seconds: 8, ratio: 0.5 };

/** 5,000 people with a badge each, in ten requests of `usersSync` and `cardsSync`, in turns with hand-written SQL. */
export async function timeBadges({ ours, sql }: { ours: Send; sql: Send }): Promise<Measured[]> {
  const total = { ours: 0, sql: 0 };
  for (let request = 0; request < requests; request++) {
    const first = Math.floor(request / 2) * perRequest;
    const [operationName, variables] =
      request % 2 === 0
        ? (['usersSync', { users: holdersFrom(first) }] as const)
        : (['cardsSync', { cards: badgesFrom(first) }] as const);
    const { answer, ms } = await ours({ query: documents[operationName], variables });
    const created = answer.split('"outcome":"CREATED"').length - 1;
    if (created !== perRequest) throw new Error(`${created} of ${perRequest} are new: ${answer.slice(0, 500)}`);
    total.ours += ms;
    total.sql += (await sql({ operationName, variables })).ms;
    // Holders are given in a statement of their own.
    if (operationName === 'cardsSync') total.sql += (await sql({ operationName: 'cardsAssign', variables })).ms;
  }
  return [
    atMost('5,000 people with badges in ten requests', total.ours / 1000, limits.seconds, 's'),
    atLeast('5,000 people with badges, hand-written SQL by ours', total.sql / total.ours, limits.ratio),
  ];
}

const documents = {
  usersSync: `mutation($users: [UserSyncInput!]!) {
    usersSync(users: $users) { results { externalIdentifier outcome error { code message } } } }`,
  cardsSync: `mutation($cards: [CardSyncInput!]!) {
    cardsSync(cards: $cards) { results { externalIdentifier outcome error { code message } } } }`,
};

const numbersFrom = (first: number) => Array.from({ length: perRequest }, (_, index) => first + index);

const holdersFrom = (first: number) =>
  numbersFrom(first).map((number) => ({
    externalIdentifier: `holder-${number}`,
    fullName: `Holder ${number}`,
    email: `holder-${number}@bench.test`,
    locale: 'de',
    timeZone: 'Europe/Berlin',
  }));

const badgesFrom = (first: number) =>
  numbersFrom(first).map((number) => ({
    externalIdentifier: `badge-${number}`,
    name: 'Badge',
    nfcIdentifier: `04${number.toString(16).padStart(12, '0')}`,
    userExternalIdentifier: `holder-${number}`,
  }));
