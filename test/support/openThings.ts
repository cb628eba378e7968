/**
 * Remembers that the test file that runs has opened something.
 *
 * @returns what to call when it is closed
 */
export function opened(name: string): () => void {
  open.add(name);
  return () => void open.delete(name);
}

/**
 * Forgets and throws what the test file that has run left open: the next start of the same thing would fail, too.
 */
export function expectNothingOpen(): void {
  const left = [...open];
  open.clear();
  if (left.length > 0) throw new Error(`This file has left open: ${left.join(', ')}`);
}

/** What was opened so far is not the file's, but lasts as long as the worker. */
export function forgetOpened(): void {
  open.clear();
}

const open = new Set<string>();
