/** Each number begins a million that nobody else has: for requests that can be sent once only. */
export function createNumbers(): () => number {
  let last = 0;
  return () => {
    last += 1_000_000;
    return last;
  };
}
