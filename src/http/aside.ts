let count = 0;

/**
 * Does for a request what needs neither this thread nor a connection of its pool, such as waiting for another thread. Others
 * are let in in its place meanwhile; how many may do so at once is for the caller to limit.
 */
export async function stepAside<T>(work: () => Promise<T>): Promise<T> {
  count++;
  try {
    return await work();
  } finally {
    count--;
  }
}

/** How many requests do so now, in this process. */
export const asideCount = (): number => count;
