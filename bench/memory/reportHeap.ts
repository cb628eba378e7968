import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getHeapStatistics, writeHeapSnapshot } from 'node:v8';
import { isMainThread, threadId } from 'node:worker_threads';

/** Loaded before the service (`--import`): each thread reports its heap twice a second, and the main one writes a snapshot at SIGUSR2. */
const { HEAPS_FOLDER } = process.env;
if (HEAPS_FOLDER) {
  const report = () =>
    writeFileSync(join(HEAPS_FOLDER, `${threadId}.json`), JSON.stringify(getHeapStatistics().total_physical_size));
  setInterval(report, 500).unref();
  const write = () => {
    const file = join(HEAPS_FOLDER, 'main.heapsnapshot');
    renameSync(writeHeapSnapshot(`${file}.part`), file);
  };
  if (isMainThread) process.on('SIGUSR2', write);
}
