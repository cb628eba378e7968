import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

export type Proxy = {
  /** The database's URL, by way of the proxy. */
  readonly url: string;
  /** How much longer it makes each round trip from now on: one half on the way, one on the way back. */
  delay(milliseconds: number): void;
  stop(): Promise<void>;
};

/** How long a sleep is, and how much later the kernel may end it. */
const sleepMs = 0.02;
const oversleepMs = 0.13;

/** Stands between a client and its database; delays nothing until a delay is set. */
export async function startProxy(databaseUrl: string): Promise<Proxy> {
  const direct = addressOf(databaseUrl);
  const sockets = new Set<Socket>();
  let delayMs = 0;
  const wait = createDelay();
  const later = (work: () => void) => wait(delayMs / 2, work);

  const server = createServer({ noDelay: true }, (client) => {
    const database = connect({ ...direct, noDelay: true });
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on('data', (chunk) => later(() => other.write(chunk)));
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        later(() => other.end());
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: throughPort(databaseUrl, (server.address() as AddressInfo).port),
    delay(milliseconds) {
      delayMs = milliseconds;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Where a database listens; the URL of one on a Unix socket names its directory in a parameter, as libpq reads it. */
function addressOf(databaseUrl: string): NetConnectOpts {
  const { hostname, port, searchParams } = parse(databaseUrl);
  const directory = searchParams.get('host');
  if (directory) return { path: `${directory}/.s.PGSQL.${searchParams.get('port') ?? 5432}` };
  return { host: hostname, port: Number(port) };
}

/** The URL parser takes no user without a host. */
const parse = (databaseUrl: string) => new URL(databaseUrl.replace('@/', '@localhost/'));

function throughPort(databaseUrl: string, port: number): string {
  const url = parse(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  url.searchParams.delete('host');
  url.searchParams.delete('port');
  return url.href;
}

/**
 * Timers have steps of a millisecond. This one sleeps for parts of a millisecond, between which the sockets are read, and polls the clock
 * only at the end. So it is not late, and leaves the processors to the measured processes.
 */
function createDelay(): (ms: number, work: () => void) => void {
  const waiting: { readonly due: number; readonly work: () => void }[] = [];
  const neverNotified = new Int32Array(new SharedArrayBuffer(4));
  const look = () => {
    while (waiting[0] && waiting[0].due <= performance.now()) waiting.shift()?.work();
    if (!waiting[0]) return;
    if (waiting[0].due - performance.now() > sleepMs + oversleepMs) Atomics.wait(neverNotified, 0, 0, sleepMs);
    setImmediate(look);
  };
  return (ms, work) => {
    if (ms === 0) return work();
    waiting.push({ due: performance.now() + ms, work });
    if (waiting.length === 1) setImmediate(look);
  };
}
