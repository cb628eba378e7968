import { openStream } from './openStream.ts';

/**
 * A child process that opens streams, and holds them until it is ended.
 * The process that times queries would collect garbage of theirs.
 */
export type HoldOrder = { readonly url: string; readonly tokens: readonly string[]; readonly each: number };

process.on('message', async ({ url, tokens, each }: HoldOrder) => {
  for (const token of tokens)
    await Promise.all(Array.from({ length: each }, () => openStream(url, token, () => undefined)));
  process.send?.('open');
});
process.once('disconnect', () => process.exit());
