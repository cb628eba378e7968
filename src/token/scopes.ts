/**
 * The table of scopes (RFC 6749 section 3.3), from which all that knows scopes derives.
 * A new one is a row here and a migration, which widens the constraints on scopes, has the policies of the role, and adds it to the
 * views of `audit`; test/oauth/agreesWithMigrations.test.ts names what it lacks. A root field of its own is RootFieldsPlugin's.
 * In order of precedence: a token's role is that of its first scope, since `me` stands alone and `app` includes what `basic` may do.
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
  /** PostgreSQL's, under which the statements of a token run. */
  readonly role: `graph_${string}`;
  /**
   * Whose tokens have it: a grant type gives those of a user or those of an application,
   * and a public application holds a user's only.
   */
  readonly holder: Holder;
  /** What it gives access to, with names of the graph in back quotes. */
  readonly allows: string;
  /** What a person allows an application to read with it. */
  readonly consent?: readonly string[];
  /** To a person whose request was `FORBIDDEN` to such a token: why, and which one is needed. */
  readonly forbidden: string;
};

export type Holder = 'application' | 'user';
export type Scope = keyof typeof table;
export type ScopeRole = (typeof table)[Scope]['role'];

export const scopes: Readonly<Record<Scope, ScopeRow & { readonly role: ScopeRole }>> = table;

/** By precedence. */
export const scopesByRank = Object.keys(scopes) as Scope[];
/** Sorted, as everywhere where there are several: equal sets are equal arrays then. */
export const scopeNames: readonly Scope[] = scopesByRank.toSorted();

export const scopesOf = (holder: Holder): readonly Scope[] =>
  scopeNames.filter((scope) => scopes[scope].holder === holder);

/**
 * What an application has whose scopes are not given.
 * A column's default and a migration have the first, too.
 */
export const defaultScopes: Readonly<Record<Holder, Scope>> = { application: 'app', user: 'me' };

export const isScope = (word: string): word is Scope => Object.hasOwn(scopes, word);

/** The role of a token with these scopes. */
export const roleOf = (held: readonly Scope[]): ScopeRole =>
  scopes[scopesByRank.find((scope) => held.includes(scope)) ?? 'basic'].role;

/** `app, basic and me`. */
export const scopesInWords = `${scopeNames.slice(0, -1).join(', ')} and ${scopeNames.at(-1)}`;
