import { read } from './support.ts';

// deploy/cells/haproxy.cfg: test/system/proxies.system.ts starts it where HAProxy is installed.

test('the proxy repeats nothing that may have been executed, and logs no path', async () => {
  const text = (await read('deploy/cells/haproxy.cfg')).replaceAll(/^\s*#.*$/gm, '');
  const settings = text.split('\n').map((line) => line.trim().split(/\s+/));

  expect(settings.filter(([name]) => name === 'retry-on')).toEqual([['retry-on', 'conn-failure']]);
  expect(text).not.toMatch(/%HP|%HU|%r\b|%HQ|option httplog/);
});
