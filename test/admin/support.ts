import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../support/process.ts';

/** `npm run -s admin -- <args>` with exactly these environment variables and a cache of compiled modules, to its end. */
export async function runAdmin(args: string[], environment: Record<string, string>, input = '') {
  const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: compileCache, ...environment };
  const child = spawn(process.execPath, [main, 'admin', ...args], { env });
  // It may end without reading.
  child.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, stdout, stderr };
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
