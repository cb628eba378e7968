import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { opened } from './openThings.ts';

export type TestProcess = {
  pid: number;
  output: { stdout: string; stderr: string };
  /** Resolves when stdout or stderr contains the text; rejects when the process ends without it. */
  says(text: string): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** To the whole process group, as a terminal's Ctrl-C or a supervisor's last resort does. */
  signalGroup(signal: NodeJS.Signals): void;
  /** Whether it is still there. */
  running: boolean;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

/** The Node.js that runs it, and its options, and as whom it runs. */
export type ProcessOptions = { node?: string; flags?: string[]; uid?: number; gid?: number };

/**
 * `node src/main.ts …` in a process group of its own, with exactly these environment variables and the cache of compiled modules that
 * `npm start` has; `root` is another copy of this repository.
 */
export function startProcess(
  args: string[],
  environment: Record<string, string>,
  root = repository,
  { node = process.execPath, flags = [], ...user }: ProcessOptions = {},
): TestProcess {
  const main = join(root, 'src/main.ts');
  const options = { cwd: root, env: { NODE_COMPILE_CACHE: compileCache, ...environment }, detached: true, ...user };
  const child = spawn(node, [...flags, main, ...args], options);
  const closed = opened(`process ${child.pid}`);
  const output = { stdout: '', stderr: '' };
  const heard = new EventTarget();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      heard.dispatchEvent(new Event('text'));
    });
  }
  const exited = ended(child).finally(closed);
  let running = true;
  void exited.then(() => {
    running = false;
  });

  return {
    pid: child.pid ?? 0,
    output,
    exited,
    get running() {
      return running;
    },
    says: (text) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (output.stdout.includes(text) || output.stderr.includes(text)) resolve();
        };
        heard.addEventListener('text', check);
        check();
        void exited.then(() =>
          reject(new Error(`It ended without saying "${text}":\n${output.stdout}${output.stderr}`)),
        );
      }),
    signal: (signal) => void child.kill(signal),
    signalGroup: (signal) => void (child.pid && process.kill(-child.pid, signal)),
  };
}

/** After the streams are read to their ends. */
async function ended(child: ChildProcess) {
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal };
}

const repository = fileURLToPath(new URL('../..', import.meta.url));
/** The cache of compiled modules, with which processes start in half the time. */
export const compileCache = join(repository, 'node_modules/.cache/node');
