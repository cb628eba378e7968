import { Connection } from '../peers/load/Connection.ts';

export type Rate = {
  readonly port: number;
  /** Sent one after the other, and then again. */
  readonly requests: readonly Buffer[];
  readonly perSecond: number;
  readonly seconds: number;
  /** Kept-alive connections, as those of a proxy in front. */
  readonly connections: number;
};

/** The outcome of a request. */
export type Outcome = {
  /** 0 without an answer. */
  readonly status: number;
  /** When it should have been sent, in milliseconds from the first. */
  readonly dueMs: number;
  /** From then to its answer. */
  readonly latencyMs: number;
};

/**
 * Sends at a fixed rate, whether or not there are answers, as many clients that do not know of each other do. A request that finds
 * no connection free waits for one, which is on the service's account.
 */
export async function sendAtRate({ port, requests, perSecond, seconds, connections }: Rate): Promise<Outcome[]> {
  const total = Math.round(perSecond * seconds);
  // Plain numbers: so many objects would have to be collected while it sends, and the service shares the machine.
  const statuses = new Uint16Array(total);
  const latenciesMs = new Float64Array(total);
  const idle: Connection[] = [];
  const requestOf = (index: number) => requests[index % requests.length] as Buffer;
  // They are there before: each has had an answer.
  while (idle.length < connections) {
    const opened = await Promise.all(Array.from({ length: 10 }, () => Connection.open(port)));
    await Promise.all(opened.map((connection, index) => connection.send(requestOf(index))));
    idle.push(...opened);
  }
  const all = [...idle];
  const due: number[] = [];

  let start = 0;
  const dueMs = (index: number) => (index / perSecond) * 1000;
  const sendOn = async (connection: Connection, first: number): Promise<void> => {
    for (let next: number | undefined = first; next !== undefined; next = due.shift()) {
      // One that the service has closed answers no more.
      statuses[next] = await connection.send(requestOf(next)).then(
        (answer) => answer.status,
        () => 0,
      );
      latenciesMs[next] = performance.now() - start - dueMs(next);
    }
    idle.push(connection);
  };

  start = performance.now();
  for (let sent = 0; sent < total; ) {
    const until = Math.min(total, 1 + Math.floor(((performance.now() - start) / 1000) * perSecond));
    for (; sent < until; sent++) {
      const connection = idle.pop();
      if (connection) void sendOn(connection, sent);
      else due.push(sent);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (idle.length < all.length) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const connection of all) connection.close();
  return Array.from(statuses, (status, index) => ({
    status,
    dueMs: dueMs(index),
    latencyMs: latenciesMs[index] ?? Number.NaN,
  }));
}
