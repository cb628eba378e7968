/**
 * Remembers that this test file has opened something.
 *
 * @returns what to call when it is closed
 */
export function opened(name: string): () => void {
  globalThis.openThings.add(name);
  return () => void globalThis.openThings.delete(name);
}

declare global {
  // Belongs to the test environment, which looks at it after the file's last hook.
  var openThings: Set<string>;
}
