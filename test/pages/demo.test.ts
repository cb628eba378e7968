import { request } from 'node:http';
import { connect } from 'node:net';
import type { DemoPrincipal } from '../../src/pages/demo.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';

/** Those that proxies and content delivery networks add, on the same machine with `Host: localhost`, too. */
const proxyHeaders = [
  'Forwarded Via X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Forwarded-Port X-Forwarded X-Real-IP X-Client-IP Client-IP',
  'X-Cluster-Client-IP X-Original-Forwarded-For X-Original-Host True-Client-IP CF-Connecting-IP CF-Ray CDN-Loop Fastly-Client-IP',
  'Fly-Client-IP X-Azure-ClientIP X-Envoy-External-Address X-Amzn-Trace-Id Akamai-Origin-Hop X-ProxyUser-Ip Front-End-Https',
].flatMap((line) => line.split(' '));

/** Of Chromium and Firefox, when they load a page and reload it. */
const browserHeaders = {
  Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'Accept-Encoding': 'identity',
  'Accept-Language': 'de,en;q=0.5',
  'Cache-Control': 'max-age=0',
  Connection: 'keep-alive',
  Cookie: 'a=b',
  DNT: '1',
  'If-None-Match': '"a"',
  Pragma: 'no-cache',
  Priority: 'u=0, i',
  Referer: 'http://localhost/',
  'Sec-CH-UA': '"Chromium";v="140"',
  'Sec-Fetch-Dest': 'document',
  'Sec-GPC': '1',
  'Upgrade-Insecure-Requests': '1',
  'User-Agent': 'Mozilla/5.0',
};

describe("GraphiQL and the demo's credentials", () => {
  let demo: Demo;

  beforeAll(async () => {
    demo = await startTestDemo();
  });

  afterAll(async () => {
    await demo.stop();
  });

  it.each<[string, Record<string, string>]>([
    ['the name localhost', {}],
    ['the loopback address', { host: '127.0.0.1' }],
    ['the headers of a browser', browserHeaders],
  ])('hands them to this machine by %s', async (_, headers) => {
    const page = await getGraphiql(demo, headers);

    expect(page).toContain(demo.credentials.clientSecret);
    expect(page).toContain(demo.credentials.password);
  });

  it.each(['/graphiql', '/playground'])('hands them to the page %s of this machine, and to no proxy', async (path) => {
    expect(await getPage(demo, path, {})).toContain(demo.credentials.password);
    expect(await getPage(demo, path, { via: '1.1 proxy' })).not.toContain(demo.credentials.password);
  });

  it('offers each of the demo, whom one request signs in', async () => {
    const [, settings = ''] = /id="settings">(.*?)<\/script>/.exec(await getGraphiql(demo, {})) ?? [];
    const principals: DemoPrincipal[] = JSON.parse(settings).demo;
    const answers = await Promise.all(
      principals.map(({ request }) =>
        fetch(`${demo.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(request) }),
      ),
    );

    expect(principals.map(({ label }) => label)).toEqual([
      ...['Demo Backend', 'Demo Backend, scope basic alone'],
      ...['Ada Lovelace', 'Grace Hopper', 'Konrad Zuse', 'Emmy Noether'],
    ]);
    expect(answers.map(({ status }) => status)).toEqual(principals.map(() => 200));
    const scopes = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { scope: string }).scope));
    expect(scopes).toEqual(['app basic', 'basic', 'me', 'me', 'me', 'me']);
  });

  it.each<[string, Record<string, string>]>([
    ["a web site's name that resolves to this machine", { host: 'attacker.test' }],
    ['a name that begins like this machine', { host: 'localhost.attacker.test' }],
    ...proxyHeaders.map((name) => [`a proxy that sends ${name}`, { [name]: '127.0.0.1' }] satisfies [string, object]),
  ])('keeps them from %s', async (_, headers) => {
    const page = await getGraphiql(demo, headers);

    expect(page).toContain('"demo":null');
    expect(page).not.toContain(demo.credentials.clientSecret);
    expect(page).not.toContain(demo.credentials.password);
  });

  it('keeps them from a proxy that marks nothing but speaks HTTP/1.0', async () => {
    const { hostname, port } = new URL(demo.url);
    const page = async (version: string) => {
      const socket = connect(Number(port), hostname);
      socket.write(`GET /graphiql HTTP/${version}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      return (await socket.toArray()).join('');
    };

    expect(await page('1.1')).toContain(demo.credentials.clientSecret);
    expect(await page('1.0')).toContain('"demo":null');
  });

  const allowedOrigin = async (path: string, origin: string) => {
    const { headers } = await fetch(demo.url + path, { method: 'OPTIONS', headers: { Origin: origin } });
    return headers.get('Access-Control-Allow-Origin');
  };

  it.each(['http://localhost:5173', 'http://localhost', 'http://127.0.0.1:5173', 'http://[::1]:5173'])(
    'keeps them from pages of %s, which may call the API',
    async (origin) => {
      expect(await allowedOrigin('/graphql', origin)).toBe(origin);
      expect(await allowedOrigin('/oauth/token', origin)).toBe(origin);
      expect(await allowedOrigin('/graphiql', origin)).toBeNull();
    },
  );

  it.each([
    'https://localhost:5173',
    'http://localhost:5173.evil.test',
    'http://evil.localhost:5173',
    'http://127.0.0.1.evil.test',
    'http://127x0.0.1:5173',
    'http://localhost:',
    'null',
  ])('lets no page of %s call the API', async (origin) => {
    expect(await allowedOrigin('/graphql', origin)).toBeNull();
  });

  it('lets no cache keep them', async () => {
    const response = await fetch(`${demo.url}/graphiql`);

    expect(response.headers.get('Cache-Control')).toBe('no-store');
  });
});

/** With any Host, which `fetch` does not allow. */
const getGraphiql = (demo: Demo, headers: Record<string, string>) => getPage(demo, '/graphiql', headers);

function getPage({ url }: Demo, path: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url + path, { headers }, async (response) => {
      const chunks = await response.setEncoding('utf8').toArray();
      resolve(chunks.join(''));
    })
      .on('error', reject)
      .end();
  });
}
