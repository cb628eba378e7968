import { createFairQueue } from '../src/index.ts';
import { simulate } from './simulation/simulate.ts';

/**
 * `node packages/fair-queue/test/simulate.ts [seeds] [events] [first seed]`: the simulation of `simulation.search.ts` at length; unless
 * given, a hundred seeds of a million events. It prints what each seed found so far, and ends at the first fault.
 */
const [, , seeds = '100', events = '1000000', first = '1'] = process.argv;
const total = { seed: 0, events: 0, 'waits checked': 0, 'longest wait : formula': 0, 'processor s': 0 };
for (let seed = Number(first); seed < Number(first) + Number(seeds); seed++) {
  const report = simulate(createFairQueue, seed, Number(events));
  total.seed = seed;
  total.events += report.events;
  total['waits checked'] += report.waits;
  total['longest wait : formula'] = Math.max(total['longest wait : formula'], report.longestShare);
  total['processor s'] = process.cpuUsage().user / 1e6;
  console.log(JSON.stringify(total));
}
