import { unwatchFile, watchFile } from 'node:fs';

/** How long a change may stay unseen, in milliseconds. */
const interval = 100;

/**
 * Calls back after a file changed, appeared or vanished, however it was written. Asked for again and again, since editors
 * replace files, and network and container mounts announce nothing.
 */
export function watchFiles(paths: readonly string[], onChange: () => void): { stop(): void } {
  for (const path of paths) watchFile(path, { interval }, onChange);
  return {
    stop() {
      for (const path of paths) unwatchFile(path, onChange);
    },
  };
}
