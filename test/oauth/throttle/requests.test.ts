import { randomUUID } from 'node:crypto';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import {
  type Answer,
  asClient,
  bearer,
  createApplication,
  expectRefusal,
  expectTokens,
  type OwnOauthTest,
  startOauthTest,
  type TestApplication,
  untilWaiting,
} from '../support.ts';
import { expectTooMany, from, limits, newAddress, pass, times } from './support.ts';

let oauth: OwnOauthTest;
/** Another process' server, in effect: its own pool and memory on the same database. */
let other: TestService;
/** Without a proxy in front. */
let direct: TestService;
let application: TestApplication;
beforeAll(async () => {
  oauth = await startOauthTest({ ...limits, TRUST_PROXY: '1' });
  other = await startTestService(oauth.database, { ...limits, TRUST_PROXY: '1' });
  direct = await startTestService(oauth.database, limits);
});
beforeEach(async () => {
  application = await createApplication(oauth, { scopes: ['app', 'me'] });
});
afterAll(async () => {
  await direct.stop();
  await other.stop();
  await oauth.stop();
});

const ask = (address: string, server: { url: string } = oauth, client = application) =>
  from(address, server, '/oauth/token', { form: { grant_type: 'client_credentials', ...asClient(client) } });

const askWrongly = (address: string, server: { url: string } = oauth, client = application) =>
  ask(address, server, { ...client, secret: 'wrong' });

/** A server may refuse from memory for another second. */
const untilAnswered = (work: () => Promise<Answer>) => until(async () => (await work()).status === 200);

describe('the requests of an address', () => {
  it('are counted by its IPv6 site, too, which has five times as many in all its networks', async () => {
    const second = await createApplication(oauth, { scopes: ['app'] });
    const networkOf = (site: string, network: number) => `2001:db8:${site}:${network.toString(16)}::1`;
    for (let network = 1; network <= 5; network++) {
      const client = network > 3 ? second : application;
      for (const answer of await times(10, () => ask(networkOf('abcd', network), oauth, client)))
        expectTokens(answer, 'app');
    }

    expectTooMany(await ask(networkOf('abcd', 6), oauth, second));
    expectTokens(await ask(networkOf('abce', 6), oauth, second), 'app');
  });

  it('are answered up to the limit, then refused at every endpoint until Retry-After has passed', async () => {
    const address = newAddress();
    const { access_token } = expectTokens(await ask(address), 'app');
    const info = () => from(address, oauth, '/oauth/token/info', { method: 'GET', headers: bearer(access_token) });
    for (const answer of await times(8, info)) expect(answer.status).toBe(200);
    // A request that is refused for another reason counts, too.
    expect((await from(address, oauth, '/oauth/revoke', { method: 'GET' })).status).toBe(405);

    const retryAfter = expectTooMany(await ask(address));
    expectTooMany(await info());
    for (const path of ['/oauth/revoke', '/oauth/introspect']) {
      expectTooMany(await from(address, oauth, path, { form: { token: access_token, ...asClient(application) } }));
    }
    expectTooMany(await from(address, oauth, '/oauth/token', { method: 'DELETE', headers: bearer(access_token) }));
    expectTokens(await ask(newAddress()), 'app');

    await pass(oauth, Math.floor(retryAfter / 2));
    expectTooMany(await ask(address));
    await pass(oauth, retryAfter);
    await untilAnswered(() => ask(address));
    expect((await info()).status).toBe(200);
  });

  it('are counted by the clock of PostgreSQL, whatever time it is on a server', async () => {
    const [address, now] = [newAddress(), Date.now];
    for (const answer of await times(10, () => ask(address))) expectTokens(answer, 'app');

    for (const hours of [-1, 1]) {
      Date.now = () => now() + hours * 3_600_000;
      expectTooMany(await ask(address));
      expectTooMany(await ask(address, other));
    }
    Date.now = now;
  });

  it('begin a new window when the clock of PostgreSQL was set back: none is longer than a minute', async () => {
    const address = newAddress();
    await times(9, () => ask(address));
    await pass(oauth, -3600);

    for (const answer of await times(10, () => ask(address))) expectTokens(answer, 'app');
    expectTooMany(await ask(address));
  });

  it('count on every server of the database together', async () => {
    const address = newAddress();

    for (const answer of await times(6, () => ask(address))) expectTokens(answer, 'app');
    for (const answer of await times(4, () => ask(address, other))) expectTokens(answer, 'app');

    expectTooMany(await ask(address, oauth));
    expectTooMany(await ask(address, other));
    expectTokens(await ask(newAddress(), other), 'app');
  });

  it('count at once as one after the other', async () => {
    const address = newAddress();

    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, index) => ask(address, index % 2 === 0 ? oauth : other)),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), ...Array(5).fill(429)]);
  });

  it('count in the window that another one began while they waited for it', async () => {
    const address = newAddress();
    expectTokens(await ask(address), 'app');
    const first = await oauth.database.owner.connect();
    await first.query('begin');
    await first.query('select from oauth.throttles for update');
    const waiting = ask(address);
    // One waits for the count of the address, the other one for that of its site.
    try {
      await untilWaiting(oauth, 2);
      await first.query(
        `update oauth.throttles set points = 10, expire = extract(epoch from clock_timestamp()) * 1000 + 60000
         where key like 'requests\\_of\\_address:%'`,
      );
      await first.query('commit');
    } finally {
      first.release(true);
    }

    expectTooMany(await waiting);
  });

  it('leave the description of the server and the graph alone', async () => {
    const address = newAddress();
    await times(11, () => ask(address));
    expectTooMany(await ask(address));

    const metadata = await from(address, oauth, '/.well-known/oauth-authorization-server', { method: 'GET' });
    const graph = await times(12, () =>
      from(address, oauth, '/graphql', {
        headers: { ...bearer('nonsense'), 'Content-Type': 'application/json' },
        raw: { body: '{"query":"{ viewer { id } }"}' },
      }),
    );

    expect(metadata.status).toBe(200);
    expect(graph.map(({ status }) => status)).toEqual(Array(12).fill(401));
  });
});

