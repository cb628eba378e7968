import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Its body is to be read at once: what arrives next overwrites it. */
export type Answer = { readonly status: number; readonly body: Buffer };

/**
 * A keep-alive connection to 127.0.0.1 on which one request follows the other. It knows as much of HTTP as the peers speak, and so
 * costs a tenth of what a general client does.
 */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = empty;
  #waiting: PromiseWithResolvers<Answer> | undefined;

  private constructor(port: number) {
    const callback = (length: number) => {
      this.#receive(arrived.subarray(0, length));
      return true;
    };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: arrived, callback } });
    this.#socket = socket;
    socket.setTimeout(timeoutMs, () => {
      // One that has been idle for long is not waiting.
      if (this.#waiting) socket.destroy(new Error('There was no answer for a long time.'));
    });
    socket.on('close', () => this.#waiting?.reject(new Error('The server has closed the connection.')));
    socket.on('error', (error) => this.#waiting?.reject(error));
  }

  static async open(port: number): Promise<Connection> {
    const connection = new Connection(port);
    await once(connection.#socket, 'connect');
    return connection;
  }

  send(request: Buffer): Promise<Answer> {
    if (this.#socket.destroyed) return Promise.reject(new Error('The connection is closed.'));
    this.#waiting = Promise.withResolvers();
    this.#socket.write(request);
    return this.#waiting.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    try {
      const answer = parse(received);
      this.#received = answer ? empty : Buffer.from(received);
      if (!answer) return;
      this.#waiting?.resolve(answer);
      this.#waiting = undefined;
    } catch (error) {
      this.#waiting?.reject(error);
    }
  }
}

/** The bytes that have just arrived, for all connections. New buffers each time would be collected while others are measured. */
const arrived = Buffer.allocUnsafe(65_536);
const empty = Buffer.alloc(0);
const timeoutMs = 30_000;

/** The answer, or null while a part of it is missing. */
function parse(received: Buffer): Answer | null {
  const endOfHead = received.indexOf('\r\n\r\n');
  if (endOfHead < 0) return null;
  const head = received.toString('latin1', 0, endOfHead);
  const [, length] = /^content-length: (\d+)/im.exec(head) ?? [];
  if (length === undefined) throw new Error(`The answer has no Content-Length: ${head}`);
  const start = endOfHead + 4;
  const end = start + Number(length);
  if (received.length < end) return null;
  return { status: Number(head.slice(9, 12)), body: received.subarray(start, end) };
}
