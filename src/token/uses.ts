import { channel } from 'node:diagnostics_channel';
import type { TransactionSettings } from './settings.ts';

/** A statement that a request has run, and its role. */
export type Use = { readonly role: string; readonly text: string };

/** Diagnostics channel: each statement under the settings of a request, as it is sent. */
const sent = channel('statement:sent');

export function publishStatement({ role, 'graph.request_id': requestId }: TransactionSettings, text: string): void {
  if (requestId !== 'warm-up') publishUse({ role, text });
}

/** Also for uses of the offload thread. */
export const publishUse = (use: Use): void => sent.publish(use);

/** Deduplication: collects each text of a token's role once a day, for `audit unused`. */
export function createUses() {
  const noted: Readonly<Record<string, Set<string>>> = {
    graph_app: new Set(),
    graph_user: new Set(),
    graph_basic: new Set(),
  };
  let day = '';
  let notedCharacters = 0;
  let uses: Use[] = [];
  let characters = 0;

  const note = (message: unknown) => {
    const { role, text } = message as Use;
    const texts = noted[role];
    if (!texts || texts.has(text)) return;
    // The text is noted the next time it runs: a client's many texts must not take more memory than this in between.
    if (characters > maxCharacters) return;
    texts.add(text);
    uses.push({ role, text });
    characters += text.length;
    notedCharacters += text.length;
  };
  sent.subscribe(note);

  return {
    /** The uses since the last call. */
    take(): readonly Use[] {
      const today = new Date().toISOString().slice(0, 10);
      // A forgotten text is noted once more.
      if (today !== day || notedCharacters > maxNotedCharacters) {
        for (const texts of Object.values(noted)) texts.clear();
        notedCharacters = 0;
      }
      day = today;
      const taken = uses;
      uses = [];
      characters = 0;
      return taken;
    },
    /** For uses that could not be recorded: they are noted when they run again. */
    forget(taken: readonly Use[]): void {
      for (const { role, text } of taken) noted[role]?.delete(text);
    },
    stop: () => void sent.unsubscribe(note),
  };
}

const maxCharacters = 200_000;
const maxNotedCharacters = 2_000_000;
