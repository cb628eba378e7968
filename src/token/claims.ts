import type { Scope } from './scopes.ts';

/** The claims of a verified access token. They determine everything that a request may do. */
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
