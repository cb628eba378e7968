/** Does the work while each turn of this thread's event loop takes so long at least, as on a busy machine. */
export async function withSlowTurns<T>(turnMs: number, work: () => Promise<T>): Promise<T> {
  const waste = () => {
    const end = performance.now() + turnMs;
    while (performance.now() < end);
    next = setImmediate(waste);
  };
  let next = setImmediate(waste);
  try {
    return await work();
  } finally {
    clearImmediate(next);
  }
}
