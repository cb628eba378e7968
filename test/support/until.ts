import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves as soon as the condition holds; for what announces itself in no other way. Fails after a minute, which only a hang takes.
 * The pauses grow with the wait, from 5 to 100 ms: most waits are short, and to ask takes a core from what is awaited.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const begunAt = Date.now();
  while (!(await condition())) {
    const waited = Date.now() - begunAt;
    if (waited > 60_000) throw new Error(`This did not come true: ${condition}`);
    await delay(Math.min(5 + waited / 5, 100));
  }
}