describe('what a proxy says of an address', () => {
  it('does not count unless the proxy is trusted', async () => {
    const answers = await times(11, () => ask(newAddress(), direct));

    expect(answers.slice(0, 10).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expectTooMany(answers[10] as Answer);
  });

  it('counts as far as proxies are trusted: what the client wrote itself is no help', async () => {
    const address = newAddress();

    const answers = await times(11, () => ask(`${newAddress()}, ${address}`));

    expect(answers.slice(0, 10).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expectTooMany(answers[10] as Answer);
    expectTokens(await ask(`${address}, ${newAddress()}`), 'app');
  });
});

describe('the failures of an address', () => {
  const failures: [string, (address: string) => Promise<Answer>][] = [
    ['a wrong client secret', (address) => askWrongly(address)],
    ['an unknown client', (address) => ask(address, oauth, { ...application, clientId: randomUUID() })],
    ['a wrong password', (address) => password(address, `${randomUUID()}@example.test`, 'wrong')],
    ['a wrong external token', (address) => external(address, randomUUID())],
    ['a wrong refresh token', (address) => refresh(address, 'gqs_rt_nonsense')],
    ['a wrong bearer token', (address) => info(address, 'nonsense')],
    ['a wrong bearer token to revoke', (address) => revokeBearer(address, 'nonsense')],
    ['a wrong secret at revocation', (address) => about(address, '/oauth/revoke', 'wrong')],
    ['a wrong secret at introspection', (address) => about(address, '/oauth/introspect', 'wrong')],
  ];

  it.each(failures)('%s counts: after four the right credentials are refused, too', async (_, fail) => {
    const [address, neighbour] = [newAddress(), newAddress()];

    const refused = await times(4, () => fail(address));
    for (const answer of refused) expect([400, 401]).toContain(answer.status);
    expectTooMany(await fail(address));
    const retryAfter = expectTooMany(await ask(address));
    expectTooMany(await ask(address, other));

    await times(3, () => fail(neighbour));
    expectTokens(await ask(neighbour), 'app');
    await pass(oauth, retryAfter);
    await untilAnswered(() => ask(address));
  });

  it('count on every server of the database together, and at once', async () => {
    const address = newAddress();

    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, index) => askWrongly(address, index % 2 === 0 ? oauth : other)),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(4).fill(401), ...Array(5).fill(429)]);
  });

  it('are not those requests that ask for something else that is wrong', async () => {
    const address = newAddress();
    const wrong = () =>
      from(address, oauth, '/oauth/token', {
        form: { grant_type: 'client_credentials', scope: 'root', ...asClient(application) },
      });

    for (const answer of await times(6, wrong)) expectRefusal(answer, 400, 'invalid_scope');

    expectTokens(await ask(address), 'app');
  });

  const password = (address: string, username: string, secret: string) =>
    from(address, oauth, '/oauth/token', {
      form: { grant_type: 'password', username, password: secret, ...asClient(application) },
    });

  let mobile: TestApplication;
  beforeAll(async () => {
    mobile = await createApplication(oauth, { scopes: ['me'], mobileApp: 'external_authentication_token' });
  });
  const external = (address: string, external_authentication_token: string) =>
    from(address, oauth, '/oauth/token', {
      form: { grant_type: 'password', external_authentication_token, client_id: mobile.clientId },
    });

  const refresh = (address: string, refresh_token: string) =>
    from(address, oauth, '/oauth/token', {
      form: { grant_type: 'refresh_token', refresh_token, ...asClient(application) },
    });

  const info = (address: string, accessToken: string) =>
    from(address, oauth, '/oauth/token/info', { method: 'GET', headers: bearer(accessToken) });

  const revokeBearer = (address: string, accessToken: string) =>
    from(address, oauth, '/oauth/token', { method: 'DELETE', headers: bearer(accessToken) });

  const about = (address: string, path: string, secret: string) =>
    from(address, oauth, path, { form: { token: 'any', client_id: application.clientId, client_secret: secret } });
});

describe('the requests of a client', () => {
  it('are answered up to five times the limit of an address, wherever they come from', async () => {
    const [busy, quiet] = [await createApplication(oauth), await createApplication(oauth)];
    for (let address = 0; address < 5; address++) {
      const here = newAddress();
      const answers = await times(10, () => ask(here, address % 2 === 0 ? oauth : other, busy));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    }

    const here = newAddress();
    const retryAfter = expectTooMany(await ask(here, oauth, busy));
    expectTooMany(await ask(here, other, busy));
    expectTokens(await ask(here, oauth, quiet), 'app');

    await pass(oauth, retryAfter);
    // The client is refused from memory for a second, in which one address would use up its own limit.
    await untilAnswered(() => ask(newAddress(), oauth, busy));
  });

  it('do not count what another client sends in its name', async () => {
    const client = await createApplication(oauth);
    for (let address = 0; address < 18; address++) {
      const here = newAddress();
      for (const answer of await times(3, () => askWrongly(here, oauth, client))) expect(answer.status).toBe(401);
    }

    expectTokens(await ask(newAddress(), oauth, client), 'app');
  });
});
