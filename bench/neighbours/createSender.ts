import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export type Sent = { readonly path: string; readonly headers: Record<string, string>; readonly body: string };

/** How a client sends a request and takes its answer. */
export type Manner =
  /** Sends it at once on a kept-alive connection, and reads the answer without keeping it. */
  | 'as a client does'
  /** Leaves the answer in the socket. */
  | 'unread'
  /** Reads 64 KiB of the answer ten times a second. */
  | 'slowly read'
  /** Sends the body in pieces of 16 KiB, one every 25 ms. */
  | 'in pieces'
  /** Closes the connection 30 ms after the request. */
  | 'aborted'
  /** Opens a connection for each request. */
  | 'reconnecting'
  /** Sends 64 requests at once on a connection (HTTP/1.1 pipelining). */
  | 'pipelined';

/** Sends in this manner on at most so many connections. Resolves with the status, 0 without an answer. */
export function createSender(url: string, connections: number, manner: Manner = 'as a client does') {
  const agent = new Agent({ keepAlive: manner !== 'reconnecting', maxSockets: connections });
  const exchange = ({ path, headers, body }: Sent) =>
    new Promise<number>((resolve) => {
      const length = { 'Content-Length': String(Buffer.byteLength(body)) };
      const sent = request(`${url}${path}`, { agent, method: 'POST', headers: { ...headers, ...length } }, (answer) => {
        answer.on('end', () => resolve(answer.statusCode ?? 0)).on('error', () => resolve(0));
        take(answer, manner);
      });
      sent.on('error', () => resolve(0)).on('close', () => resolve(0));
      if (manner === 'in pieces') void sendInPieces(sent, body);
      else sent.end(body);
      if (manner === 'aborted') sent.once('finish', () => setTimeout(() => sent.destroy(), 30));
    });
  return {
    send: (sent: Sent): Promise<number> => (manner === 'pipelined' ? pipeline(url, sent) : exchange(sent)),
    close: () => agent.destroy(),
  };
}

function take(answer: IncomingMessage, manner: Manner): void {
  if (manner === 'unread') return;
  if (manner !== 'slowly read') return void answer.resume();
  const timer = setInterval(() => answer.read(65_536) ?? answer.read(), 100);
  answer.once('close', () => clearInterval(timer));
}

async function sendInPieces(sent: ClientRequest, body: string): Promise<void> {
  for (let start = 0; start < body.length && !sent.destroyed; start += 16_384) {
    sent.write(body.slice(start, start + 16_384));
    await delay(25);
  }
  sent.end();
}

/** Resolves with the status of the last answer, when all have come. */
function pipeline(url: string, { path, headers, body }: Sent): Promise<number> {
  const { hostname, port } = new URL(url);
  const fields = { ...headers, Host: hostname, 'Content-Length': String(Buffer.byteLength(body)) };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`;
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(text.repeat(pipelined)));
    let answers = 0;
    let rest = '';
    socket.on('data', (data) => {
      const received = rest + data.toString('latin1');
      for (const [, status] of received.matchAll(statusLine)) {
        if (++answers < pipelined) continue;
        socket.destroy();
        resolve(Number(status));
      }
      // A status line may be cut; one that was counted must not be counted again.
      rest = received.slice(Math.max(received.lastIndexOf('HTTP/1.1 ') + 12, received.length - 12));
    });
    socket.on('error', () => resolve(0)).on('close', () => resolve(0));
  });
}

const pipelined = 64;
const statusLine = /HTTP\/1\.1 (\d{3})/g;
