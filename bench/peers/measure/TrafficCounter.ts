import type { Observer } from './startProxy.ts';

/** Counts on all connections to a database what a client asks of it and how often it waits for an answer. */
export class TrafficCounter {
  /** Those that only begin, set or end a transaction included. */
  statements = 0;
  /** What is sent without waiting for what was sent before is one. */
  roundTrips = 0;

  readonly observe = (): Observer => {
    let hasAnswer = true;
    const read = createMessageReader((type) => {
      // Query and Execute; see "Message Formats" in the documentation of PostgreSQL's protocol.
      if (type === 'Q' || type === 'E') this.statements++;
    });
    return {
      fromClient: (chunk) => {
        read(chunk);
        if (hasAnswer) this.roundTrips++;
        hasAnswer = false;
      },
      toClient: () => {
        hasAnswer = true;
      },
    };
  };
}

/** Calls back with each message of a client and its type: a letter, save that of the first message, which has none. */
export function createMessageReader(onMessage: (type: string, message: Buffer) => void): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  let isFirst = true;
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const lengthAt = isFirst ? 0 : 1;
      if (pending.length < lengthAt + 4) return;
      const end = lengthAt + pending.readInt32BE(lengthAt);
      if (pending.length < end) return;
      if (!isFirst) onMessage(String.fromCharCode(pending[0] ?? 0), pending.subarray(0, end));
      isFirst = false;
      pending = pending.subarray(end);
    }
  };
}
