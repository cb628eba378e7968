/**
 * The table of scopes (RFC 6749 section 3.3), from which everything about scopes derives.
 * A new scope needs a row here and a migration. The migration widens the constraints on scopes, and adds the role's policies and the role to
 * the views of `audit`; test/oauth/agreesWithMigrations.test.ts names what is missing. A root field of its own is in RootFieldsPlugin.
 *
 * Scopes are in order of precedence: a token's role is that of its first scope. `me` stands alone, and `app` includes what `basic` may do.
 */
const table = {
  me: {
    role: 'graph_user',
    holder: 'user',
    allows: '`viewer`: the user’s own data, cards, grants and accessible units.',
    consent: [
      'your name, e-mail address, language and time zone',
      'the cards that are assigned to you',
      'the units that you can access',
    ],
    forbidden:
      'the active token belongs to a user (scope me). app, the mutations and external authentication tokens need an application’s token (scope app).',
  },
  app: {
    role: 'graph_app',
    holder: 'application',
    allows:
      '`app` and the mutations: all users, units and cards of the organization, and who may enter where, to read and change.',
    forbidden:
      'the active token belongs to an application (scope app). What a person sees, viewer, needs a user’s token (scope me).',
  },
  basic: {
    role: 'graph_basic',
    holder: 'application',
    allows: 'No data. A resource server introspects other tokens with it.',
    forbidden:
      'a token of scope basic reads no data. viewer needs a user’s token (scope me), app and the mutations an application’s (scope app).',
  },
} as const satisfies Record<string, ScopeRow>;

type ScopeRow = {
  /** The PostgreSQL role under which the statements of a token run. */
  readonly role: `graph_${string}`;
  /**
   * The holders of its tokens: a grant type issues tokens of a user or of an application.
   * A public application holds only tokens of a user.
   */
  readonly holder: Holder;
  /** The access that it gives, with names of the graph in back quotes. */
  readonly allows: string;
  /** The data that a person allows an application to read with it. */
  readonly consent?: readonly string[];
  /** The message when such a token was `FORBIDDEN` a request: why, and which scope it needs. */
  readonly forbidden: string;
};

export type Holder = 'application' | 'user';
export type Scope = keyof typeof table;
export type ScopeRole = (typeof table)[Scope]['role'];

export const scopes: Readonly<Record<Scope, ScopeRow & { readonly role: ScopeRole }>> = table;

/** In order of precedence. */
export const scopesByRank = Object.keys(scopes) as Scope[];
/** Sorted, as lists of scopes are everywhere, so that equal sets are equal arrays. */
export const scopeNames: readonly Scope[] = scopesByRank.toSorted();

export const scopesOf = (holder: Holder): readonly Scope[] =>
  scopeNames.filter((scope) => scopes[scope].holder === holder);

/**
 * The scopes of an application that gives none.
 * The first is also a column's default, and in a migration.
 */
export const defaultScopes: Readonly<Record<Holder, Scope>> = { application: 'app', user: 'me' };

export const isScope = (word: string): word is Scope => Object.hasOwn(scopes, word);

/** The role of a token with these scopes. */
export const roleOf = (held: readonly Scope[]): ScopeRole =>
  scopes[scopesByRank.find((scope) => held.includes(scope)) ?? 'basic'].role;

/** `app, basic and me`. */
export const scopesInWords = `${scopeNames.slice(0, -1).join(', ')} and ${scopeNames.at(-1)}`;
