import type { Pool } from 'pg';
import type { Secrets } from '../../crypto/secrets.ts';
import type { Scope } from '../../token/scopes.ts';
import type { Client } from '../client.ts';
import type { Check, Parameters } from '../form.ts';
import type { AuthenticateUser } from '../passwords.ts';
import type { TokenReply } from '../token/issueTokens.ts';

/**
 * A way to get tokens at `POST /oauth/token`: everything about it is here. `grants.ts` lists them.
 * The endpoint, its parameters and checks, the metadata, the mobile apps of applications and the documentation derive from it.
 */
export type Grant = {
  /** The value of `grant_type`. */
  readonly type: string;
  /** The name in metrics and for applications' mobile apps: the type, unless several grants have it. */
  readonly name: string;
  /** Whether a request asks for this grant, if several have its type; always, unless given. */
  readonly isMeant?: (parameters: Parameters) => boolean;
  /** Whether the users of an application's mobile app may sign in by it. */
  readonly isForMobileApps?: true;
  /** The scopes that it can give. */
  readonly scopes: readonly Scope[];
  /** Its parameters beside client and scope, each with its source, such as a section of an RFC. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Further rules for the parameters, checked in this order, before the client is known. */
  readonly checks?: readonly Check<Parameters>[];
  /** Rules for the client, checked in this order. */
  readonly clientChecks?: readonly Check<Client>[];
  /** The reply; the client is authenticated, and all checks above have passed. */
  readonly issue: (context: GrantContext, client: Client, parameters: Parameters) => Promise<TokenReply>;
  /**
   * How a client uses it, for the documentation.
   * Names are in back quotes, and the example is the rest of a `curl`. One without a title is shown below the one before.
   */
  readonly guide: { readonly title?: string; readonly text: string; readonly example: readonly string[] };
};

export type GrantContext = {
  /** Connections as the authenticator. */
  readonly pool: Pool;
  readonly secrets: Secrets;
  readonly authenticateUser: AuthenticateUser;
};
