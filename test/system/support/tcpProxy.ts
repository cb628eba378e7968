import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { opened } from '../../support/openThings.ts';

/** What becomes of connections and of what is sent on them. */
export type Weather =
  /** All goes through. */
  | { readonly kind: 'clear' }
  /** Nothing listens, and what was open is reset. */
  | { readonly kind: 'refused' }
  /** Whoever connects is accepted and reset, and so is what was open. */
  | { readonly kind: 'reset' }
  /** Connections stay, whoever connects is accepted, and nothing ever arrives; nor later on these, as when a firewall has forgotten them. */
  | { readonly kind: 'silent' }
  /** All goes through, so much later in each direction. */
  | { readonly kind: 'slow'; readonly delayMs: number };

export type TcpProxy = {
  readonly port: number;
  become(weather: Weather): Promise<void>;
  stop(): Promise<void>;
};

/** Stands between the service and a server, of which `target` tells at each new connection where it listens. */
export async function startTcpProxy(target: () => NetConnectOpts): Promise<TcpProxy> {
  let weather: Weather = { kind: 'clear' };
  const pairs = new Set<Pair>();
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (near) => {
    if (weather.kind === 'reset') return void near.resetAndDestroy();
    const pair = join(
      near,
      weather.kind === 'silent' ? null : connect({ ...target(), allowHalfOpen: true }),
      () => weather,
    );
    pairs.add(pair);
    near.once('close', () => pairs.delete(pair));
  });
  await listen(server, 0);
  const { port } = server.address() as { port: number };
  const closed = opened(`proxy ${port}`);
  const resetAll = () => {
    for (const { reset } of pairs) reset();
  };

  return {
    port,
    async become(next) {
      if (weather.kind === 'refused') await listen(server, port);
      weather = next;
      if (next.kind === 'reset' || next.kind === 'refused') resetAll();
      if (next.kind === 'silent') for (const pair of pairs) pair.forget();
      if (next.kind === 'refused') await close(server, resetAll);
    },
    async stop() {
      if (weather.kind !== 'refused') await close(server, resetAll);
      closed();
    },
  };
}

type Pair = { reset(): void; forget(): void };

function join(near: Socket, far: Socket | null, weather: () => Weather): Pair {
  let isForgotten = far === null;
  const reset = () => {
    near.resetAndDestroy();
    far?.destroy();
  };
  /** One way of the two. */
  const pass = (from: Socket, to: Socket | null) => {
    let previous = Promise.resolve();
    const inTurn = (send: () => void) => {
      const now = weather();
      const due = now.kind === 'slow' ? delay(now.delayMs) : null;
      previous = previous.then(async () => {
        await due;
        if (!isForgotten) send();
      });
    };
    from.on('data', (chunk) => inTurn(() => to?.write(chunk)));
    from.on('end', () => inTurn(() => to?.end()));
    from.on('close', () => inTurn(() => to?.destroy()));
    from.on('error', () => undefined);
  };
  pass(near, far);
  if (far) pass(far, near);
  near.resume();
  return {
    reset,
    forget: () => {
      isForgotten = true;
      // What PostgreSQL would find out by itself later, so that nothing of it is left when the test is over.
      far?.destroy();
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
}

function close(server: Server, resetAll: () => void): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  resetAll();
  return closed;
}
