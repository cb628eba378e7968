import { statSync } from 'node:fs';

/** How long a change may go unnoticed, in milliseconds. */
const interval = 100;

/**
 * Polls files from the call on: calls back after a file has changed, appeared or vanished.
 * Editors replace files, and network and container mounts send no events. `fs.watchFile` compares with its own first look, which comes
 * later: it would miss a save before that.
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
