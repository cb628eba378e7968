import type { Claim } from '../interface.ts';

/** The conventions of a server that sets claims, so that its databases need no configuration. */
export type Preset = {
  readonly name: string;
  /** The roles of clients; null: those that a login which inherits nothing may become. */
  readonly roles: readonly string[] | null;
  /** Matches the roles of clients that are not signed in. */
  readonly anonymous: RegExp;
  /** The schemas that clients reach by their names; null: those that a client's role may use. */
  readonly schemas: readonly string[] | null;
  /** The schemas of the platform, as a regular expression of PostgreSQL's: they are not judged. */
  readonly platform: string;
  /** Matches the schemas of the platform that policies read: the prover reads them, too. */
  readonly asked: RegExp;
  stateClaims(found: Found): StatedClaims;
  /** The claims of a client that is a person, or that is not signed in: null. `person` returns a value by the name of a key or setting. */
  claimsOf(role: string, person: ((name: string) => string | undefined) | null, found: Found): Record<string, string>;
};

/** The claims and settings that policies, views and functions of the database read. */
export type Found = {
  /** Settings, such as `request.jwt.claims`. */
  readonly settings: readonly string[];
  /** Keys of claims in JSON, such as `sub`. */
  readonly keys: readonly string[];
  /** Functions without arguments that by their names return who the client is, such as `app.current_user_id`. */
  readonly userFunctions: readonly string[];
  readonly anonymousRoles: readonly string[];
};

export type StatedClaims = {
  readonly claims: readonly Claim[];
  /** The assumptions that the server ensures. */
  readonly assumed: readonly string[];
  /** The client's id, as an expression that yields a text; null if no claim has it. */
  readonly user: string | null;
  /** The client's tenant, as an expression that yields a text, and the name of columns that hold it. */
  readonly tenant: { readonly column: string; readonly expression: string } | null;
};

/** Matches the names of keys and settings that hold the client's tenant. */
export const tenantName = /^(tenant|org|organi[sz]ation|company|workspace|team|account|shop|store)_(uu)?id$/;

/** Names of the key or setting that holds the client's id, the most likely first. */
export const userNames = [
  'sub',
  'user_id',
  'person_id',
  'uid',
  'account_id',
  'member_id',
  'viewer_id',
  'userid',
  'id',
  'email',
];

/** A database without a platform: roles and schemas are found in it, and libraries have put schemas beside an application's own. */
export const withoutPlatform = {
  ...{ roles: null, anonymous: /anon|guest/, schemas: null, asked: /^$/ },
  platform: '^(graphile_\\w+|postgraphile_watch|extensions|tap|pgtap|sqitch|cron|topology|tiger(_data)?)$',
};
