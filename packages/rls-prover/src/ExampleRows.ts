import { type ClientBase, DatabaseError, escapeIdentifier, escapeLiteral } from 'pg';
import type { Relation } from './catalogue.ts';
import type { Claim, Examples, Options, Principal } from './interface.ts';
import type { BoundGoal } from './invariants.ts';

/** The values that the solver wants in a row: a column's text, or null. */
export type Hints = ReadonlyMap<string, string | null>;

export type Json = Record<string, unknown>;
export type Actor = Principal & { actor: string };

/** The examples' rows in an open transaction, and what principals make of them. */
export class ExampleRows {
  readonly client: ClientBase;
  readonly #claims: readonly Claim[];
  readonly #examples: Examples;
  #isInserted = false;

  constructor({ client, claims }: Pick<Options, 'client' | 'claims'>, examples: Examples) {
    this.client = client;
    this.#claims = claims;
    this.#examples = examples;
  }

  /** Inserts them at the first call. */
  async insert(): Promise<void> {
    if (this.#isInserted) return;
    await this.client.query(`set local lock_timeout = '2s'; set local client_min_messages = error`);
    const query = (statement: string) => within(this.client, () => this.client.query(statement));
    await this.#examples.insert({ query } as ClientBase);
    this.#isInserted = true;
  }

  /**
   * Writes the solver's values into the examples: all at once, or else those that a row takes.
   * @returns the statements that did so
   */
  async write(relation: Relation, wanted: Hints): Promise<string[]> {
    const assignments = [...wanted].map(([column, value]) => `${escapeIdentifier(column)} = ${literalOf(value)}`);
    const written: string[] = [];
    for (const { ctid, row } of assignments.length > 0 ? await this.of(relation.name) : []) {
      const update = async (assignment: string) => {
        const isDone = await within(this.client, () =>
          this.client.query(`update ${relation.name} set ${assignment} where ctid = $1`, [ctid]),
        ).then(({ rowCount }) => rowCount === 1, refusedAs(false));
        if (isDone) written.push(`update ${relation.name} set ${assignment} where ${conditionOf(relation, row)}`);
        return isDone;
      };
      // A row that was updated is stored elsewhere.
      if (!(await update(assignments.join(', '))))
        for (const assignment of assignments) if (await update(assignment)) break;
    }
    return written;
  }

  /** The examples among a relation's rows. */
  async of(relation: string): Promise<{ ctid: string; row: Json }[]> {
    const { rows } = await this.client.query(
      `select ctid::text, to_jsonb(t) as row from ${relation} t
       where to_jsonb(t)::text ~ ${escapeLiteral(this.#examples.rows)} limit 100`,
    );
    return rows;
  }

  /** Two at most of a relation's rows that have these values. */
  async like(relation: string, row: Json): Promise<Json[]> {
    const text = `select to_jsonb(t) as row from ${relation} t where to_jsonb(t) @> $1 limit 2`;
    const { rows } = await this.client.query(text, [row]);
    return rows.map((found) => found.row);
  }

  /** A condition for each example, of columns that its role may read; none when it may read none of its key. */
  async conditions({ relation, role }: BoundGoal): Promise<string[]> {
    const readable = relation.privileges[`select ${role}`] ?? [];
    const key = relation.keys[0]?.filter((name) => readable.includes(name)) ?? [];
    if (key.length === 0) return [];
    const examples = await this.of(relation.name);
    return examples.slice(0, 8).map(({ row }) => equalTo(row, key));
  }

  /** The rows that a statement of a principal changes, after others of the owner. They are known by where they are stored. */
  async changedBy(
    { relation }: BoundGoal,
    principal: Actor,
    statement: string,
    first: readonly string[] = [],
  ): Promise<{ old: Json; updated?: Json }[]> {
    return undone(this.client, async () => {
      for (const one of first) await this.client.query(one);
      const before = await this.of(relation.name);
      await this.become(principal);
      await this.client.query(statement);
      await this.client.query('reset role');
      const after = await this.of(relation.name);
      const stay = new Set(after.map(({ ctid }) => ctid));
      const were = new Set(before.map(({ ctid }) => ctid));
      const fresh = after.filter(({ ctid }) => !were.has(ctid));
      return before
        .filter(({ ctid }) => !stay.has(ctid))
        .map(({ row }) => {
          const [first] = [...fresh].sort((a, b) => likeness(row, b.row) - likeness(row, a.row));
          return first ? { old: row, updated: first.row } : { old: row };
        });
    }).catch(refusedAs([]));
  }

  /** Whether the invariant is not true of a row, by the claims of a principal. */
  async breaks(
    { invariant, relation }: BoundGoal,
    { actor, claims }: Actor,
    old: Json,
    updated: Json,
  ): Promise<boolean> {
    return undone(this.client, async () => {
      for (const statement of this.#claiming(claims)) await this.client.query(statement);
      const { rows } = await this.client.query(
        `select (${invariant.expression}) is not true as broken
         from jsonb_populate_record(null::${relation.name}, $1) as old, jsonb_populate_record(null::${relation.name}, $2) as new,
           (select ${this.#columnsOf(claims)}) as claims`,
        [old, updated, actor],
      );
      return rows[0]?.broken === true;
    }).catch(refusedAs(false));
  }

  /** Acts as a principal until the savepoint is undone. */
  async become(principal: Actor): Promise<void> {
    for (const statement of this.becoming(principal)) await this.client.query(statement);
  }

  /** The statements by which a connection acts as a principal. */
  becoming({ actor, claims }: Actor): string[] {
    return [...this.#claiming(claims), `set local role ${escapeIdentifier(actor)}`];
  }

  /** Names a row by its keys. */
  describe(row: Json): string {
    const { shorten = (value) => value } = this.#examples;
    const keys = Object.entries(row)
      .filter(([name, value]) => /(^|_)(id|key|name)$/.test(name) && value !== null)
      .slice(0, 4)
      .map(([name, value]) => `${name} ${shorten(String(value)).slice(0, 40)}`);
    return keys.join(', ') || 'a row';
  }

  #claiming(claims: Principal['claims']): string[] {
    return Object.entries(claims).map(
      ([name, value]) =>
        `select set_config(${escapeLiteral(this.#claimOf(name).setting)}, ${escapeLiteral(value)}, true)`,
    );
  }

  /** As `claims` has them; `$3` is the role. */
  #columnsOf(claims: Principal['claims']): string {
    const columns = Object.keys(claims).map((name) => {
      const { setting, type } = this.#claimOf(name);
      return `nullif(current_setting(${escapeLiteral(setting)}, true), '')::${type} as ${escapeIdentifier(name)}`;
    });
    return [...columns, '$3::text as role'].join(', ');
  }

  #claimOf(name: string): Claim {
    const claim = this.#claims.find((one) => one.name === name);
    if (!claim) throw new Error(`A principal of the examples has ${name}, which is none of the claims.`);
    return claim;
  }
}

