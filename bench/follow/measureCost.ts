import { withOwnerPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import type { TreeService } from '../data/startTree.ts';
import { atLeast, type Measured, percentile } from '../measured.ts';

const rounds = 24;
const perRound = 300;
const atOnce = 4;
const minRatio = 0.95;

/** `userCreate` with the feed and without its trigger, in turns: requests a second. */
export function measureCost(service: TreeService, ownerUrl: string): Promise<Measured[]> {
  return withOwnerPool(ownerUrl, createLog('error'), async (owner) => {
    const switchFeed = (state: 'enable' | 'disable') =>
      owner.query(`alter table app_public.users ${state} trigger follow_insert`);
    let number = 0;
    const round = async (): Promise<number> => {
      const startedAt = performance.now();
      const sender = async () => {
        for (let count = 0; count < perRound / atOnce; count++) await createUser(service, number++);
      };
      await Promise.all(Array.from({ length: atOnce }, sender));
      return performance.now() - startedAt;
    };
    await round();
    const ratios: number[] = [];
    for (let count = 0; count < rounds; count++) {
      // One after the other, and each of both as often first.
      const order = count % 2 === 0 ? (['enable', 'disable'] as const) : (['disable', 'enable'] as const);
      const ms = { enable: 0, disable: 0 };
      for (const state of order) {
        await switchFeed(state);
        ms[state] = await round();
      }
      ratios.push(ms.disable / ms.enable);
    }
    await switchFeed('enable');
    return [atLeast('userCreate with the feed, by without it', percentile(ratios, 0.5), minRatio)];
  });
}

export async function createUser({ send }: TreeService, number: number): Promise<string> {
  const email = `bench-${number}-${Date.now()}@tree.test`;
  const { text } = await send(document, { email });
  return JSON.parse(text).data.userCreate.user.id;
}

const document = 'mutation ($email: String!) { userCreate(fullName: "Bench", email: $email) { user { id } } }';
