import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { StartupError } from '../../src/errors/errors.ts';
import { createBodyReader } from '../../src/http/requestBody.ts';
import { connectionTimeouts, listen } from '../../src/http/server.ts';
import { until } from '../support/until.ts';

describe('the HTTP server', () => {
  it('does not wait for kept-alive connections when it stops', async () => {
    const server = await listen('127.0.0.1', 0, (_request, response) => response.end('ok'));
    const agent = new Agent({ keepAlive: true });
    const [response] = (await once(get({ port: server.port, agent }), 'response')) as [IncomingMessage];
    await response.toArray();

    await server.stop(60_000);

    agent.destroy();
  });

  it('closes a connection as soon as its last answer is given', async () => {
    const request = Promise.withResolvers<ServerResponse>();
    const server = await listen('127.0.0.1', 0, (_request, response) => request.resolve(response));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const response = await request.promise;

    const stopped = server.stop(60_000);
    response.end('done');

    const received = (await socket.toArray()).join('');
    await stopped;
    expect(received).toContain('done');
  });

  it('asks the clients of its last answers to connect anew', async () => {
    const request = Promise.withResolvers<ServerResponse>();
    const server = await listen('127.0.0.1', 0, (_request, response) => request.resolve(response));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const response = await request.promise;

    const stopped = server.stop(60_000);
    response.end();

    expect((await socket.toArray()).join('')).toContain('\r\nConnection: close\r\n');
    await stopped;
  });

  it('still answers clients that send or connect at this moment', async () => {
    const server = await listen('127.0.0.1', 0, (_request, response) => response.end('ok'));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');

    const stopped = server.stop(60_000, 500);
    const late = connect(server.port, '127.0.0.1');
    for (const sender of [socket, late]) sender.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');

    const answers = await Promise.all([socket, late].map(async (sender) => (await sender.toArray()).join('')));
    for (const answer of answers) expect(answer).toContain('\r\nConnection: close\r\n');
    await stopped;
    await expect(once(connect(server.port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
  });

  it('answers what has been sent, and not been read, when it closes', async () => {
    const server = await listen('127.0.0.1', 0, (_request, response) => response.end('ok'));
    const sockets = Array.from({ length: 20 }, () => connect(server.port, '127.0.0.1'));
    const send = (socket: Socket) => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await Promise.all(sockets.map((socket) => send(socket) && once(socket, 'data')));

    for (const socket of sockets) send(socket);
    const stopped = server.stop(60_000);

    const answers = await Promise.all(sockets.map(async (socket) => (await socket.toArray()).join('')));
    for (const answer of answers) expect(answer).toContain('\r\nConnection: close\r\n');

    await stopped;
  });

  it('waits for no client that is connected and sends nothing', async () => {
    const server = await listen('127.0.0.1', 0, (_request, response) => response.end('ok'));
    const silent = connect(server.port, '127.0.0.1');
    await once(silent, 'connect');

    await server.stop(600_000);

    expect(await silent.toArray()).toEqual([]);
  });

  it('waits for the rest of a request and for a client that has yet to read its answer', async () => {
    // More than the operating system takes of a client that reads nothing.
    const large = Buffer.alloc(14_000_000, 'x');
    const received = Promise.withResolvers<void>();
    const server = await listen('127.0.0.1', 0, ({ url }, response) => {
      response.end(url === '/late' ? 'late' : large);
      if (url === '/unread') received.resolve();
    });
    const [late, unread] = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1').pause()];
    late.write('GET /late HTTP/1.1\r\n');
    unread.write('GET /unread HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await received.promise;

    const stopped = server.stop(60_000, 100);
    await until(() =>
      once(connect(server.port, '127.0.0.1'), 'connect').then(
        () => false,
        () => true,
      ),
    );
    late.write('Host: x\r\n\r\n');

    expect((await late.toArray()).join('')).toMatch(/\r\nConnection: close\r\n.*late$/s);
    expect((await unread.toArray()).join('').length).toBeGreaterThan(large.length);
    await stopped;
  });

  it('closes an idle connection after the pre-stop delay', async () => {
    const server = await listen('127.0.0.1', 0, (_request, response) => response.end('ok'));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');

    await server.stop(60_000, 100);

    expect(await socket.toArray()).toEqual([]);
  });

  it('takes no more connections than it may have', async () => {
    const server = await listen('127.0.0.1', 0, (_request, response) => response.end('ok'), 2);
    const taken = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')];
    await Promise.all(taken.map((socket) => once(socket, 'connect')));

    const refused = connect(server.port, '127.0.0.1').on('error', () => undefined);
    await once(refused, 'close');

    for (const socket of taken) socket.destroy();
    await server.stop(0);
  });

  it.each([
    ['GraphQL', `POST /graphql HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'LIMIT_EXCEEDED'],
    ['GraphQL', 'POST /graphql HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n', 400, 'BAD_USER_INPUT'],
    ['GraphQL', 'POST /graphql HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx', 400, 'BAD_USER_INPUT'],
    ['GraphQL', 'no HTTP at all\r\n\r\n', 400, 'BAD_USER_INPUT'],
    ['OAuth', 'POST /oauth/token HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n', 400, 'invalid_request'],
  ])('answers in the form of %s what it cannot read, and hangs up: %.50s', async (form, text, status, code) => {
    const server = await listen('127.0.0.1', 0, () => undefined);
    const socket = connect(server.port, '127.0.0.1');
    socket.write(text);

    const [head = '', body = ''] = (await socket.toArray()).join('').split('\r\n\r\n');

    expect(head).toContain(`HTTP/1.1 ${status} `);
    expect(head).toContain('\r\nConnection: close');
    const error = JSON.parse(body);
    expect(form === 'GraphQL' ? error.errors[0].extensions.code : error.error).toBe(code);
    await server.stop(0);
  });

  it('serves a request whose expectation it does not know', async () => {
    const server = await listen('127.0.0.1', 0, (_request, response) => response.end('ok'));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n');

    expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1.1 200 .*ok$/s);
    await server.stop(0);
  });

  it('gives a client 10 s for its headers, 30 s for a request, and a minute without a byte', () => {
    expect(connectionTimeouts).toEqual({
      ...{ headersMs: 10_000, requestMs: 30_000, idleMs: 60_000, keepAliveMs: 65_000 },
      ...{ lateBodyMs: 2000, checkMs: 2000 },
    });
  });

  it('hangs up on clients that send their headers too slowly, or none', async () => {
    const server = await listenWith({ headersMs: 500, checkMs: 50 }, (_request, response) => response.end('ok'));
    const silent = connect(server.port, '127.0.0.1');
    const slow = connect(server.port, '127.0.0.1');
    const drip = setInterval(() => slow.write('X: y\r\n'), 50);
    slow.write('GET / HTTP/1.1\r\nHost: x\r\n');

    const [toSilent, toSlow] = await Promise.all([silent, slow].map(untilHungUp));

    clearInterval(drip);
    expect(toSilent).toMatch(/^HTTP\/1.1 408/);
    // Bytes that are sent meanwhile may reset the connection before the answer is read.
    expect(toSlow).toMatch(/^(HTTP\/1.1 408|$)/);
    await server.stop(0);
  });

  it('hangs up on a client that goes on sending a body long after its answer, which it can read', async () => {
    const server = await listenWith({ lateBodyMs: 300 }, (_request, response) => response.writeHead(413).end());
    const socket = connect(server.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
    const drip = setInterval(() => socket.write('x'), 20);

    const received = await untilHungUp(socket);

    clearInterval(drip);
    expect(received).toMatch(/^HTTP\/1.1 413/);
    await server.stop(0);
  });

  it.each([
    ['its Content-Length', 'Content-Length: 2000000000', ''],
    ['its chunks', 'Transfer-Encoding: chunked', '3e8\r\n'],
  ])(
    'refuses a body that is too large by %s at once, and lets its sender read the answer',
    async (_, header, chunk) => {
      const server = await listenWith({ lateBodyMs: 300 }, readingAtMost(1000));
      const socket = connect(server.port, '127.0.0.1');
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
      for (let n = 0; n < 1000; n++) socket.write(`${chunk}${'x'.repeat(1000)}${chunk && '\r\n'}`);

      // It would throw if the connection were reset.
      const answer = (await socket.toArray()).join('');

      expect(answer).toMatch(/^HTTP\/1.1 413 .*\r\nConnection: close\r\n/s);
      await server.stop(0);
    },
  );

  it('takes no request after it has refused a body and said that it closes', async () => {
    const taken: (string | undefined)[] = [];
    const read = readingAtMost(1000);
    const server = await listenWith({}, (request, response) => {
      taken.push(request.url);
      read(request, response);
    });
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n${'x'.repeat(2000)}\r\n`);
    const [answer] = await once(socket, 'data');
    socket.write('0\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n');

    await untilHungUp(socket);

    expect(String(answer)).toMatch('HTTP/1.1 413 ');
    expect(taken).toEqual(['/']);
    await server.stop(0);
  });

  it.each([
    [1000, ['HTTP/1.1 100 Continue', 'HTTP/1.1 200 OK']],
    [1001, ['HTTP/1.1 413 Payload Too Large']],
  ])('answers a request that expects 100 for a body of %d bytes', async (length, statuses) => {
    const server = await listenWith({}, readingAtMost(1000));
    const socket = connect(server.port, '127.0.0.1');
    const head = `POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`;
    socket.write(head);
    const [first] = await once(socket, 'data');
    if (String(first).includes(' 100 ')) socket.write('x'.repeat(length));

    const answer = String(first) + (await socket.toArray()).join('');

    expect(answer.match(/^HTTP.*$/gm)?.map((line) => line.trim())).toEqual(statuses);
    await server.stop(0);
  });

  it.each([
    ['two hosts', '/', 'Host: a\r\nHost: b', 400],
    ['the same host twice', '/', 'Host: a\r\nhost: a', 400],
    ['no host', '/', 'Accept: */*', 400],
    ['an empty host', '/', 'Host:', 400],
    ['two hosts in one line', '/', 'Host: a, b', 400],
    ['a host with a password', '/', 'Host: user@a', 400],
    ['a host with a space', '/', 'Host: local host', 400],
    ['a host with a path', '/', 'Host: a/b', 400],
    ['a host with a broken port', '/', 'Host: a:b', 400],
    ['a target of another host', 'http://b/', 'Host: a', 400],
    ['a target of another port', 'http://a:81/', 'Host: a', 400],
    ['a target that is no URL', 'http://[/', 'Host: a', 400],
    ['a host', '/', 'Host: a.example-b.test', 200],
    ['a host and a port', '/', 'Host: 127.0.0.1:3000', 200],
    ['an IPv6 address', '/', 'Host: [::1]:3000', 200],
    ['a target of the same host', 'http://user:secret@A:80/?b', 'Host: a', 200],
  ])('takes %s', async (_, target, header, status) => {
    const server = await listenWith({}, (_request, response) => response.end('ok'));
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\n${header}\r\nConnection: close\r\n\r\n`);

    expect(await untilHungUp(socket)).toMatch(`HTTP/1.1 ${status} `);
    await server.stop(0);
  });

  it('takes a request of HTTP/1.0 without a host', async () => {
    const server = await listenWith({}, (_request, response) => response.end('ok'));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.0\r\n\r\n');

    expect(await untilHungUp(socket)).toMatch('HTTP/1.1 200 ');
    await server.stop(0);
  });

  it('cuts what is still in flight when the time is up', async () => {
    const request = Promise.withResolvers<ServerResponse>();
    const server = await listen('127.0.0.1', 0, (_request, response) => request.resolve(response));
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await request.promise;

    await server.stop(50);

    expect(await socket.toArray()).toEqual([]);
  });

  it('says which port is taken', async () => {
    const first = await listen('127.0.0.1', 0, () => undefined);

    await expect(listen('127.0.0.1', first.port, () => undefined)).rejects.toThrow(StartupError);

    await first.stop(0);
  });

  it('says that a host is not of this machine', async () => {
    await expect(listen('192.0.2.1', 0, () => undefined)).rejects.toThrow('HOST 192.0.2.1 is no address');
  });
});

const listenWith = (timeouts: Partial<typeof connectionTimeouts>, listener: RequestListener) =>
  listen('127.0.0.1', 0, listener, undefined, { ...connectionTimeouts, ...timeouts });

const readingAtMost = (limit: number): RequestListener => {
  const read = createBodyReader(limit);
  return (request, response) =>
    read(request, response).then(
      () => response.end('ok'),
      ({ status }) => response.writeHead(status).end(),
    );
};

/** The text that came until the connection ended or broke. */
async function untilHungUp(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
  return text;
}
