import { atMost, type Measured } from '../support/measured.ts';
import type { Send } from './sendWithToken.ts';

const below = 10_000;
const perRequest = 1000;
const limits = { moveMs: 1000, otherMs: 250 };

/** A move of a unit with ten thousand below it, and how long a write of another organization takes meanwhile. */
export async function timeMove({ ours, other }: { ours: Send; other: Send }): Promise<Measured[]> {
  for (let first = 0; first < below; first += perRequest)
    await sendTo(ours, sync, { units: Array.from({ length: perRequest }, (_, index) => unitAt(first + index)) });

  const moves: number[] = [];
  const others: number[] = [];
  for (const parent of ['annex', 'hq', 'annex', 'hq', 'annex']) {
    let isMoving = true;
    const moving = sendTo(ours, move, { parent }).finally(() => {
      isMoving = false;
    });
    while (isMoving) others.push(await sendTo(other, create, { name: `Beside ${others.length}` }));
    moves.push(await moving);
  }
  return [
    atMost(`a move with ${below} below it`, Math.max(...moves), limits.moveMs, 'ms'),
    atMost(`the longest of ${others.length} writes of another organization`, Math.max(...others), limits.otherMs, 'ms'),
  ];
}

/** A tree of ten below each, of which the first is moved. */
const unitAt = (index: number) => ({
  externalIdentifier: `tree-${index}`,
  name: `Tree ${index}`,
  parentExternalIdentifier: index === 0 ? 'hq' : `tree-${Math.floor((index - 1) / 10)}`,
});

const sync = 'mutation($units: [UnitSyncInput!]!) { unitsSync(units: $units) { results { outcome } } }';
const move = `mutation($parent: String) {
  unitUpdate(externalIdentifier: "tree-0", parentExternalIdentifier: $parent) { unit { id } } }`;
const create = 'mutation($name: String!) { unitCreate(name: $name, parentExternalIdentifier: "hq") { unit { id } } }';

async function sendTo(send: Send, query: string, variables: object): Promise<number> {
  const { answer, ms } = await send({ query, variables });
  if (!answer.startsWith('{"data":{"') || answer.includes('"errors"') || answer.includes('REFUSED'))
    throw new Error(`The answer is ${answer.slice(0, 500)}`);
  return ms;
}
