export type Resources = { defer(end: () => unknown): void };

/** A stack of clean-ups, the newest first: `AsyncDisposableStack`, which Node.js 22 does not have. */
export function createResources(): Resources & { disposeAsync(): Promise<void> } {
  const ends: (() => unknown)[] = [];
  const disposeAsync = async (): Promise<void> => {
    const end = ends.pop();
    try {
      await end?.();
    } finally {
      // The others run even if one fails.
      if (end) await disposeAsync();
    }
  };
  return { defer: (end) => void ends.push(end), disposeAsync };
}
