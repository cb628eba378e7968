import type {} from 'postgraphile/grafast';

/** Whose token it is, to which a sealed one is bound. */
type Owner = { organizationId: string; userId: string };

/** Whose secret it is, to which a sealed one is bound. */
type WebhookOwner = { organizationId: string; webhookId: string };

declare global {
  namespace Grafast {
    /** What the plugins need of a request, and what they note for it. */
    interface Context {
      organizationId: string;
      /** Scopes of the verified access token; empty without one. */
      scopes: readonly string[];
      /** Opens a sealed external authentication token. The key never reaches the database. */
      openExternalAuthenticationToken(ciphertext: Buffer, owner: Owner): string;
      /** Seals and hashes one. */
      sealExternalAuthenticationToken(
        token: string,
        owner: Owner,
      ): {
        ciphertext: Buffer;
        hash: Buffer;
        /** The hash under the key before, while there is one: the token may be stored under it, too. */
        previousHash: Buffer | undefined;
      };
      /** Seals the secret of a webhook, and opens what was sealed. */
      sealWebhookSecret(secret: string, owner: WebhookOwner): Buffer;
      openWebhookSecret(ciphertext: Buffer, owner: WebhookOwner): string;
      /** Why nothing can be sent to a URL, as far as it alone tells; null when it can. */
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
