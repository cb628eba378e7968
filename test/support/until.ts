import { setTimeout as delay } from 'node:timers/promises';

/** Resolves as soon as the condition holds; for what announces itself in no other way. Jest's timeout bounds it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20);
}
