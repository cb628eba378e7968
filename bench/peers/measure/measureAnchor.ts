import type { Socket } from 'node:net';
import { Client } from 'pg';
import type { Tokens } from '../data/issueTokens.ts';
import type { Data } from '../data/openData.ts';
import type { Size } from '../data/sizes.ts';
import { Connection } from '../load/Connection.ts';
import { toBytes } from '../load/toBytes.ts';
import { type OperationName, requestOf } from '../operations.ts';
import { startPeer } from '../servers/startPeer.ts';
import { postgresMs } from './processTimes.ts';
import { type Observer, startProxy } from './startProxy.ts';
import { createMessageReader } from './TrafficCounter.ts';

const requestsEach = 1000;

/**
 * What PostgreSQL alone computes for a request of the service, in milliseconds, as an anchor: no server can be faster on its processors.
 * The service's messages are recorded, and sent again by a client that reads bytes and nothing else.
 */
export async function measureAnchor(
  { authUrl, ownerUrl, cluster }: Data,
  operations: readonly OperationName[],
  { tokens, size, numbers }: { tokens: Tokens; size: Size; numbers: () => number },
): Promise<Map<OperationName, number>> {
  const recorder = new Recorder();
  const proxy = await startProxy(authUrl, () => recorder.observe());
  const peer = await startPeer('ours', proxy.url);
  const connection = await Connection.open(peer.port);
  const groups = new Map<OperationName, readonly Buffer[]>();
  try {
    for (const operation of operations) {
      recorder.groups = [];
      for (let i = 0, n = numbers(); i < requestsEach; i++, n++)
        await connection.send(toBytes(requestOf(operation, n, tokens, size)));
      groups.set(operation, recorder.groups);
    }
  } finally {
    connection.close();
    await peer.stop();
    await proxy.stop();
  }

  // What was created is created again.
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query(`delete from app_public.users where email like 'new-person-%'`);
  await owner.end();

  const client = new Client({ connectionString: authUrl });
  await client.connect();
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners('data');
  // The client calls its own end below an error.
  client.on('error', () => undefined);
  for (const group of recorder.preparing) await send(stream, group);
  const anchors = new Map<OperationName, number>();
  for (const [operation, ofOperation] of groups) {
    const before = await postgresMs(cluster);
    for (const group of ofOperation) await send(stream, group);
    anchors.set(operation, ((await postgresMs(cluster)) - before) / ofOperation.length);
  }
  stream.destroy();
  return anchors;
}

/** Records what each connection sends up to a Sync: a transaction. */
class Recorder {
  groups: Buffer[] = [];
  /** Those that prepare a statement which was not prepared before. */
  readonly preparing: Buffer[] = [];
  readonly #prepared = new Set<string>();

  observe(): Observer {
    let messages: Buffer[] = [];
    let prepares = false;
    let isPreparing = false;
    const read = createMessageReader((type, message) => {
      if (!'PBEDCS'.includes(type)) return;
      messages.push(Buffer.from(message));
      if (type === 'P') prepares = true;
      const [name = ''] = type === 'P' ? message.toString('latin1', 5).split('\0', 1) : [];
      const isNew = type === 'P' && !this.#prepared.has(name);
      if (isNew) this.#prepared.add(name);
      isPreparing ||= isNew;
      if (type !== 'S') return;
      const group = Buffer.concat(messages);
      if (isPreparing) this.preparing.push(group);
      if (!prepares) this.groups.push(group);
      [messages, prepares, isPreparing] = [[], false, false];
    });
    return { fromClient: read, toClient: () => undefined };
  }
}

/** Resolves when the answer ends with ReadyForQuery: a letter, a length of 5 and the state of the transaction. */
function send(stream: Socket, group: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const read = (chunk: Buffer) => {
      if (!chunk.subarray(-6, -1).equals(readyForQuery)) return;
      stream.off('data', read);
      resolve();
    };
    stream.on('data', read);
    stream.write(group);
  });
}

const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);
