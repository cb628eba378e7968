import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig } from 'pg';

/** Works on one connection outside of any pool. If the connection is lost, the statement fails. */
export async function withClient<T>(config: string | ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(config);
  // Without a listener the event would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    // `end()` may hang if the server is gone.
    await Promise.race([client.end().catch(() => undefined), delay(1000, undefined, { ref: false })]);
  }
}
