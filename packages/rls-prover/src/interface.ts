import type { ClientBase } from 'pg';

/** What is proven, of which database, and what is known of it beside PostgreSQL's catalogue. */
export type Options = {
  /** In a transaction that the caller rolls back: rows are inserted, and roles and settings changed. */
  client: ClientBase;
  /** The roles of clients. The roles that one of them may become count as its own. */
  roles: readonly string[];
  /** What a transaction claims about its client. */
  claims: readonly Claim[];
  invariants: readonly Invariant[];
  accepted?: readonly Acceptance[];
  assumptions?: Assumptions;
  /** Without these nothing is refuted: what is not proven stays unproven. */
  examples?: Examples;
  /** Which goals are judged: else all. What else a proof rests on is always judged. */
  isAsked?: (goal: Goal) => boolean;
};

/** Of which weaker schemas is asked whether anything notices them. No example is tried. */
export type MutationOptions = Options & {
  /** Whether a table's policies and rights are weakened: else those of all. */
  isWeakened?: (relation: string) => boolean;
  /** Texts of policies, such as calls that return a claim, and what is written in the place of each. */
  swaps?: readonly (readonly [text: string, other: string])[];
  /** The names of what else is noticed, such as by lints: asked for when no proof fails. */
  findLints?: () => Promise<readonly string[]>;
};

/** A policy or right that was made weaker. */
export type Mutation = {
  mutant: string;
  /** Proofs that fail, or lints, by name. */
  noticedBy: readonly string[];
  /** Why nothing notices it; else null. */
  survives: string | null;
};

/**
 * A claim: a column of `claims` in invariants.
 * It has the value of a setting, and is null when that is empty.
 */
export type Claim = {
  name: string;
  /** Such as `app.user_id`, which policies read with `current_setting`. */
  setting: string;
  /** As PostgreSQL's catalogue has it, such as `uuid`, `text` or `int4`. */
  type: string;
};

export type Command = 'select' | 'insert' | 'update' | 'delete' | 'truncate';

/** What must hold of every row that a client reads, changes or writes. */
export type Invariant = {
  name: string;
  /**
   * SQL over the rows `old` and `new` and over `claims`, which must be true.
   * `old` is the row that is read, changed or deleted, `new` the one that is written; where there is one row, both stand for it.
   */
  expression: string;
  /**
   * With its schema; else `*`, which is every table and view.
   * An invariant of the same name for a relation stands in its place there.
   */
  relation?: string;
  /** Else all. */
  commands?: readonly Command[];
  /** Else those of clients. */
  roles?: readonly string[];
  /** Only relations that have these; of an insert or update, only when the role may write one. */
  columns?: readonly string[];
};

/** One invariant, relation, command and role, or what else a proof rests on. */
export type Goal = {
  invariant: string;
  /** A table or view, or a function with its parameters' types, or another object. */
  relation: string;
  command: string;
  role: string;
};

/** Whether it holds. */
export type Judgement = Goal & {
  verdict: Verdict;
  why: string;
  /** Decided by privileges and the absence of policies alone. */
  isByPrivilege: boolean;
  /** The reason why it may be so although it is not proven. */
  accepted: string | null;
};

export type Verdict = 'proven' | 'refuted' | 'unproven';

/**
 * Why a judgement may be so although it is not proven.
 * Of a function, the role is all roles to which it is granted, sorted and joined by `, `: one more is not accepted with them. A trigger's
 * function that nobody may call has the role `nobody`. A cascade is accepted by its table.
 */
export type Acceptance = Goal & { reason: string };

/** What the proofs rest on and PostgreSQL's catalogue does not say. */
export type Assumptions = {
  /**
   * What separates tenants: a column of their tables, and the table of tenants.
   * A cascade keeps to a tenant's rows when the column is a part of its foreign key. The invariant is a noun: `tenant`, `organization`.
   */
  tenant?: { invariant: string; column: string; relation: string };
  /**
   * Schemas that are not looked at, as a regular expression of PostgreSQL's.
   * If a client has a right in one, that is an unproven judgement.
   */
  ignoredSchemas?: string;
  /**
   * What is known to break an assumption, such as a function that sets a claim.
   * Each is an unproven judgement.
   */
  broken?: readonly (Goal & { why: string })[];
};

/**
 * Rows and clients with which a counterexample is looked for.
 * There should be two tenants at least, and two people of one of them.
 */
export type Examples = {
  /** Inserts the rows. A statement that fails rejects and is undone alone. */
  insert(client: Pick<ClientBase, 'query'>): Promise<void>;
  /** A regular expression of PostgreSQL's. The rows' JSON matches it, and that of no other row does. */
  rows: string;
  principals: readonly Principal[];
  /** How a value of a row reads in a judgement. */
  shorten?(value: string): string;
};

/** A client, by its claims; one that is absent is `''`. */
export type Principal = {
  /** How it reads in a judgement, behind the role: `of Acme as Ada`. */
  name: string;
  claims: Readonly<Record<string, string>>;
};
