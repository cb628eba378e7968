/** Keeps the thread busy. */
export function compute(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}
