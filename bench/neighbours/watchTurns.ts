import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before the service (`--import`): notes how long the main thread has computed in each turn of its event loop that took more than
 * 10 ms. It measures processor time, since by the clock a turn also includes the time that other processes take. A timer of a millisecond
 * is called once in a turn at most.
 */
export type Turn = { readonly endedAt: number; readonly cpuMs: number };

const { TURNS_FILE } = process.env;
if (isMainThread && TURNS_FILE) {
  const turns: Turn[] = [];
  let before = process.threadCpuUsage();
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    const cpuMs = (user + system) / 1000;
    if (cpuMs > 10) turns.push({ endedAt: Date.now(), cpuMs });
  }, 1).unref();
  process.once('exit', () => writeFileSync(TURNS_FILE, JSON.stringify(turns)));
}
