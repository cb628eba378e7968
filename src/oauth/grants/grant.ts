import type { Pool } from 'pg';
import type { Secrets } from '../../crypto/secrets.ts';
import type { Scope } from '../../token/scopes.ts';
import type { AuthenticateUser } from '../authenticateUser.ts';
import type { Check } from '../check.ts';
import type { Client } from '../client/authenticateClient.ts';
import type { Parameters } from '../form.ts';
import type { TokenReply } from '../token/issueTokens.ts';

/**
 * A way to get tokens at `POST /oauth/token`: all that the server knows of it. `grants.ts` lists them.
 * The endpoint, its parameters and checks, the metadata, the mobile apps of applications and the documentation derive from it.
 */
export type Grant = {
  /** What `grant_type` says. */
  readonly type: string;
  /** Of metrics and applications' mobile apps: the type, unless that has several ways. */
  readonly name: string;
  /** Whether a request is meant for it, of several of its type; always, unless given. */
  readonly isMeant?: (parameters: Parameters) => boolean;
  /** Whether the users of an application's mobile app may sign in by it. */
  readonly isForMobileApps?: true;
  /** What it can give. */
  readonly scopes: readonly Scope[];
  /** What it needs beside the client and the scope, and who requires it, such as a section of an RFC. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What it refuses beside a lack of parameters, in this order, before the client is known. */
  readonly checks?: readonly Check<Parameters>[];
  /** Which clients it refuses, in this order. */
  readonly clientChecks?: readonly Check<Client>[];
  /** The reply; the client is authenticated, and nothing above has refused. */
  readonly issue: (context: GrantContext, client: Client, parameters: Parameters) => Promise<TokenReply>;
  /**
   * How a client uses it, for the documentation:
   * names are in back quotes, the example is the rest of a `curl`. One without a title is shown below the one before.
   */
  readonly guide: { readonly title?: string; readonly text: string; readonly example: readonly string[] };
};

/** What grants work with. */
export type GrantContext = {
  /** Connections as the authenticator. */
  readonly pool: Pool;
  readonly secrets: Secrets;
  readonly authenticateUser: AuthenticateUser;
};
