import { statSync } from 'node:fs';

/** How long a change may stay unseen, in milliseconds. */
const interval = 100;

/**
 * Polling: calls back after a file changed, appeared or vanished, from the moment of the call on.
 * Editors replace files, and network and container mounts announce nothing. (`fs.watchFile` takes what its first look finds for the
 * beginning, which is later: a save before that would go unseen.)
 */
export function watchFiles(paths: readonly string[], onChange: () => void): { stop(): void } {
  let seen = stateOf(paths);
  const timer = setInterval(() => {
    const now = stateOf(paths);
    if (now === seen) return;
    seen = now;
    onChange();
  }, interval);
  return { stop: () => clearInterval(timer) };
}

function stateOf(paths: readonly string[]): string {
  const stats = paths.map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return stats.map((stat) => (stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : 'none')).join();
}
