import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TreeDatabase, TreeService } from '../data/startTree.ts';
import { toTable } from '../support/toTable.ts';
import { heapParts } from './heapParts.ts';

/** Where the memory of a service at rest goes, in Markdown: before and after its offload thread has started, and the main heap by its parts. */
export async function measureRest(database: TreeDatabase): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heaps-'));
  const reportHeap = `--import=${new URL('reportHeap.ts', import.meta.url)}`;
  const service = await database.startService({ NODE_OPTIONS: reportHeap, HEAPS_FOLDER: folder });
  try {
    await delay(settleMs);
    const before = await residentParts(service, folder);
    const { status } = await service.send(long);
    if (status !== 200) throw new Error(`The service answered ${status}.`);
    await delay(settleMs);
    const after = await residentParts(service, folder);
    // Last, since a snapshot takes more memory than the service.
    process.kill(service.pid, 'SIGUSR2');
    const snapshot = join(folder, 'main.heapsnapshot');
    while (!existsSync(snapshot)) await delay(200);
    const heap = await heapParts(snapshot);

    const resident = [...after].map(([name, bytes]) => [name, inMegabytes(before.get(name) ?? 0), inMegabytes(bytes)]);
    const parts = [...heap].map(([name, bytes]) => [name, inMegabytes(bytes)]);
    return [
      toTable([['Resident at rest, MB', 'at start', 'with the offload thread'], ...resident]),
      toTable([['Heap of the main thread, what is in use, MB', ''], ...parts]),
    ].join('\n\n');
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
}

const settleMs = 8000;
/** More values than the main thread writes. */
const long =
  'query Long { app { users(first: 1000) { nodes { id fullName email locale timeZone externalIdentifier } } } }';

/** By proc_pid_smaps(5) and by V8's statistics. The parts add up to the whole. */
async function residentParts({ pid, residentBytes }: TreeService, folder: string) {
  const heapOf = async (thread: number) =>
    Number(await readFile(join(folder, `${thread}.json`), 'utf8').catch(() => 0));
  const parts = new Map([
    ['program and libraries', 0],
    ['allocated by malloc', 0],
    ['heap of the main thread', await heapOf(0)],
    ['heap of the offload thread', await heapOf(1)],
  ]);
  let path = '';
  for (const line of (await readFile(`/proc/${pid}/smaps`, 'utf8')).split('\n')) {
    path = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+ *(.*)$/.exec(line)?.[1] ?? path;
    const [, kibibytes] = /^Rss: +(\d+) kB$/.exec(line) ?? [];
    const part = path.startsWith('/') ? 'program and libraries' : path === '[heap]' ? 'allocated by malloc' : null;
    if (kibibytes && part) parts.set(part, (parts.get(part) ?? 0) + Number(kibibytes) * 1024);
  }
  const whole = await residentBytes();
  const rest = [...parts.values()].reduce((left, bytes) => left - bytes, whole);
  return new Map([...parts, ['large buffers, stacks, compiled code', rest], ['together', whole]]);
}

const inMegabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
