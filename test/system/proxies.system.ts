/** deploy/cells: HAProxy leads host names to cells, and sends a request once. HAPROXY names another program than `haproxy`. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/until.ts';

const program = process.env.HAPROXY ?? 'haproxy';
const configuration = fileURLToPath(new URL('../../deploy/cells/haproxy.cfg', import.meta.url));

const isInstalled = (() => {
  try {
    execFileSync(program, ['-v']);
    return true;
  } catch {
    return false;
  }
})();

/** A cell as the proxy sees it: it says which one it is, or cuts the request off after it has read it. */
async function startBackend(name: string) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    if (request.url !== '/readyz')
      seen.push(`${request.method} ${request.url} ${request.headers['x-forwarded-for'] ?? ''}`);
    if (request.url === '/cut') return void request.socket.destroy();
    if (request.url === '/refused') return void response.writeHead(503, { 'Retry-After': '2' }).end();
    response.end(name);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { seen, stop, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** As a client of that host name; fetch does not send another Host. */
function ask(
  port: number,
  host: string,
  path = '/',
  method = 'GET',
): Promise<{ status: number; body: string; retryAfter?: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, path, method, headers: { Host: host } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body, retryAfter: response.headers['retry-after'] }),
      );
    });
    sent.on('error', reject).end();
  });
}

// Without the program there is nothing to start; what the file says is held by test/deploy/cells.test.ts.
if (!isInstalled) console.info('HAProxy is not installed: its configuration is not started.');

test('each name leads to its cell, and no request is sent twice', async () => {
  if (!isInstalled) return expect(configuration).toContain('deploy/cells');
  const [one, two] = [await startBackend('one'), await startBackend('two')];
  const port = await freePort();
  const env = { ...process.env, CELLS_BIND: `127.0.0.1:${port}`, CELL_ONE: one.address, CELL_TWO: two.address };
  const proxy = spawn(program, ['-W', '-db', '-f', configuration], { env, stdio: 'ignore' });
  try {
    await until(async () => (await ask(port, 'one.example.com').catch(() => null))?.status === 200);
    expect(await ask(port, 'ONE.example.com:443')).toMatchObject({ status: 200, body: 'one' });
    expect(await ask(port, 'two.example.com')).toMatchObject({ status: 200, body: 'two' });
    expect(await ask(port, 'three.example.com')).toMatchObject({ status: 421 });
    expect(await ask(port, 'one.example.com', '/refused', 'POST')).toMatchObject({ status: 503, retryAfter: '2' });
    one.seen.length = 0;

    // On a connection that it has used before, HAProxy cuts the client off, too, and the client decides.
    const cut = async (method: string) =>
      (await ask(port, 'one.example.com', '/cut', method).catch(() => null))?.status ?? 502;
    for (const method of ['POST', 'GET']) expect(await cut(method)).toBe(502);

    expect(one.seen).toEqual(['POST /cut 127.0.0.1', 'GET /cut 127.0.0.1']);
    await two.stop();
    expect((await ask(port, 'two.example.com', '/', 'POST')).status).toBe(503);
    expect(await ask(port, 'one.example.com')).toMatchObject({ status: 200, body: 'one' });
  } finally {
    proxy.kill('SIGTERM');
    await once(proxy, 'exit');
    await one.stop();
    await two.stop();
  }
});
