import type { Claim } from '../interface.ts';

/** What a server that sets claims does, so that a stranger's database needs no configuration. */
export type Preset = {
  readonly name: string;
  /** The roles of clients; null: those that a login which inherits nothing may become. */
  readonly roles: readonly string[] | null;
  /** Those among them as which nobody is signed in. */
  readonly anonymous: RegExp;
  /** The schemas that clients reach by their names; null: those that a client's role may use. */
  readonly schemas: readonly string[] | null;
  /** The schemas of the platform, as a regular expression of PostgreSQL's: they are not judged. */
  readonly platform: string;
  /** Those among them that policies may ask, and that are read for this reason. */
  readonly asked: RegExp;
  stateClaims(found: Found): StatedClaims;
  /** The claims of a client: of a person, whose values are known by the names of keys and settings, or of nobody. */
  claimsOf(role: string, person: ((name: string) => string | undefined) | null, found: Found): Record<string, string>;
};

/** What policies, views and functions of the database read. */
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
  /** What the server sees to. */
  readonly assumed: readonly string[];
  /** Who the client is, as text; null when nothing says so. */
  readonly user: string | null;
  /** Which tenant the client is of, as text, and the name of columns that hold it. */
  readonly tenant: { readonly column: string; readonly expression: string } | null;
};

/** The keys and settings that by their names say of which tenant a client is. */
export const tenantName = /^(tenant|org|organi[sz]ation|company|workspace|team|account|shop|store)_(uu)?id$/;

/** The key or setting that by its name says who the client is. */
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
