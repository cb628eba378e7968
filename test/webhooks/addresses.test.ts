import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createPublicLookup, isPublic, NotPublicError, problemOfUrl } from '../../src/webhooks/addresses.ts';
import { post } from '../../src/webhooks/post.ts';
import { mutating } from '../graphql/mutating.ts';
import { createTenant } from '../graphql/support.ts';
import { opened } from '../support/openThings.ts';
import { shareService } from '../support/sharedService.ts';
import { startNameServer } from './nameServer.ts';
import { startReceiver } from './receiver.ts';

/** Each refused URL, and one that differs in what matters and passes. */
const twins: readonly (readonly [hostile: string, fine: string])[] = [
  // Loopback in every spelling.
  ['https://127.0.0.1/', 'https://126.0.0.1/'],
  ['https://127.1/', 'https://126.1/'],
  ['https://2130706433/', 'https://2097152001/'],
  ['https://0x7f000001/', 'https://0x7e000001/'],
  ['https://0177.0.0.1/', 'https://0176.0.0.1/'],
  ['https://127.0.0.1.:8443/', 'https://126.0.0.1.:8443/'],
  ['https://１２７.0.0.1/', 'https://１２６.0.0.1/'],
  ['https://0.0.0.0/', 'https://1.0.0.1/'],
  ['https://localhost/', 'https://localhost.example.com/'],
  ['https://LOCALHOST./', 'https://local.host/'],
  ['https://a.localhost/', 'https://a.localhosts.example/'],
  ['https://[::1]/', 'https://[2606:4700::1]/'],
  ['https://[::]/', 'https://[2a00::]/'],
  // IPv4 inside of IPv6.
  ['https://[::ffff:127.0.0.1]/', 'https://[2606:4700::7f00:1]/'],
  ['https://[::ffff:10.0.0.1]/', 'https://[::ffff:8.8.8.8]/'],
  ['https://[::ffff:0:192.168.0.1]/', 'https://[::ffff:0:192.169.0.1]/'],
  ['https://[64:ff9b::a00:1]/', 'https://[64:ff9b::6812:27e4]/'],
  ['https://[64:ff9b::169.254.169.254]/', 'https://[64:ff9b::169.253.169.254]/'],
  ['https://[64:ff9b::]/', 'https://[64:ff9b::100:0]/'],
  // A network's own prefix; an address that only looks like a translated one.
  ['https://[64:ff9b:1::808:808]/', 'https://[64:ff9b::808:808]/'],
  ['https://[64:ff9b::1:808:808]/', 'https://[2a02:ff9b::a00:1]/'],
  ['https://[2002:7f00:1::]/', 'https://[2003:7f00:1::]/'],
  // Link-local, metadata, private, shared, documentation, multicast.
  ['https://169.254.169.254/latest/meta-data/', 'https://169.253.169.254/latest/meta-data/'],
  ['https://0xa9fea9fe/', 'https://0xa9fda9fe/'],
  ['https://[fe80::1]/', 'https://[2e80::1]/'],
  ['https://[fd00:ec2::254]/', 'https://[2d00:ec2::254]/'],
  ['https://10.1.2.3/', 'https://11.1.2.3/'],
  ['https://172.16.0.1/', 'https://172.32.0.1/'],
  ['https://172.31.255.255/', 'https://172.15.255.255/'],
  ['https://192.168.0.1/', 'https://192.169.0.1/'],
  ['https://100.64.0.1/', 'https://100.128.0.1/'],
  ['https://198.18.0.1/', 'https://198.20.0.1/'],
  ['https://192.0.2.1/', 'https://192.0.3.1/'],
  ['https://224.0.0.1/', 'https://223.255.255.1/'],
  ['https://255.255.255.255/', 'https://223.255.255.255/'],
  ['https://[2001:db8::1]/', 'https://[2001:db9::1]/'],
  ['https://[ff02::1]/', 'https://[2f02::1]/'],
  // Ports, userinfo, fragments, schemes.
  ['https://example.com:22/', 'https://example.com:8022/'],
  ['https://example.com:6379@127.0.0.1/', 'https://example.com:6379/'],
  ['https://example.com:25/', 'https://example.com:443/'],
  ['https://example.com:0/', 'https://example.com:1000/'],
  ['https://example.com:0025/', 'https://example.com:2525/'],
  ['https://user@example.com/', 'https://example.com/@user'],
  ['https://:password@example.com/', 'https://example.com/?a=:password@'],
  ['https://example.com/#fragment', 'https://example.com/%23fragment'],
  ['https://example.com/#', 'https://example.com/'],
  ['http://example.com/', 'HTTPS://example.com/'],
  ['ftp://example.com/', 'https://ftp.example.com/'],
  ['file:///etc/passwd', 'https://example.com/etc/passwd'],
  ['//example.com/', 'https://example.com//'],
  ['https:example.com', 'https://example.com'],
  ['https://', 'https://e'],
  ['https://example.com:65536/', 'https://example.com:65535/'],
  ['https://[::1', 'https://[2a00::1]'],
  ['', 'https://example.com:8443/a?b=c'],
  // Characters that the URL parser removes, or that nobody sees.
  [' https://example.com/', 'https://example.com/%20'],
  ['https://example.com/ ', 'https://example.com/%20/'],
  ['https://example.com/\r\n', 'https://example.com/%0D%0A'],
  ['https://example.com/a\r\nX-Header: b', 'https://example.com/a X-Header: b'],
  ['https://exam\nple.com/', 'https://example.com/n'],
  ['\thttps://example.com/', 'https://example.com/%09'],
  ['https://example.com/a\tb', 'https://example.com/a b'],
  ['https://example.com/\0', 'https://example.com/%00'],
  ['https://example.com/\x1b[2J', 'https://example.com/[2J'],
  ['https://example.com/\x7f', 'https://example.com/~'],
  ['https://example.com/\x85', 'https://example.com/…'],
  ['https://example.com/\x9b', 'https://example.com/ž'],
  ['https://example.com/\u2028a', 'https://example.com/ä'],
  ['https://example.com/\u2029a', 'https://example.com/日'],
  ['https://example.com/\u00a0', 'https://example.com/\u00a0a'],
  ['https://example.com/\ufeff', 'https://example.com/%EF%BB%BF'],
];

