import { createLog } from '../src/log.ts';

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
});
