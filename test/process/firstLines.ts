import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { commandPath } from '../support/commandPath.ts';
import type { TestProcess } from '../support/process.ts';

/** The command that `npm start` shows for a first request. */
export function commandOf(service: TestProcess): string {
  return /^curl .*$/m.exec(service.output.stdout)?.[0] ?? '';
}

/** The secret, the password and the external token of the demo. */
export function secretsOf(service: TestProcess): string[] {
  const credentials = service.output.stdout.match(/^Demo credentials .*$/gm) ?? [];
  const secrets = [
    ...credentials.join().matchAll(/(?:client_secret|password|external_authentication_token) ([^\s,;]+)/g),
  ];
  expect(secrets).toHaveLength(3);
  return secrets.map(([, secret = '']) => secret);
}

/** Runs a command in a shell. @returns what it prints */
export async function paste(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { PATH: commandPath } });
  return stdout;
}