test('a hostile URL is refused when the webhook is made or changed, and its twin is not', async () => {
  const graph = await shareService();
  const tenant = await createTenant(graph);
  const mutate = mutating(graph, tenant);
  const made = (await mutate('webhookCreate', { url: 'https://example.com/' }, 'webhook { id }')) as {
    webhook: { id: string };
  };

  for (const [hostile, fine] of twins) {
    const refused = { code: 'BAD_USER_INPUT', argument: 'url' };
    expect([hostile, await mutate('webhookCreate', { url: hostile }, 'secret')]).toEqual([hostile, refused]);
    const change = (url: string) => mutate('webhookUpdate', { id: made.webhook.id, url }, 'webhook { url }');
    expect([hostile, await change(hostile)]).toEqual([hostile, refused]);
    expect(await change(fine)).toEqual({ webhook: { url: fine } });
  }
  expect(twins.length).toBeGreaterThanOrEqual(25);
}, 30_000);

test('what is refused without private addresses is refused where it is connected to, too', async () => {
  const signal = new AbortController().signal;

  for (const [hostile] of twins)
    expect([hostile, await post(hostile, {}, '{}', { allowsPrivate: false, signal })]).toEqual([
      hostile,
      { statusCode: null, error: expect.stringMatching(/^url (must|has|is)/) },
    ]);
});

test('with private addresses http and loopback pass, and nothing else of it', () => {
  const allowed = (url: string) => problemOfUrl(url, true) === null;

  expect(
    ['http://127.0.0.1:3000/', 'http://localhost/', 'https://[::1]/', 'http://10.0.0.1/'].filter(allowed),
  ).toHaveLength(4);
  expect(
    ['http://localhost:22/', 'http://user@localhost/', 'ftp://localhost/', 'http://localhost/#a'].filter(allowed),
  ).toEqual([]);
});

test('of a name only public addresses are connected to, whatever they were before', async () => {
  const receiver = await startReceiver();
  const { port } = new URL(receiver.url);
  const server = await startNameServer({
    'public.test': [['93.184.215.14', '2606:2800:21f:cb07::1']],
    'private.test': [['10.0.0.1', 'fd00::1']],
    'mapped.test': [['::ffff:7f00:1']],
    'mixed.test': [['127.0.0.1', '93.184.215.14']],
    'changing.test': [['93.184.215.14'], ['127.0.0.1']],
    'empty.test': [[]],
  });
  const lookup = createPublicLookup(server.resolver);
  const found = (name: string) =>
    new Promise((resolve) => lookup(name, { all: true }, (error, addresses) => resolve(error ?? addresses)));
  try {
    expect(await found('public.test')).toEqual([
      { address: '93.184.215.14', family: 4 },
      { address: '2606:2800:21f:cb07::1', family: 6 },
    ]);
    expect(await found('mixed.test')).toEqual([{ address: '93.184.215.14', family: 4 }]);
    expect(await found('private.test')).toBeInstanceOf(NotPublicError);
    expect(await found('mapped.test')).toBeInstanceOf(NotPublicError);
    expect(await found('changing.test')).toEqual([{ address: '93.184.215.14', family: 4 }]);
    expect(await found('changing.test')).toBeInstanceOf(NotPublicError);
    expect(await found('empty.test')).toMatchObject({ code: 'ENODATA' });

    const signal = new AbortController().signal;
    const attempt = (name: string) =>
      post(`https://${name}:${port}/`, {}, '{}', { allowsPrivate: false, signal, lookup });
    expect(await attempt('changing.test')).toEqual({
      statusCode: null,
      error: 'The URL does not lead to a public address.',
    });
    expect(await attempt('unknown.test')).toEqual({ statusCode: null, error: 'The host name has no address.' });
    expect(receiver.received).toEqual([]);
    // The receiver is there for those who may reach it.
    expect(await post(receiver.url, {}, '{}', { allowsPrivate: true, signal })).toEqual({
      statusCode: 204,
      error: null,
    });
  } finally {
    await server.stop();
    await receiver.stop();
  }
});

