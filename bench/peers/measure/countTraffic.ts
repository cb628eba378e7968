import type { Tokens } from '../data/issueTokens.ts';
import type { Size } from '../data/sizes.ts';
import { Connection } from '../load/Connection.ts';
import { toBytes } from '../load/toBytes.ts';
import { type OperationName, requestOf } from '../operations.ts';
import { type PeerName, startPeer } from '../servers/startPeer.ts';
import { startProxy } from './startProxy.ts';
import { TrafficCounter } from './TrafficCounter.ts';

/** Of one operation, the token's lookup included. */
export type Traffic = { readonly statements: number; readonly roundTrips: number };

const requestsEach = 10;

/** Long enough that nothing which a peer sends without waiting meets an answer on the way. */
const delayMs = 10;

/** What a peer asks of the database, one request after the other, once it is used to them. Nothing is timed here. */
export async function countTraffic(
  name: PeerName,
  authUrl: string,
  operations: readonly OperationName[],
  { tokens, size, numbers }: { tokens: Tokens; size: Size; numbers: () => number },
): Promise<Map<OperationName, Traffic>> {
  const counter = new TrafficCounter();
  const proxy = await startProxy(authUrl, counter.observe);
  proxy.delay(delayMs);
  const peer = await startPeer(name, proxy.url);
  const connection = await Connection.open(peer.port);
  const send = async (operation: OperationName) => {
    for (let i = 0, n = numbers(); i < requestsEach; i++, n++) {
      await connection.send(toBytes(requestOf(operation, n, tokens, size)));
    }
  };

  const traffic = new Map<OperationName, Traffic>();
  try {
    for (const operation of operations) {
      await send(operation);
      const { statements, roundTrips } = counter;
      await send(operation);
      traffic.set(operation, {
        statements: (counter.statements - statements) / requestsEach,
        roundTrips: (counter.roundTrips - roundTrips) / requestsEach,
      });
    }
    return traffic;
  } finally {
    connection.close();
    await peer.stop();
    await proxy.stop();
  }
}
