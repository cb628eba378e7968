import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A child process: a server of `node:http` alone that refuses every request with what the service sends.
 * The number of its answers in a second is the most that one thread can refuse on this machine. It sends its port to the parent.
 */
const body = JSON.stringify({
  errors: [
    { message: 'There are too many requests at the moment; try again later.', extensions: { code: 'UNAVAILABLE' } },
  ],
});
const headers = {
  'X-Request-Id': '01a20b6d-c438-7585-91da-e2c15864fe06',
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(body),
  'Retry-After': '2',
  'Cache-Control': 'no-store',
};

const server = createServer((_request, response) => response.writeHead(503, headers).end(body));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
