import { buildSchema } from 'graphql';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

const explorers = ['/graphiql', '/playground', '/documentations/graphql'];

describe('the pages', () => {
  let database: TestDatabase;
  let service: TestService;
  let withoutExplorers: TestService;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startTestService(database, { EXPLORERS: 'true' });
    withoutExplorers = await startTestService(database);
  });

  afterAll(async () => {
    await service.stop();
    await withoutExplorers.stop();
    await database.drop();
  });

  it.each(['/', ...explorers])('at %s keep themselves to this origin', async (path) => {
    const response = await fetch(service.url + path);
    const policy = parsePolicy(response);

    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(response.headers.get('Referrer-Policy')).toBe('no-referrer');
    expect(policy).toMatchObject({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] });
    expect(policy['script-src']).not.toContain("'unsafe-inline'");
    expect(policy['script-src']).not.toContain("'unsafe-eval'");
    expect(Object.values(policy).flat().filter(isRemote)).toEqual([]);
  });

  it.each(['/', ...explorers])('at %s refer to files that are compressed and may be kept for a year', async (path) => {
    const page = await (await fetch(service.url + path)).text();
    const files = [...new Set(page.match(/\/assets\/[^"\\]+\.(js|css|svg)/g))];

    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const response = await fetch(service.url + file, { headers: { 'Accept-Encoding': 'gzip' } });
      await response.arrayBuffer();
      expect([file, response.status]).toEqual([file, 200]);
      expect(response.headers.get('Content-Encoding')).toBe('gzip');
      expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
    }
  });

  it('state the version of the service', async () => {
    for (const path of ['/', ...explorers]) {
      expect(await (await fetch(service.url + path)).text()).toMatch(/v\d+\.\d+\.\d+/);
    }
  });

  it('send the same file in each encoding', async () => {
    const page = await (await fetch(`${service.url}/`)).text();
    const file = `${service.url}${/\/assets\/[^"]+page\.css/.exec(page)?.[0]}`;
    const texts = await Promise.all(
      ['identity', 'gzip', 'br'].map(async (encoding) =>
        (await fetch(file, { headers: { 'Accept-Encoding': encoding } })).text(),
      ),
    );

    expect(texts[0]).toContain('color-scheme');
    expect(new Set(texts).size).toBe(1);
  });

  it('refuse a file that is not there', async () => {
    const page = await (await fetch(`${service.url}/`)).text();
    const folder = /\/assets\/pages-[^/]+\//.exec(page)?.[0];

    for (const name of ['none.css', '..%2f..%2frouter.ts', 'tsconfig', '']) {
      expect((await fetch(`${service.url}${folder}${name}`)).status).toBe(404);
    }
  });

  it('leave the explorers out unless asked for, but not the first page', async () => {
    for (const path of explorers) expect((await fetch(withoutExplorers.url + path)).status).toBe(404);

    const home = await (await fetch(`${withoutExplorers.url}/`)).text();
    expect(home).toContain('/graphql/schema.graphql');
    expect(home).not.toContain('/graphiql');
  });

  it('are said to be off by the log, where they are', () => {
    const reason = 'these pages are off: EXPLORERS is not true';

    expect(withoutExplorers.logs.filter((line) => line.includes(reason))).toEqual([
      expect.stringContaining('/graphiql'),
    ]);
    expect(service.logs.filter((line) => line.includes(reason))).toEqual([]);
  });

  it('are where a browser gets that opens /graphql, and no client of the API', async () => {
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const open = ({ url }: TestService, Accept: string, init: RequestInit = {}, query = '') =>
      fetch(`${url}/graphql${query}`, { headers: { Accept }, redirect: 'manual', ...init });
    const opened = await open(service, browser);

    expect([opened.status, opened.headers.get('Location')]).toEqual([303, '/graphiql']);
    expect(opened.headers.get('Vary')).toContain('Accept');
    for (const accept of [
      '*/*',
      'application/json',
      'application/json, text/html',
      'application/graphql-response+json',
    ])
      expect((await open(service, accept)).status).toBe(401);
    expect((await open(service, browser, {}, '?query={__typename}')).status).toBe(401);
    expect((await open(service, browser, { method: 'POST' })).status).toBe(401);
    expect((await open(withoutExplorers, browser)).status).toBe(401);
  });

  it('give no credentials away without the demo', async () => {
    for (const path of ['/graphiql', '/playground']) {
      const page = await (await fetch(service.url + path)).text();

      expect(page).toContain('"demo":null');
      expect(page).not.toMatch(/gqs_/);
    }
  });

  it('tell nobody which policy decides without the demo', async () => {
    const answer = await fetch(`${service.url}/graphiql/why/organization`);

    expect(answer.status).toBe(404);
    expect(await (await fetch(`${service.url}/graphiql`)).text()).toContain('"whyPath":null');
  });
});

describe('the schema as a file', () => {
  let database: TestDatabase;
  let open: TestService;
  let closed: TestService;

  beforeAll(async () => {
    database = await createTestDatabase();
    open = await startTestService(database);
    closed = await startTestService(database, { PUBLIC_INTROSPECTION: 'false', EXPLORERS: 'true' });
  });

  afterAll(async () => {
    await open.stop();
    await closed.stop();
    await database.drop();
  });

  it('is the schema definition language', async () => {
    const response = await fetch(`${open.url}/graphql/schema.graphql`);

    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(buildSchema(await response.text()).getType('Unit')).toBeDefined();
  });

  it('needs a token where introspection does', async () => {
    const response = await fetch(`${closed.url}/graphql/schema.graphql`);

    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="graph-query-service"');
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  });

  it.each(['open', 'closed'])('refuses an invalid token where introspection is %s', async (kind) => {
    const service = kind === 'open' ? open : closed;
    const response = await fetch(`${service.url}/graphql/schema.graphql`, {
      headers: { Authorization: 'Bearer unknown' },
    });

    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
  });

  it('is not in the documentation without a token either, where introspection needs one', async () => {
    const page = await (await fetch(`${closed.url}/documentations/graphql`)).text();

    expect(page).toContain('The schema is not public');
    expect(page).not.toContain('accessibleUnits');
  });
});

function parsePolicy(response: Response): Record<string, string[]> {
  const directives = (response.headers.get('Content-Security-Policy') ?? '').split('; ');
  return Object.fromEntries(
    directives.map((directive) => directive.split(' ')).map(([name, ...values]) => [name, values]),
  );
}

const isRemote = (source: string) => !/^'|^(data|blob):$/.test(source);
