import { setTimeout as delay } from 'node:timers/promises';
import type { TreeService } from '../data/startTree.ts';
import { createSender } from './createSender.ts';
import { requestOf } from './requests.ts';
import type { Known, Shape } from './shape.ts';

/** How many connections a shape has that says none. */
export const busyConnections = 16;

/** The number of the next request. All senders share it, so that a document that is new each time is new for every one of them. */
let number = 0;

/** Sends a shape on each of its connections, one request after the other, until `signal` aborts. */
export async function keepBusy(
  { url, clientSecret }: TreeService,
  { write, hasToken, connections = busyConnections, manner }: Shape,
  { token, known }: { readonly token: string; readonly known: Known },
  signal: AbortSignal,
) {
  const sender = createSender(url, connections, manner);
  const ended = new Promise<null>((resolve) => signal.addEventListener('abort', () => resolve(null)));
  const statuses = new Set<number>();
  let sent = 0;
  let answered = 0;
  const one = async () => {
    while (!signal.aborted) {
      sent++;
      const request = requestOf(write(number++, known), hasToken ? token : null, clientSecret);
      const status = await Promise.race([sender.send(request), ended]);
      if (status === null) return;
      if (status === 0) await delay(50);
      else statuses.add(status);
      if (status === 200) answered++;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  sender.close();
  return { sent, answered, statuses: [...statuses] };
}

/** The facts that an organization can ask for about itself. */
export async function explore({ url }: TreeService, token: string): Promise<Known> {
  const query = '{ app { users(first: 1000) { nodes { id } } changes(first: 1) { pageInfo { endCursor } } } }';
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const text = await response.text();
  const ids = [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id);
  const [, cursor = ''] = /"endCursor":"([^"]+)"/.exec(text) ?? [];
  return { ids, cursor };
}
