import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { createStreams } from '../../../src/graphql/stream/serveStreams.ts';
import { openEventStream } from '../../../src/graphql/stream/subscribe.ts';
import { createLog } from '../../../src/log.ts';
import { shareService } from '../../support/sharedService.ts';

test('a process has 1,000 streams, and one more when one has ended', async () => {
  const { database } = await shareService();
  const streams = createStreams(database.owner, createLog('silent'));
  const open = (organizationId: string) => {
    streams.refuseIfFull(organizationId);
    const stream = openEventStream(new ServerResponse(new IncomingMessage(new Socket())));
    streams.add(stream, { organizationId, tokenHash: Buffer.alloc(32) });
    return stream;
  };
  const full = { status: 429, headers: { 'Retry-After': '5' } };

  const opened = Array.from({ length: 1000 }, (_, n) => open(`organization ${n % 20}`));
  expect(() => open('organization 20')).toThrow(expect.objectContaining(full));
  opened[0]?.complete();
  opened.push(open('organization 20'));
  expect(() => open('organization 21')).toThrow(expect.objectContaining(full));

  streams.close();
  expect(opened.map(({ signal }) => signal.aborted)).toEqual(Array(1001).fill(true));
  expect(() => open('organization 21')).toThrow('The server is stopping');
});
