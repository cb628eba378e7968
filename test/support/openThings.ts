/**
 * Remembers that the test file that runs has opened something.
 *
 * @returns what to call when it is closed
 */
export function opened(name: string): () => void {
  open.add(name);
  return () => void open.delete(name);
}

/** Returns the things that a test file left open, and forgets them. The next file of the worker would meet them. */
export function takeLeftOpen(): string[] {
  const left = [...open];
  open.clear();
  return left;
}

const open = new Set<string>();
