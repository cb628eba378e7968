import { request } from 'node:http';
import { type Demo, startTestDemo } from '../support/demo.ts';

describe("GraphiQL and the demo's credentials", () => {
  let demo: Demo;

  beforeAll(async () => {
    demo = await startTestDemo();
  });

  afterAll(async () => {
    await demo.stop();
  });

  it.each([
    ['the name localhost', {}],
    ['the loopback address', { host: '127.0.0.1' }],
  ])('hands them to this machine by %s', async (_, headers) => {
    const page = await getGraphiql(demo, headers);

    expect(page).toContain(demo.credentials.clientSecret);
    expect(page).toContain(demo.credentials.password);
  });

  it.each([
    ["a web site's name that resolves to this machine", { host: 'attacker.test' }],
    ['a name that begins like this machine', { host: 'localhost.attacker.test' }],
    ['an unreadable name', { host: 'local host' }],
    ['a proxy', { 'x-forwarded-for': '203.0.113.7' }],
    ['a proxy of the newer kind', { forwarded: 'for=203.0.113.7' }],
  ])('keeps them from %s', async (_, headers) => {
    const page = await getGraphiql(demo, headers);

    expect(page).toContain('"demo":null');
    expect(page).not.toContain(demo.credentials.clientSecret);
    expect(page).not.toContain(demo.credentials.password);
  });

  const allowedOrigin = async (path: string, origin: string) => {
    const { headers } = await fetch(demo.url + path, { method: 'OPTIONS', headers: { Origin: origin } });
    return headers.get('Access-Control-Allow-Origin');
  };

  it.each(['http://localhost:5173', 'http://localhost'])(
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
function getGraphiql({ url }: Demo, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    request(`${url}/graphiql`, { headers }, async (response) => {
      const chunks = await response.setEncoding('utf8').toArray();
      resolve(chunks.join(''));
    })
      .on('error', reject)
      .end();
  });
}
