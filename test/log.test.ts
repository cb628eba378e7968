import { createLog, textOf } from '../src/log.ts';

describe('the log', () => {
  it('keeps of an error what is safe and nothing else', () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => lines.push(line) });
    const cause = Object.assign(new Error('outer'), {
      code: '23505',
      constraint: 'users_pkey',
      detail: 'Key (secret)',
    });
    const error = Object.assign(new Error('failed', { cause }), {
      body: 'password=secret',
      client: { password: 'secret' },
    });

    log.error({ error }, 'a request failed');

    const [line = '{}'] = lines;
    expect(JSON.parse(line)).toMatchObject({
      msg: 'a request failed',
      error: { message: 'failed', cause: { message: 'outer', code: '23505', constraint: 'users_pkey' } },
    });
    expect(line).not.toContain('secret');
  });

  it('is text for a terminal, in which nothing controls it', () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => lines.push(textOf(line)) });

    log.info('ready');
    log.warn({ path: '/\u001b[2J\u009b', requestId: { id: 'r-1' } }, 'request');
    log.error({ error: new Error('no\u001b[2J') }, 'failed');

    expect(lines).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d info {2}ready\n$/),
      expect.stringMatching(/^\d\d:\d\d:\d\d warn {2}request path='\/\\x1B\[2J\\x9B' requestId='r-1'\n$/),
      expect.stringMatching(
        /^\d\d:\d\d:\d\d error failed\n\{\n {2}name: 'Error',\n {2}message: 'no\\x1B\[2J',\n {2}stack: /,
      ),
    ]);
  });
});
