import { isDeepStrictEqual } from 'node:util';
import type { Tokens } from './data/issueTokens.ts';
import type { Size } from './data/sizes.ts';
import { Connection } from './load/Connection.ts';
import { toBytes } from './load/toBytes.ts';
import { type OperationName, requestOf } from './operations.ts';
import type { Peer } from './servers/startPeer.ts';

const requestsEach = 20;

/**
 * Sends the same requests to all peers and compares the `data` of their answers.
 *
 * @param numbers gives new ones for requests that can be sent once only
 * @throws when two differ, or one is an error
 */
export async function checkAnswers(
  peers: readonly Peer[],
  operation: OperationName,
  { tokens, size, numbers }: { tokens: Tokens; size: Size; numbers: () => number },
): Promise<void> {
  const connections = await Promise.all(peers.map(({ port }) => Connection.open(port)));
  try {
    for (let i = 0; i < requestsEach; i++) {
      const answers: unknown[] = [];
      for (const [index, connection] of connections.entries()) {
        const n = operation === 'M1' ? numbers() : i;
        const { status, body } = await connection.send(toBytes(requestOf(operation, n, tokens, size)));
        const name = peers[index]?.name;
        const { data, errors } = JSON.parse(body.toString());
        if (status !== 200 || errors)
          throw new Error(`${name} answers ${operation} with ${status}: ${body.subarray(0, 1000)}`);
        answers.push(operation === 'M1' ? withoutNumber(data, n) : data);
        if (isDeepStrictEqual(answers[0], answers[index])) continue;
        throw new Error(
          `${name} and ${peers[0]?.name} differ on ${operation}:\n${JSON.stringify(answers[index])}\n${JSON.stringify(answers[0])}`,
        );
      }
    }
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Each peer creates a user of its own: the same but for the key, which is new, and the number in the values. */
function withoutNumber(data: unknown, n: number): unknown {
  const text = JSON.stringify(data, (key, value) =>
    key === 'id' && /^VXNlcjo[\w-]{48}$/.test(value) ? 'a user' : value,
  );
  return JSON.parse(text.replaceAll(String(n), 'n'));
}
