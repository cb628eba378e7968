import type {} from 'postgraphile/grafast';

/** The user that a sealed token is bound to. */
type Owner = { organizationId: string; userId: string };

/** The webhook that a sealed secret is bound to. */
type WebhookOwner = { organizationId: string; webhookId: string };

declare global {
  namespace Grafast {
    /** A request as the plugins read it, and their notes for it. */
    interface Context {
      organizationId: string;
      /** Scopes of the verified access token; empty without one. */
      scopes: readonly string[];
      /** Opens a sealed external authentication token. The key never reaches the database. */
      openExternalAuthenticationToken(ciphertext: Buffer, owner: Owner): string;
      /** Seals and hashes a token. */
      sealExternalAuthenticationToken(
        token: string,
        owner: Owner,
      ): {
        ciphertext: Buffer;
        hash: Buffer;
        /** The hash under the previous key, if there is one: the database may store the token under it, too. */
        previousHash: Buffer | undefined;
      };
      /** The keyed checksum of a new cursor, and all that a cursor may have. */
      cursorChecksum(text: string): string;
      cursorChecksums(text: string): readonly string[];
      /** Seals the secret of a webhook, and opens a sealed one. */
      sealWebhookSecret(secret: string, owner: WebhookOwner): Buffer;
      openWebhookSecret(ciphertext: Buffer, owner: WebhookOwner): string;
      /** The webhooks' secrets that the answer shows. */
      shownSecrets?: { webhookId: string; secret: string }[];
      /** The reason why nothing can be sent to a URL, judged by its text alone; null when it can. */
      problemOfWebhookUrl(url: string): string | null;
      /**
       * Counts rows against the limit, and throws `LIMIT_EXCEEDED`.
       * Null for operations that have few rows even if every page is full.
       */
      countRows: ((rows: number) => void) | null;
      /** How many statements the operation's plan has; known before the first of them runs. */
      statementCount?: number;
      /** When its planning began, by `performance.now()`, and its duration: about 0 for a known plan. */
      planning?: { readonly startedAt: number; readonly durationMs: number };
    }
  }
}
