/** Each number begins a million numbers that no other sender has: for requests that can be sent only once. */
export function createNumbers(): () => number {
  let last = 0;
  return () => {
    last += 1_000_000;
    return last;
  };
}
