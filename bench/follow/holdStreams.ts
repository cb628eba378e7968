import { openStream } from './openStream.ts';

/** A child process, so that the client of the streams is not that of the queries that are timed: opens streams, and holds them until it is ended. */
export type HoldOrder = { readonly url: string; readonly tokens: readonly string[]; readonly each: number };

process.on('message', async ({ url, tokens, each }: HoldOrder) => {
  for (const token of tokens)
    await Promise.all(Array.from({ length: each }, () => openStream(url, token, () => undefined)));
  process.send?.('open');
});
process.once('disconnect', () => process.exit());
