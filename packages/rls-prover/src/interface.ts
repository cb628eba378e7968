import type { ClientBase } from 'pg';

/** The question: which invariants hold for which clients of a database. */
export type Options = {
  /** A connection in a transaction that the caller rolls back: the prover inserts rows and changes roles. */
  client: ClientBase;

  /** The roles of clients. A client's judgements cover each role that it may become. */
  roles: readonly string[];
  /** The settings that say who the client is. */
  claims: readonly Claim[];
  invariants: readonly Invariant[];
  accepted?: readonly Acceptance[];
  assumptions?: Assumptions;
  /** Without examples the prover refutes nothing. */
  examples?: Examples;
  /** Chooses the goals; without it, all are judged. Rights, functions and cascades always are. */
  isAsked?: (goal: Goal) => boolean;
  /** Called with the number of goals that are judged, or of mutants that are tried: both take minutes. */
  onProgress?: (done: number, total: number, what: 'goals' | 'mutants') => void;
};

/** The question which weaker schemas no proof and no lint would notice. `mutate` tries no examples. */
export type MutationOptions = Options & {
  /** Chooses the tables whose policies and rights are weakened; without it, all are. */
  isWeakened?: (relation: string) => boolean;
  /** Pairs of texts, such as calls that return a claim: the second replaces the first in a policy. */
  swaps?: readonly (readonly [text: string, other: string])[];
  /** Finds what lints say of the schema. It is called when no proof fails. */
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

/** A rule for every row that a client reads, changes or writes. */
export type Invariant = {
  name: string;
  /**
   * An expression of SQL over `old`, `new` and `claims`. It must be true.
   * `old` is the row that a command reads, changes or deletes, `new` the row that it writes. Where there is one row, both names stand for it.
   * `claims` has a column for each claim, and `role`.
   */
  expression: string;
  /**
   * A table or view with its schema; without it `*`, which is every table and view.
   * For one relation, an invariant of the same name replaces that of `*`.
   */
  relation?: string;
  /** Without it, all. */
  commands?: readonly Command[];
  /** Without it, those of clients. */
  roles?: readonly string[];
  /** Limits it to relations with these columns, and to inserts and updates that may write one of them. */
  columns?: readonly string[];
};

/** One invariant, relation, command and role; or a right, function or cascade on which proofs rest. */
export type Goal = {
  invariant: string;
  /** A table, a view, a function with the types of its parameters, or another object. */
  relation: string;
  command: string;
  role: string;
};

/** Whether it holds. */
export type Judgement = Goal & {
  verdict: Verdict;
  why: string;
  /** Privileges alone decide it, or that no policy lets a row pass. */
  isByPrivilege: boolean;
  /** The reason for which it was accepted without a proof. */
  accepted: string | null;
  /** The mend of a violation, if it is known: the condition that policies have to imply, or the right to revoke. */
  remedy: string | null;
  /** Statements that show the violation when the examples are there: as a client, the last one reads or writes the row. */
  counterexample: readonly string[] | null;
};

/** Whether a judgement is neither proven nor accepted. */
export const isOpen = ({ verdict, accepted }: Judgement) => verdict !== 'proven' && accepted === null;

export type Verdict = 'proven' | 'refuted' | 'unproven';

/**
 * Accepts one judgement without a proof, for a reason.
 * For a function, `role` lists all roles that may execute it, sorted and joined by `, `: a further grant ends the acceptance.
 * For a trigger's function that no role may execute, `role` is `nobody`, and for a trigger `everybody`.
 * `hasChanged` says that something which the judgement has read is different now. The judgement is open again then.
 */
export type Acceptance = Goal & { reason: string; hasChanged: boolean };

/** Facts on which the proofs rest, and that PostgreSQL's catalogue does not have. */
export type Assumptions = {
  /**
   * The schemas that the prover ignores, as a regular expression of PostgreSQL's.
   * If a client has a right in one, that is an unproven judgement.
   */
  ignoredSchemas?: string;
  /**
   * Facts about every client's claims, as expressions of SQL over `claims`.
   * The server that sets the claims must see to it. An assumption that no claims satisfy is an error.
   */
  claims?: readonly string[];
  /**
   * Known breaks of an assumption, such as a function that sets a claim.
   * Each is an unproven judgement.
   */
  broken?: readonly (Goal & { why: string; remedy?: string })[];
};

/**
 * Rows and clients with which the prover looks for a counterexample.
 * There should be two tenants at least, and two people of one of them.
 */
export type Examples = {
  /** Inserts the rows. A statement that fails is undone, and its promise rejects. */
  insert(client: Pick<ClientBase, 'query'>): Promise<void>;
  /** A regular expression of PostgreSQL's that matches the JSON of these rows, and of no others. */
  rows: string;
  principals: readonly Principal[];
  /** How long to look for counterexamples to all goals; 30 without it. A goal that was not tried within this time stays unproven. */
  maxSeconds?: number;
  /** Shortens a row's value for a judgement. */
  shorten?(value: string): string;
};

/** A client, by its claims. An absent claim is `''`. */
export type Principal = {
  /** Follows the role in a judgement: `of Acme as Ada`. */
  name: string;
  claims: Readonly<Record<string, string>>;
  /** The roles that it may have; without it, any. */
  roles?: readonly string[];
};
