import { readFile } from 'node:fs/promises';
import { logFailure, StartupError } from '../../src/errors/errors.ts';
import { createLog } from '../../src/log.ts';

/** The lines that a log of this level has of an error, without their times. */
function linesOf(level: string, error: unknown): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(level, { write: (line) => void lines.push(JSON.parse(line)) });
  logFailure(log, 'warn', { variable: 'DATABASE_URL', error }, 'not yet');
  return lines.map(({ time, ...line }) => line);
}

test('a failure with an explanation has its stack at debug only', async () => {
  const error = await readFile('/nowhere').catch((error: unknown) => error);
  const cause = 'Cannot open /nowhere: no such file or directory (ENOENT). Put it there, or correct the path.';
  const line = { level: 40, variable: 'DATABASE_URL', cause, msg: 'not yet' };

  expect(linesOf('info', error)).toEqual([line]);
  expect(linesOf('debug', error)).toEqual([line, expect.objectContaining({ level: 20, error: expect.anything() })]);
});

test('a sentence of ours explains itself, and a fault has its stack', () => {
  expect(linesOf('info', new StartupError('Migrations are behind.'))).toMatchObject([
    { cause: 'Migrations are behind.' },
  ]);
  expect(linesOf('info', new TypeError('x is undefined'))).toMatchObject([
    { error: { message: 'x is undefined', stack: expect.stringContaining('logFailure.test.ts') } },
  ]);
});
