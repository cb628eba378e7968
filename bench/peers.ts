import { comparePeers } from './peers/comparePeers.ts';
import { compareSizes } from './peers/compareSizes.ts';
import { exitOnSignals } from './peers/exitOnSignals.ts';
import { installPeers } from './peers/installPeers.ts';
import { readOptions } from './peers/options.ts';

/**
 * `npm run bench peers`: the service beside PostGraphile as it comes, Apollo Server, Mercurius and hand-written SQL. Exits with 1
 * when it misses a target. To try something: `npm run bench peers -- --only ours,sql --query Q2 --seconds 1 --rounds 2`.
 *
 * `npm run bench peers large`: the service with 10 million users and 1 million units beside itself with 100,000 and 20,000. The data
 * take a quarter of an hour on a quiet machine and 15 GB the first time.
 */
exitOnSignals();
const options = readOptions(process.argv.slice(2));
if (!options.large) installPeers(options.peers);
process.exitCode = (await (options.large ? compareSizes(options) : comparePeers(options))) ? 0 : 1;
