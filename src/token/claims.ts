import type { Scope } from './scopes.ts';

/** What a verified access token says. Everything that a request may do follows from it. */
export type Claims = {
  readonly organizationId: string;
  readonly applicationId: string;
  readonly clientId: string;
  /** The person; null for an application's own token. */
  readonly userId: string | null;
  readonly grantId: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
};
