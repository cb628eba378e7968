import { atLeast, type Measured, median } from '../support/measured.ts';
import type { Send } from './sendWithToken.ts';
import type { statements } from './statements.ts';

const connections = 10;
const seconds = 1;
/** The first is not counted: both compile, and fill their caches. */
const rounds = 6;
const minRatio = 0.85;

/** Single mutations, in turns with hand-written SQL: how many are done in a second on ten connections. */
export async function timeMutations({
  users,
  ours,
  sql,
}: {
  users: number;
  ours: Send;
  sql: Send;
}): Promise<Measured[]> {
  const measured: Measured[] = [];
  const perTurn = Math.floor(users / (rounds + 1));
  for (const [operationName, document] of Object.entries(documents)) {
    const ratios: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const from = round * perTurn;
      const turns = [
        () => countIn(ours, from, (n) => ({ query: document, variables: variablesOf(n) })),
        () => countIn(sql, from, (n) => ({ operationName, variables: variablesOf(n) })),
      ];
      const counts: number[] = [];
      for (const index of round % 2 ? [1, 0] : [0, 1]) counts[index] = (await turns[index]?.()) ?? 0;
      if (round > 0) ratios.push((counts[0] ?? 0) / (counts[1] ?? 0));
    }
    measured.push(atLeast(`${operationName}, ours by hand-written SQL`, median(ratios), minRatio));
  }
  return measured;
}

const documents: Readonly<Record<Exclude<keyof typeof statements, 'usersSync' | 'cardsSync' | 'cardsAssign'>, string>> =
  {
    unitCreate: `mutation($name: String!, $identifier: String, $parent: String) {
    unitCreate(name: $name, externalIdentifier: $identifier, parentExternalIdentifier: $parent) { unit { id } } }`,
    cardCreateAndAssign: `mutation($name: String!, $identifier: String, $nfcIdentifier: String!, $user: String) {
    nfcCardCreate(name: $name, nfcIdentifier: $nfcIdentifier, externalIdentifier: $identifier) { card { id } }
    cardAssign(cardExternalIdentifier: $identifier, userExternalIdentifier: $user) { cardAssignment { id } } }`,
    accessGrant: `mutation($user: String, $parent: String) {
    accessGrant(userExternalIdentifier: $user, unitExternalIdentifier: $parent) { accessGrant { id } } }`,
  };

/** Different ones for each number: what is granted is new. */
const variablesOf = (n: number) => ({
  name: `Number ${n}`,
  identifier: `made-${n}`,
  nfcIdentifier: n.toString(16).padStart(8, '0'),
  user: `user-${n}`,
  parent: 'hq',
});

async function countIn(send: Send, from: number, bodyOf: (n: number) => object): Promise<number> {
  let count = 0;
  const end = performance.now() + seconds * 1000;
  const sendAll = async () => {
    while (performance.now() < end) {
      const { answer } = await send(bodyOf(from + count++));
      if (!answer.startsWith('{"data":{"') || answer.includes('"errors"') || answer === '{"data":{}}')
        throw new Error(`The answer is ${answer}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, sendAll));
  return count;
}
