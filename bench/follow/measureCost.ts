import { withOwnerPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import { startTreeDatabase, type TreeService } from '../data/startTree.ts';
import { atLeast, type Measured } from '../support/measured.ts';

const phases = 10;
const roundsOfPhase = 100;
/** Short, so that both of a pair meet the machine in the same state. */
const requestsOfRound = 40;
const requestsToWarmUp = 2000;
const atOnce = 4;
const minRatio = 0.95;

/**
 * Crossover comparison of `userCreate` with the feed and without its trigger: requests a second.
 * Two services take turns, and change roles after each phase. So neither the state of the machine nor a difference between the processes
 * counts as a cost of the feed.
 */
export async function measureCost(): Promise<Measured[]> {
  await using resources = new AsyncDisposableStack();
  const start = async (): Promise<Service> => {
    const database = await startTreeDatabase();
    resources.defer(database.stop);
    const service = await database.startService({ THROTTLE_REQUESTS_PER_MINUTE: '1000000' });
    resources.defer(service.stop);
    return { ...service, ownerUrl: database.ownerUrl };
  };
  let [followed, other] = [await start(), await start()];

  const logarithms: number[] = [];
  for (let phase = 0; phase < phases; phase++) {
    await switchFeed(followed, 'enable');
    await switchFeed(other, 'disable');
    // Each connection plans anew what the switch has touched.
    for (const service of [followed, other]) await createUsers(service, requestsToWarmUp);
    for (let round = 0; round < roundsOfPhase; round++) {
      const ms = await createUsers(followed, requestsOfRound);
      logarithms.push(Math.log((await createUsers(other, requestsOfRound)) / ms));
    }
    [followed, other] = [other, followed];
  }
  return [atLeast('userCreate with the feed, by without it', Math.exp(trimmedMean(logarithms)), minRatio)];
}

type Service = TreeService & { readonly ownerUrl: string };

const switchFeed = ({ ownerUrl }: Service, state: 'enable' | 'disable') =>
  withOwnerPool(ownerUrl, createLog('error'), (owner) =>
    owner.query(`alter table app_public.users ${state} trigger follow_insert`),
  );

/** How many milliseconds as many requests take, some at once. */
async function createUsers(service: TreeService, requests: number): Promise<number> {
  const startedAt = performance.now();
  const sender = async () => {
    for (let count = 0; count < requests / atOnce; count++) await createUser(service);
  };
  await Promise.all(Array.from({ length: atOnce }, sender));
  return performance.now() - startedAt;
}

/**
 * Mean without the tenth at either end.
 * It is more precise than the median, and as little moved by what else the machine does for a moment.
 */
function trimmedMean(values: readonly number[]): number {
  const tenth = Math.floor(values.length / 10);
  const kept = values.toSorted((a, b) => a - b).slice(tenth, values.length - tenth);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

let created = 0;

/** @returns its id */
export async function createUser({ send }: TreeService): Promise<string> {
  const { text } = await send(document, { email: `bench-${created++}-${Date.now()}@tree.test` });
  return JSON.parse(text).data.userCreate.user.id;
}

const document = 'mutation ($email: String!) { userCreate(fullName: "Bench", email: $email) { user { id } } }';
