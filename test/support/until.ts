import { setTimeout as delay } from 'node:timers/promises';

/** Resolves as soon as the condition holds; for what announces itself in no other way. Fails after a minute, which only a
 * hang takes. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`This did not come true: ${condition}`);
    await delay(20);
  }
}
