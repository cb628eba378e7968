/**
 * Remembers that the test file that runs has opened something.
 *
 * @returns what to call when it is closed
 */
export function opened(name: string): () => void {
  open.add(name);
  return () => void open.delete(name);
}

/** Forgets what is open, and tells: what the test file that has run left, which the next start of the same would meet. */
export function takeLeftOpen(): string[] {
  const left = [...open];
  open.clear();
  return left;
}

const open = new Set<string>();
