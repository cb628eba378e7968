import { readFile } from 'node:fs/promises';

/** Steal time: the part of all processor time, from 0 to 1, that the hypervisor gave to other machines since. See proc_stat(5). */
export async function watchStolen(): Promise<() => Promise<number>> {
  const before = await readTimes();
  return async () => {
    const after = await readTimes();
    return (after.stolen - before.stolen) / (after.all - before.all);
  };
}

async function readTimes() {
  const [, ...times] = (await readFile('/proc/stat', 'utf8')).split('\n', 1)[0]?.split(/\s+/) ?? [];
  // user, nice, system, idle, iowait, irq, softirq, steal; what guests take is in user already.
  const ticks = times.slice(0, 8).map(Number);
  return { stolen: ticks[7] ?? 0, all: ticks.reduce((sum, tick) => sum + tick, 0) };
}
