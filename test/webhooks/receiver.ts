import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { opened } from '../support/openThings.ts';
import { until } from '../support/until.ts';

/** A delivery as it came in. */
export type Received = { readonly headers: IncomingHttpHeaders; readonly body: string; readonly at: number };

export type Receiver = {
  readonly url: string;
  readonly received: Received[];
  /** How the next deliveries are answered; a status, or what answers. 204 by default. */
  answer: number | RequestListener;
  /** The first `count` deliveries, once they are there. */
  first(count: number): Promise<Received[]>;
  stop(): Promise<void>;
};

/** A real receiver of webhooks on a port of this machine. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request), at: performance.now() });
    const { answer } = receiver;
    if (typeof answer === 'function') answer(request, response);
    else response.writeHead(answer, { location: 'http://127.0.0.1:1/' }).end('what nobody reads');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const closed = opened('receiver');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?from=test`,
    received,
    answer: 204,
    async first(count) {
      await until(() => received.length >= count);
      return received.slice(0, count);
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      closed();
    },
  };
  return receiver;
}

/** What a receiver does with a delivery: the library of Standard Webhooks throws unless the signature is by this secret. */
export const verified = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as {
    type: string;
    timestamp: string;
    data: { operation: string; typeName: string; id: string; fields: string[]; relatedIds?: string[]; cursor: string };
  };

/** The ids of the deliveries that came in, in their order. */
export const idsOf = ({ received }: Receiver) => received.map(({ headers }) => headers['webhook-id']);
