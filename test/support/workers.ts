import { readFile } from 'node:fs/promises';
import type { TestProcess } from './process.ts';

/** The numbers of the processes that a supervisor has serve. */
export async function workersOf({ pid }: Pick<TestProcess, 'pid'>): Promise<number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean);
  const commands = await Promise.all(
    // It may have ended meanwhile.
    children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
  );
  return children.filter((_, index) => commands[index]?.includes('src/main.ts')).map(Number);
}

/** Where a process says that it is. */
export function addressOf({ output }: Pick<TestProcess, 'output'>): string {
  return /Graph Query Service: (http\S+)/.exec(output.stdout)?.[1] ?? '';
}
