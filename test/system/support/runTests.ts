import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Runs test files in a process of their own. Resolves to its exit code and the lines of its output that name failures. */
export async function runTests(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ status: number; failures: readonly string[] }> {
  const child = spawn('npm', ['run', '-s', 'test:run', '--', ...args], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    env: { ...process.env, ...environment },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const [status] = (await once(child, 'close')) as [number];
  return { status, failures: output.split('\n').filter((line) => /^(FAIL| {2}●)/.test(line)) };
}

export const passed = { status: 0, failures: [] };
