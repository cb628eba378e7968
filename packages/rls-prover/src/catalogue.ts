/**
 * The part of PostgreSQL's catalogue that decides about access.
 * Names of types are canonical: `uuid`, `text[]`, `app_public.kind`.
 */
export type Catalogue = {
  /** By the name that PostgreSQL prints, in quotes where it needs them. */
  relations: ReadonlyMap<string, Relation>;
  /** By the name that a parse tree has. */
  paths: ReadonlyMap<string, Relation>;
  functions: ReadonlyMap<string, readonly Routine[]>;
  triggers: readonly Trigger[];
  places: readonly Place[];
  roles: ReadonlyMap<string, Role>;
  /** PostgreSQL's own functions: the most volatile overload, and the type by number of arguments. */
  builtins: ReadonlyMap<string, Builtin>;
  /** Types whose equality is identity, by the family within which they are compared; no text where a collation takes different texts for equal. */
  families: ReadonlyMap<string, string>;
  /** Types whose values are compared by a collation: texts of all types, and arrays of them. */
  collated: ReadonlySet<string>;
  /** Names of the database's operators, but of those in C on types of their own, as extensions bring them; for {@link mayBeOwn}. */
  operators: ReadonlySet<string>;
  /** The results of PostgreSQL's operators by the type on their left, `->> jsonb`. */
  results: ReadonlyMap<string, Result>;
  /** Casts of the database's own between these, `from to`, but those that are without a function or by one of {@link Routine.isTrusted}. */
  casts: ReadonlySet<string>;
  /** The settings of claims. */
  settings: ReadonlySet<string>;
  /** Functions that are not PostgreSQL's own and have the name of one that is; for {@link mayBeOwn}. */
  ownNames: ReadonlySet<string>;
  /** Domains whose check calls a function of the database's own, and types that are made of them. */
  checkedTypes: ReadonlySet<string>;
  /** Functions of casts that PostgreSQL makes where none is written. */
  implicitCasts: ReadonlySet<string>;
  /** Types that have no parts: a composite is null when its parts are. */
  simpleTypes: ReadonlySet<string>;
  /** Types of the database's own that have the name of one of PostgreSQL's; for {@link mayBeOwn}. */
  ownTypes: ReadonlySet<string>;
};

/**
 * Whether a name without a schema may mean one of the database's own functions or operators, of these names.
 * Under the search path pg_catalog, PostgreSQL finds and prints without a schema only what is in pg_catalog; it never looks for functions
 * and operators among temporary objects. Those that it finds nevertheless stand among the names as `pg_catalog.name`.
 */
export const mayBeOwn = (own: ReadonlySet<string>, name: string, isPinned: boolean): boolean =>
  own.has(`pg_catalog.${name}`) || (!isPinned && own.has(name));

/** Whether an operator may be one of the database's own, by its name, perhaps with its schema. */
export const isOwnOperator = (name: string, { operators }: Catalogue, isPinned: boolean): boolean =>
  name.includes('.') ? !name.startsWith('pg_catalog.') || operators.has(name) : mayBeOwn(operators, name, isPinned);

/** Whether a function runs under such a search path. That it sets no other is among its effects. */
export const isPinned = ({ settings }: Routine): boolean => settings.some((setting) => pinnedPath.test(setting));

export const pinnedPath = /^search_path=(pg_catalog(, pg_temp)?|"")?$/;

export type Relation = {
  name: string;
  kind: 'table' | 'partition' | 'view' | 'materialized view' | 'foreign table';
  owner: string;
  rowSecurity: 'off' | 'on, not forced' | 'forced' | null;
  columns: readonly Column[];
  foreignKeys: readonly ForeignKey[];
  /** Those that act when the row to which they refer is deleted or gets another key. */
  actions: readonly ForeignKey[];
  /** The columns of unique keys without nulls. */
  keys: readonly (readonly string[])[];
  policies: readonly Policy[];
  /** What it is a partition or child of, at any depth. */
  parents: readonly string[];
  /** A view's query. */
  definition: string | null;
  isInvoker: boolean;
  /** Whether its conditions are asked before those of who reads it. */
  isBarrier: boolean;
  /** Columns that a command writes without naming them: triggers assign them, or they are generated. */
  assigned: { insert: readonly string[]; update: readonly string[] };
  /** Whether rules or triggers do something else than what a command says. */
  isRewritten: boolean;
  /** The columns that a role may use, by `command role`; of `delete` and `truncate` all or none. */
  privileges: Readonly<Record<string, readonly string[]>>;
};

export type Column = {
  name: string;
  type: string;
  notNull: boolean;
  default: string | null;
  isGenerated: boolean;
  /** `generated always as identity`: a plain insert does not write it. */
  isIdentity: boolean;
};
/** When the row to which it refers is deleted, `null` and `default` set the columns of `sets`. */
export type ForeignKey = {
  name: string;
  columns: string[];
  references: string;
  referenced: string[];
  onDelete: Effect;
  onUpdate: Effect;
  sets: string[];
};
type Effect = 'none' | 'cascade' | 'null' | 'default';
/** A place in the catalogue that a client's statement may set in motion, with the functions that it calls by their oids. */
export type Place = {
  name: string;
  /** The table that it acts on when a row is written; `*` is any, and null none. */
  written: string | null;
  /** A part that is more than an expression or a query, or null. */
  unknown: string | null;
  builtins: { name: string; volatility: 'i' | 's' | 'v' }[];
  own: string[];
};
/** A trigger that fires. An event trigger is of no relation. */
export type Trigger = {
  name: string;
  relation: string | null;
  signature: string;
  isDefiner: boolean;
  holder: string;
  /** It may change the row that is written. */
  isBefore: boolean;
  events: string[];
};
export type Policy = {
  name: string;
  command: 'select' | 'insert' | 'update' | 'delete' | 'all';
  permissive: boolean;
  roles: string[];
  using: string | null;
  check: string | null;
};
export type Routine = {
  name: string;
  signature: string;
  language: string;
  body: string;
  /** `create function …`, which PL/pgSQL is parsed from; null of an aggregate or window function. */
  source: string | null;
  parameters: { name: string; type: string }[];
  returns: string;
  /** The types of its parameters and results by their own names, domains as domains. */
  types: string[];
  returnsSet: boolean;
  isDefiner: boolean;
  isStrict: boolean;
  isTrigger: boolean;
  /**
   * In C, of an extension that PostgreSQL marks as trusted, and immutable, an operator's, or a part of a type, operator class or the like.
   * It yields a value of its arguments, and does nothing else. Only a superuser brings code in C.
   */
  isTrusted: boolean;
  /** An aggregate or a window function. */
  isOfRows: boolean;
  /** A call by its name and this number of arguments can mean nothing else: no defaults, no `variadic`, no results among the parameters. */
  isExact: boolean;
  owner: string;
  /** Settings that hold while it runs, such as `search_path=pg_catalog, pg_temp`. */
  settings: string[];
  volatility: 'i' | 's' | 'v';
  callers: string[];
  /** All to whom it is granted. */
  holder: string;
};
/** `type` is empty where it depends on the right side, and `right` is the type of a literal there. */
export type Result = { type: string; isStrict: boolean; isImmutable: boolean; right: string | null };
export type Role = { name: string; bypasses: boolean; has: string[]; mayBecome: string[] };
export type Builtin = { volatility: 'i' | 's' | 'v'; returns: Record<string, string>; isOfRows: boolean };
