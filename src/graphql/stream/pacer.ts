/**
 * Spreads work over turns of the event loop: `perTurn` pieces begin in each, in the order of waiting.
 * If a socket takes a write at once, the write calls back within the same turn. So a stream with much to send would not end its turn.
 *
 * @returns what to await before each piece
 */
export function createPacer(perTurn: number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const begin = () => {
    for (const resolve of waiting.splice(0, perTurn)) resolve();
    if (waiting.length > 0) setImmediate(begin);
  };
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(begin);
    });
}
