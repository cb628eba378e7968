const now = Date.now;
let stoppedAt = 0;

/**
 * Stops the clock of this process, in which the service runs, so that however long a test takes, it takes no time; the
 * database's goes on.
 */
export function stopClock(): void {
  stoppedAt = now();
  moveClock(0);
}

/** Puts the stopped clock so many seconds ahead of when it was stopped. */
export function moveClock(seconds: number): void {
  Date.now = () => stoppedAt + seconds * 1000;
}

export function startClock(): void {
  Date.now = now;
}