test('of IPv6 only what is assigned is public', () => {
  expect(['2a00:1450::1', '2606:4700::1111', '2400:cb00::1'].filter(isPublic)).toHaveLength(3);
  expect(
    ['::1', '::', 'fe80::1', 'fc00::1', 'ff02::1', '100::1', '2001::1', '4000::1', '5f00::1'].filter(isPublic),
  ).toEqual([]);
});

test('of an answer nothing but the status is waited for, whatever comes behind it or instead of it', async () => {
  const receiver = await startReceiver();
  const raw = await startRawReceiver();
  const signal = new AbortController().signal;
  const attempt = (url: string) => post(url, {}, '{}', { allowsPrivate: true, signal, deadlineMs: 300 });
  try {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      receiver.answer = ({ socket }, response) => {
        socket.once('close', () => resolve());
        response.writeHead(200, { 'content-length': 1e9 });
        const fill = () => {
          while (!socket.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536;
        };
        response.on('drain', fill);
        fill();
      };
    });
    expect(await attempt(receiver.url)).toEqual({ statusCode: 200, error: null });
    await closed;
    // What the operating system takes.
    expect(written).toBeLessThan(50_000_000);

    const slow = 'The receiver did not answer within 0.3 s.';
    const failed = 'The connection to the receiver failed.';
    for (const [answer, error] of [
      [(socket: Socket) => dripping(socket, 'HTTP/1.1 200 OK\r\nx: y'), slow],
      [(socket: Socket) => dripping(socket, 'HTTP/1.1 100 Continue\r\n\r\n'), slow],
      [(socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}`), failed],
      [(socket: Socket) => socket.write('220 smtp.example.com ESMTP\r\n'), failed],
      [(socket: Socket) => socket.end(), failed],
      [(socket: Socket) => socket.resetAndDestroy(), failed],
    ] as const) {
      raw.answer = answer;
      expect(await attempt(raw.url)).toEqual({ statusCode: null, error });
    }
    raw.answer = (socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    expect(await attempt(raw.url)).toEqual({ statusCode: 204, error: null });
  } finally {
    await receiver.stop();
    await raw.stop();
  }
});

/** The text again and again, a byte each millisecond. */
function dripping(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text.charAt(at++ % text.length)), 1);
  socket.on('close', () => clearInterval(timer));
}

/** What is no server of HTTP, or a bad one. */
async function startRawReceiver() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('data', () => raw.answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const closed = opened('raw receiver');
  const raw = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    answer: (_socket: Socket): unknown => undefined,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
      closed();
    },
  };
  return raw;
}

test('a certificate that nobody has signed, and a receiver that says nothing, are failures with a plain reason', async () => {
  const receiver = await startReceiver();
  const signal = new AbortController().signal;
  try {
    receiver.answer = () => undefined;
    expect(await post(receiver.url, {}, '{}', { allowsPrivate: true, signal, deadlineMs: 50 })).toEqual({
      statusCode: null,
      error: 'The receiver did not answer within 0.05 s.',
    });
    // It speaks no TLS.
    const url = receiver.url.replace('http:', 'https:');
    expect(await post(url, {}, '{}', { allowsPrivate: true, signal })).toEqual({
      statusCode: null,
      error: expect.stringMatching(/^The c/),
    });
    await receiver.stop();
    expect(await post(receiver.url, {}, '{}', { allowsPrivate: true, signal })).toEqual({
      statusCode: null,
      error: 'The connection to the receiver failed.',
    });
  } finally {
    signal.throwIfAborted();
  }
});
