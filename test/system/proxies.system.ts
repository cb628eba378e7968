/**
 * The proxies that are shipped and documented, with their own programs: HAProxy by deploy/cells, nginx by docs/operating.md.
 * HAPROXY and NGINX name other programs. Without a program its tests only say so.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTenant, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/freePort.ts';
import type { TestProcess } from '../support/process.ts';
import { startServer } from '../support/startServer.ts';
import { startSteadyLoad } from '../support/steadyLoad.ts';
import { until } from '../support/until.ts';
import { addressOf } from '../support/workers.ts';

const programs = { HAProxy: process.env.HAPROXY ?? 'haproxy', nginx: process.env.NGINX ?? 'nginx' };
type Name = keyof typeof programs;
const names = Object.keys(programs) as Name[];
const read = (path: string) => readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

const isInstalled = (name: Name) => {
  try {
    execFileSync(programs[name], ['-v'], { stdio: 'ignore' });
    return true;
  } catch {
    console.info(`${name} is not installed: its configuration is not started.`);
    return false;
  }
};

type Proxy = { readonly port: number; stop(): Promise<void> };

/** HAProxy before two cells; the first has one server or more. */
async function startHaproxy([first = '', ...others]: readonly string[], two = first): Promise<Proxy> {
  const port = await freePort();
  const text = (await read('deploy/cells/haproxy.cfg')).replace(/^ {2}server one-1 .*$/m, (line) =>
    [line, ...others.map((address, n) => line.replace(/one-1 \S+/, `one-${n + 2} ${address}`))].join('\n'),
  );
  return startProxy('haproxy.cfg', text, port, (path) =>
    spawn(programs.HAProxy, ['-W', '-db', '-f', path], {
      env: { ...process.env, CELLS_BIND: `127.0.0.1:${port}`, CELL_ONE: first, CELL_TWO: two },
      stdio: 'ignore',
    }),
  );
}

