import type { Invariant } from 'rls-prover';

/** A schema that a developer could well write, in which a client breaks an invariant. */
export type Try = {
  /** Statements of the owner, after the schema of `startProving`. `:A1` is the id of a person, `:A0` that of a tenant. */
  given: string;
  /** Rows beside the examples, which the owner inserts. */
  rows?: string;
  invariants?: readonly Invariant[];
  /** The statement of `member` as A1. */
  act: string;
  /** Matches the answer of the last statement in JSON, or its error: a text that only B or A2 may see. */
  sees?: RegExp;
  /** Or a query whose answer `act` must not change. */
  changes?: string;
  /** Matches the line of an open judgement: its object, or why it is open. */
  names: RegExp;
};

export type Tries = Readonly<Record<string, Try>>;

/** Row-level security on a table, and policies by which a member reads and writes its own rows alone. */
export const ownRows = (table: string, commands = 'select, insert, update, delete') =>
  `alter table ${table} enable row level security, force row level security;
   create policy own on ${table} to member using (tenant_id = (select app.tenant_id()) and author_id = (select app.user_id()));
   grant ${commands} on ${table} to member;`;

/** The invariant that a row is its author's. */
export const author = (relation: string): Invariant => ({
  ...{ name: 'author', relation },
  expression: 'old.author_id = claims.user_id and new.author_id = claims.user_id',
});

/** Options of a function that runs with its owner's rights. */
export const definer = 'security definer set search_path = pg_catalog, pg_temp';
