import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The processor time of a process so far, all of its threads together, in milliseconds; Linux counts in steps of 10. */
export async function processMs(pid: number): Promise<number> {
  const { own } = await readStat(pid);
  return own;
}

/** The processor time of a PostgreSQL server so far: of all of its processes, those that have ended included. */
export async function postgresMs(cluster: string): Promise<number> {
  const postmaster = await postmasterOf(cluster);
  const { own, ended } = await readStat(postmaster);
  let sum = own + ended;
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readStat(Number(entry)).catch(() => null);
    if (stat?.parent === postmaster) sum += stat.own;
  }
  return sum;
}

/** The process of a PostgreSQL server that has started the others. */
export async function postmasterOf(cluster: string): Promise<number> {
  const [pid] = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n');
  return Number(pid);
}

/** The running child processes of a process: the sessions of a postmaster, the workers of a supervisor. */
export async function childrenOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

/** Resident memory in megabytes. */
export async function residentMegabytes(pid: number): Promise<number> {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kibibytes) * 1024) / 1e6;
}

/** proc(5): the fields behind the name, which may contain anything, are the 3rd and so on. */
async function readStat(pid: number): Promise<{ parent: number; own: number; ended: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
  return { parent: fields[1] ?? 0, own: (utime + stime) * tickMs, ended: (cutime + cstime) * tickMs };
}

/** `getconf CLK_TCK` is 100 on every Linux that Node.js runs on. */
const tickMs = 10;
