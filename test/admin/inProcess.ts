import { Readable } from 'node:stream';
import { runAdmin } from '../../src/commands/admin/runAdmin.ts';
import { reportFailure } from '../../src/commands/reportFailure.ts';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { explainFailure, StartupError } from '../../src/errors/errors.ts';
import { testSecretKey } from '../support/service.ts';

/** What a command printed and how it ended; `result` is its JSON. */
export type Outcome = { code: number; result: Record<string, unknown>; stderr: string };

/** `admin <args>` in this process against the database of a test service. */
export async function admin(
  { ownerUrl }: { ownerUrl: string },
  args: string[],
  overrides: Record<string, string> = {},
): Promise<Outcome> {
  const environment = { DATABASE_URL: ownerUrl, SECRET_KEY: testSecretKey, ...overrides };
  const { code, stdout, stderr } = await adminInProcess(args, environment);
  return { code, result: stdout === '' ? {} : JSON.parse(stdout), stderr };
}

/** `admin <args>` as main does it, but in this process: with exactly these environment variables, to its end. */
export async function adminInProcess(args: string[], environment: Record<string, string>, input = '') {
  const output = { stdout: '', stderr: '' };
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const { write } = process[name];
    process[name].write = (text: unknown) => {
      output[name] += String(text);
      return true;
    };
    return () => {
      process[name].write = write;
    };
  });
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  const given = Readable.from([Buffer.from(input)]);
  Object.defineProperty(process, 'stdin', { ...stdin, get: () => given });
  try {
    const code = await runAdmin(args, () => loadConfig(environment, 'admin')).catch((error: unknown) => {
      if (error instanceof StartupError || error instanceof ConfigError || explainFailure(error))
        return reportFailure(error);
      throw error;
    });
    return { code, ...output };
  } finally {
    Object.defineProperty(process, 'stdin', stdin);
    for (const undo of restore) undo();
  }
}

/** The outcome is a success. */
export function expectDone(outcome: Outcome): Record<string, unknown> {
  expect({ code: outcome.code, stderr: outcome.stderr }).toEqual({ code: 0, stderr: '' });
  return outcome.result;
}

/** The outcome is a failure that says this. */
export function expectFailure(outcome: Outcome, message: string, code = 1): void {
  expect({ code: outcome.code, result: outcome.result }).toEqual({ code, result: {} });
  expect(outcome.stderr).toContain(message);
}