async function startNginx(addresses: readonly string[]): Promise<Proxy> {
  const port = await freePort();
  const [, documented = ''] = /```nginx\n(.*?)```/s.exec(await read('docs/operating.md')) ?? [];
  const own = documented
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replace(/127\.0\.0\.1:3001/, addresses[0] ?? '')
    .replace(/127\.0\.0\.1:3002/, addresses[1] ?? addresses[0] ?? '');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${kind};`);
  const text = `daemon off; user root; pid pid; error_log error.log; events {} http { access_log off; ${paths.join(' ')} ${own} }`;
  return startProxy('nginx.conf', text, port, (path, folder) =>
    spawn(programs.nginx, ['-p', folder, '-c', path], { stdio: 'ignore' }),
  );
}

async function startProxy(
  file: string,
  text: string,
  port: number,
  start: (path: string, folder: string) => ChildProcess,
): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), 'proxy-'));
  await writeFile(join(folder, file), text);
  const proxy = start(join(folder, file), folder);
  const stop = async () => {
    proxy.kill('SIGTERM');
    if (proxy.exitCode === null) await once(proxy, 'exit');
    await rm(folder, { recursive: true });
  };
  try {
    await until(async () => (await ask(port).catch(() => null))?.status === 200);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}

const start = { HAProxy: startHaproxy, nginx: startNginx };
/** nginx leaves a server out for half a minute. */
const replacements = { HAProxy: 10, nginx: 4 };

/** A server as the proxy sees it: it says which one it is, or cuts the request off after it has read it. */
async function startBackend(name: string) {
  const seen: { method: string | undefined; url: string | undefined; headers: IncomingHttpHeaders }[] = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    if (url !== '/readyz') seen.push({ method, url, headers });
    if (url === '/cut') return void request.socket.destroy();
    if (url === '/refused') return void response.writeHead(503, { 'Retry-After': '2' }).end();
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

type Asked = { path?: string; method?: string; headers?: OutgoingHttpHeaders; from?: string; body?: string };

/** As a client of that host name and at that address; fetch does not send another Host. */
function ask(
  port: number,
  { path = '/healthz', method = 'GET', headers = {}, from = '127.0.0.1', body = '' }: Asked = {},
): Promise<{ status: number; body: string; retryAfter?: string | undefined }> {
  const all = { Host: 'one.example.com', ...headers };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, headers: all, localAddress: from, agent: false };
    const sent = httpRequest(options, async (response) => {
      const text = (await response.setEncoding('utf8').toArray()).join('');
      resolve({ status: response.statusCode ?? 0, body: text, retryAfter: response.headers['retry-after'] });
    });
    sent.on('error', reject).end(body);
  });
}

/** What a client may claim about itself; each time another address. */
const forged = (n: number) => ({
  'X-Forwarded-For': [`198.51.100.${n}, 203.0.113.${n}`, `192.0.2.${n}`],
  'X-Forwarded-Proto': 'gopher',
  'X-Forwarded-Host': 'evil.test',
  'X-Real-IP': `192.0.2.${n}`,
  Forwarded: `for=192.0.2.${n};proto=gopher;host=evil.test`,
});

test('HAProxy leads each name to its cell, and sends no request twice', async () => {
  if (!isInstalled('HAProxy')) return expect(start).toHaveProperty('HAProxy');
  const [one, two] = [await startBackend('one'), await startBackend('two')];
  const proxy = await startHaproxy([one.address], two.address);
  const { port } = proxy;
  const named = (Host: string, asked: Asked = {}) => ask(port, { ...asked, headers: { Host } });
  try {
    expect(await named('ONE.example.com:443')).toMatchObject({ status: 200, body: 'one' });
    expect(await named('two.example.com')).toMatchObject({ status: 200, body: 'two' });
    expect(await named('three.example.com')).toMatchObject({ status: 421 });
    expect(await ask(port, { path: '/refused', method: 'POST' })).toMatchObject({ status: 503, retryAfter: '2' });
    one.seen.length = 0;

    for (const method of ['POST', 'GET']) expect((await ask(port, { path: '/cut', method })).status).toBe(502);

    expect(one.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /cut', 'GET /cut']);
    await two.stop();
    expect((await named('two.example.com', { method: 'POST' })).status).toBe(503);
    expect(await named('one.example.com')).toMatchObject({ status: 200, body: 'one' });
  } finally {
    await proxy.stop();
    await one.stop();
    await two.stop();
  }
});

describe.each(names)('behind %s', (name) => {
  let database: TestDatabase;
  let tenant: Tenant;
  beforeAll(async () => {
    database = await createTestDatabase();
    tenant = await createTenant({ database });
  });
  afterAll(() => database.drop());

  const startService = (port = '0') =>
    startServer({
      AUTH_DATABASE_URL: database.authUrl,
      PORT: port,
      TRUST_PROXY: '1',
      THROTTLE_FAILURES_PER_MINUTE: '60',
    });
  const hostOf = (service: TestProcess) => `127.0.0.1:${new URL(addressOf(service)).port}`;
  const stopService = (service: TestProcess) => {
    service.signal('SIGTERM');
    return service.exited;
  };

  test('the service gets the address that the proxy sees, and no other word of a client about itself', async () => {
    if (!isInstalled(name)) return expect(start).toHaveProperty(name);
    const backend = await startBackend('one');
    const proxy = await start[name]([backend.address]);
    try {
      await ask(proxy.port, { path: '/seen', from: '127.0.0.2', headers: forged(1) });

      const { headers } = backend.seen.find(({ url }) => url === '/seen') ?? { headers: {} };
      expect(Object.entries(headers).filter(([header]) => /forwarded|real-ip/.test(header))).toEqual(
        expect.arrayContaining([
          ['x-forwarded-for', '127.0.0.2'],
          ['x-forwarded-proto', 'http'],
        ]),
      );
      expect(Object.keys(headers).filter((header) => /forwarded|real-ip/.test(header))).toHaveLength(2);
    } finally {
      await proxy.stop();
      await backend.stop();
    }
  });

  test('forged addresses share the failures of their client, and two clients do not', async () => {
    if (!isInstalled(name)) return expect(start).toHaveProperty(name);
    const service = await startService();
    const proxy = await start[name]([hostOf(service)]);
    const tryWrongly = async (from: string, headers: OutgoingHttpHeaders) =>
      (
        await ask(proxy.port, {
          ...{ path: '/oauth/token', method: 'POST', from },
          headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
          body: 'grant_type=client_credentials&client_id=stranger&client_secret=wrong',
        })
      ).status;
    try {
      const statuses: number[] = [];
      for (let n = 0; n < 100; n++) statuses.push(await tryWrongly('127.0.0.2', forged(n)));

      expect(statuses).toEqual([...Array(60).fill(401), ...Array(40).fill(429)]);
      expect(await tryWrongly('127.0.0.3', {})).toBe(401);
      expect(await tryWrongly('127.0.0.2', {})).toBe(429);
    } finally {
      await proxy.stop();
      await stopService(service);
    }
  });

  test('two servers are replaced in turn under writes, and none fails or is done twice', async () => {
    if (!isInstalled(name)) return expect(start).toHaveProperty(name);
    const services = [await startService(), await startService()];
    const addresses = services.map(hostOf);
    const proxy = await start[name](addresses);
    let writes = 0;
    const load = startSteadyLoad({
      urls: [`http://127.0.0.1:${proxy.port}`],
      host: 'one.example.com',
      token: tenant.app,
      connections: 8,
      pauseMs: 20,
      nextDocument: () => `mutation { userCreate(fullName: "W", email: "w${++writes}@acme.test") { user { id } } }`,
    });
    try {
      for (let stops = 0; stops < replacements[name]; stops++) {
        const place = stops % 2;
        await stopService(services[place] as TestProcess);
        const next = await startService(addresses[place]?.split(':')[1]);
        services[place] = next;
        await until(() => next.output.stderr.includes('"path":"/graphql"') || load.failures.length > 0);
      }
      await load.stop();

      const { rows } = await tenant.owner.query("select count(*)::int from app_public.users where full_name = 'W'");
      expect([...new Set(load.failures)]).toEqual([]);
      expect([load.answered, rows[0].count]).toEqual([writes, writes]);
      console.log(`${writes} writes`);
    } finally {
      await load.stop();
      await proxy.stop();
      await Promise.all(services.map(stopService));
    }
  }, 300_000);
});