export const literalOf = (value: unknown) =>
  value === null || value === undefined
    ? 'null'
    : escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));

/** A condition that a row satisfies, by its key or else by all that it has but times, which are others tomorrow. */
export function conditionOf({ keys: [key] }: Pick<Relation, 'keys'>, row: Json): string {
  const lasting = Object.keys(row).filter((name) => !/^\d{4}-\d\d-\d\dT|^\[object/.test(String(row[name])));
  return equalTo(row, key ?? lasting) || 'true';
}

const equalTo = (row: Json, columns: readonly string[]) =>
  columns
    .map((name) =>
      row[name] === null ? `${escapeIdentifier(name)} is null` : `${escapeIdentifier(name)} = ${literalOf(row[name])}`,
    )
    .join(' and ');

const likeness = (a: Json, b: Json) =>
  Object.keys(a).filter((name) => JSON.stringify(a[name]) === JSON.stringify(b[name])).length;

/** Runs the work in a savepoint, and undoes it. */
export async function undone<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('savepoint undone');
  try {
    return await work();
  } finally {
    await client.query('rollback to savepoint undone; release savepoint undone');
  }
}

/** Runs the work in a savepoint, and undoes it only if it fails. */
export async function within<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('savepoint example');
  try {
    const result = await work();
    await client.query('release savepoint example');
    return result;
  } catch (error) {
    await client.query('rollback to savepoint example; release savepoint example');
    throw error;
  }
}

/** The result where PostgreSQL refuses a statement. Other errors are thrown on. */
export const refusedAs =
  <Result>(result: Result) =>
  (error: unknown): Result => {
    if (!(error instanceof DatabaseError)) throw error;
    return result;
  };
