import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { listen } from '../../src/http/server.ts';
import { StartupError } from '../../src/startupError.ts';

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
