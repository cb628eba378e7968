/** A process that sends webhooks of the database that it is given, until it is killed. It says when it has begun. */
import { startTestWorker } from './worker.ts';

const [authUrl = '', key = '', leaseMs] = process.argv.slice(2);
await startTestWorker({ authUrl }, { keys: [key], leaseMs: Number(leaseMs) });
process.send?.('sending');
