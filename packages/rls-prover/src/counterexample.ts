import { type ClientBase, DatabaseError, escapeIdentifier, escapeLiteral } from 'pg';
import type { Catalogue } from './catalogue.ts';
import { actingRoles, type BoundGoal, predicates } from './goals.ts';
import type { Claim, Examples, Options, Principal } from './interface.ts';
import { ignoreRefusal, refusedAs } from './refusals.ts';

/** What the solver would have of a row: a column's text, or null. */
export type Hints = ReadonlyMap<string, string | null>;

/**
 * Looks for a row that shows a violation, and is the only judge of `refuted`.
 * The examples are inserted, the solver's values are written into one of them, and the command is given as principals of that role. What
 * comes back, or is changed by it, is asked for the invariant. The caller rolls all of it back.
 */
export function openCounterexamples(
  { client, claims: known }: Pick<Options, 'client' | 'claims'>,
  examples: Examples,
  catalogue: Catalogue,
) {
  const { principals, shorten = (value) => value } = examples;

  let isReady = false;
  const end = Date.now() + maxMilliseconds;

  async function refute(goal: BoundGoal, hints: Hints): Promise<string | null> {
    const { invariant, relation, command } = goal;
    const isOfTables =
      relation.kind === 'view' && (command !== 'select' || ![relation.name, '*'].includes(invariant.relation));
    if (predicates.test(invariant.expression) || isOfTables) return null;
    if (!isReady) {
      await client.query(`set local lock_timeout = '2s'; set local client_min_messages = error`);
      await examples.insert({ query: (statement: string) => within(() => client.query(statement)) } as ClientBase);
      isReady = true;
    }
    for (const wanted of hints.size > 0 ? [new Map(), hints] : [new Map()]) {
      const found = await undone(async () => {
        await write(goal.relation.name, wanted);
        return search(goal);
      });
      if (found) return found;
    }
    return null;
  }

  async function search(goal: BoundGoal): Promise<string | null> {
    const until = Math.min(Date.now() + maxMillisecondsOfGoal, end);
    for (const actor of actingRoles(goal.role, catalogue)) {
      for (const principal of principals) {
        if (Date.now() > until) return null;
        const shown = await tries[goal.command](goal, { actor, ...principal });
        if (shown) return `${actor} ${principal.name} ${shown}`;
      }
    }
    return null;
  }

  /** Writes the solver's values into the examples: all at once, or else those that a row takes. */
  async function write(relation: string, wanted: Hints): Promise<void> {
    const assignments = [...wanted].map(([column, value]) => `${escapeIdentifier(column)} = ${literalOf(value)}`);
    for (const { ctid } of assignments.length > 0 ? await rowsOf(relation) : []) {
      const update = (assignment: string) =>
        within(() => client.query(`update ${relation} set ${assignment} where ctid = $1`, [ctid])).then(
          ({ rowCount }) => rowCount === 1,
          (error: unknown) => {
            ignoreRefusal(error);
            return false;
          },
        );
      // A row that was updated is stored elsewhere.
      if (!(await update(assignments.join(', '))))
        for (const assignment of assignments) if (await update(assignment)) break;
    }
  }

  const tries: Record<BoundGoal['command'], (goal: BoundGoal, principal: Actor) => Promise<string | null>> = {
    async select(goal, principal) {
      const { relation } = goal;
      const columns = granted(goal, principal.actor);
      const rows = await undone(async () => {
        await become(principal);
        const { rows } = await client.query(
          `select to_jsonb(t) as row from (select ${columns} from ${relation.name} limit 1000) t`,
        );
        return rows.map(({ row }) => row as Json);
      }).catch(refusedAs([]));
      for (const row of rows) {
        const whole = relation.kind === 'view' ? [row] : (await rowsLike(relation.name, row)).map((found) => found.row);
        // Of a row that looks like another one nothing is claimed.
        const [only, ...others] = whole;
        if (only && others.length === 0 && (await breaks(goal, principal, only, only))) return `sees ${describe(only)}`;
      }
      return null;
    },
    async delete(goal, principal) {
      for (const condition of ['true', ...(await conditions(goal))]) {
        const changed = await changedBy(goal, principal, `delete from ${goal.relation.name} where ${condition}`);
        for (const { old } of changed) if (await breaks(goal, principal, old, old)) return `deletes ${describe(old)}`;
      }
      return null;
    },
    async truncate(goal, principal) {
      const changed = await changedBy(goal, principal, `truncate ${goal.relation.name} cascade`);
      for (const { old } of changed) if (await breaks(goal, principal, old, old)) return `truncates ${describe(old)}`;
      return null;
    },
    async update(goal, principal) {
      const { relation } = goal;
      const columns = relation.privileges[`update ${principal.actor}`] ?? [];
      const examples = (await rowsOf(relation.name)).map(({ row }) => row);
      // What refers to another row goes together, so that it refers to one that exists.
      const referring = new Set(relation.foreignKeys.flatMap((key) => key.columns));
      const together = columns.filter((column) => referring.has(column));
      const assignments = [...columns.map((column) => [column]), ...(together.length > 1 ? [together] : [])].flatMap(
        (set) =>
          examples.map((row) =>
            set.map((column) => `${escapeIdentifier(column)} = ${literalOf(row[column])}`).join(', '),
          ),
      );
      for (const assignment of new Set(assignments)) {
        for (const condition of ['true', ...(await conditions(goal))]) {
          if (Date.now() > end) return null;
          const changed = await changedBy(
            goal,
            principal,
            `update ${relation.name} set ${assignment} where ${condition}`,
          );
          for (const { old, updated } of changed)
            if (updated && (await breaks(goal, principal, old, updated)))
              return `changes ${describe(old)} to ${assignment}`;
        }
      }
      return null;
    },
    async insert(goal, principal) {
      const { relation } = goal;
      const columns = granted(goal, principal.actor);
      for (const { ctid, row } of await rowsOf(relation.name)) {
        const inserted = await undone(async () => {
          // Its place is made free, where no other row is in the way.
          await within(() => client.query(`delete from ${relation.name} where ctid = $1`, [ctid])).catch(ignoreRefusal);
          await become(principal);
          await client.query(
            `insert into ${relation.name} (${columns}) select ${columns} from jsonb_populate_record(null::${relation.name}, $1)`,
            [row],
          );
          return true;
          // Policies have let it pass when keys are asked.
        }).catch((error: unknown) => error instanceof DatabaseError && /^2350[35]$/.test(error.code ?? ''));
        const written = Object.fromEntries(
          relation.columns.map(({ name }) => [name, columns.includes(escapeIdentifier(name)) ? row[name] : null]),
        );
        if (inserted && (await breaks(goal, principal, written, written))) return `inserts ${describe(written)}`;
      }
      return null;
    },
  };

  /** The rows that a statement of a principal changes, known by where they are stored. */
  async function changedBy(
    { relation }: BoundGoal,
    principal: Actor,
    statement: string,
  ): Promise<{ old: Json; updated?: Json }[]> {
    return undone(async () => {
      const before = await rowsOf(relation.name);
      await become(principal);
      await client.query(statement);
      await client.query('reset role');
      const after = await rowsOf(relation.name);
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

  /** What finds each example by what its role may read; without reading, a statement is about all rows. */
  async function conditions({ relation, role }: BoundGoal): Promise<string[]> {
    const readable = relation.privileges[`select ${role}`] ?? [];
    const key = relation.keys[0]?.filter((name) => readable.includes(name)) ?? [];
    if (key.length === 0) return [];
    const examples = await rowsOf(relation.name);
    return examples
      .slice(0, 8)
      .map(({ row }) =>
        key.map((name) => `${escapeIdentifier(name)} = ${escapeLiteral(String(row[name]))}`).join(' and '),
      );
  }

  async function breaks(
    { invariant, relation }: BoundGoal,
    { actor, claims }: Actor,
    old: Json,
    updated: Json,
  ): Promise<boolean> {
    return undone(async () => {
      await claim(claims);
      const { rows } = await client.query(
        `select (${invariant.expression}) is not true as broken
         from jsonb_populate_record(null::${relation.name}, $1) as old, jsonb_populate_record(null::${relation.name}, $2) as new,
           (select ${columnsOf(claims)}) as claims`,
        [old, updated, actor],
      );
      return rows[0]?.broken === true;
    }).catch(refusedAs(false));
  }

  const rowsOf = async (relation: string): Promise<{ ctid: string; row: Json }[]> =>
    (
      await client.query(
        `select ctid::text, to_jsonb(t) as row from ${relation} t where to_jsonb(t)::text ~ ${escapeLiteral(examples.rows)} limit 100`,
      )
    ).rows;

  const rowsLike = async (relation: string, row: Json): Promise<{ row: Json }[]> =>
    (await client.query(`select to_jsonb(t) as row from ${relation} t where to_jsonb(t) @> $1 limit 2`, [row])).rows;

  const claim = async (claims: Principal['claims']) => {
    for (const [name, value] of Object.entries(claims))
      await client.query('select set_config($1, $2, true)', [claimOf(name).setting, value]);
  };
  /** As `claims` has them; `$3` is the role. */
  const columnsOf = (claims: Principal['claims']) =>
    [
      ...Object.keys(claims).map((name) => {
        const { setting, type } = claimOf(name);
        return `nullif(current_setting(${escapeLiteral(setting)}, true), '')::${type} as ${escapeIdentifier(name)}`;
      }),
      '$3::text as role',
    ].join(', ');

  function claimOf(name: string): Claim {
    const claim = known.find((one) => one.name === name);
    if (!claim) throw new Error(`A principal of the examples has ${name}, which is none of the claims.`);
    return claim;
  }

  const describe = (row: Json) =>
    Object.entries(row)
      .filter(([name, value]) => /(^|_)(id|key|name)$/.test(name) && value !== null)
      .slice(0, 4)
      .map(([name, value]) => `${name} ${shorten(String(value)).slice(0, 40)}`)
      .join(', ') || 'a row';
  const become = async ({ actor, claims }: Actor) => {
    await claim(claims);
    await client.query(`set local role ${escapeIdentifier(actor)}`);
  };

  /** Leaves nothing, whatever it does. */
  async function undone<Result>(work: () => Promise<Result>): Promise<Result> {
    await client.query('savepoint counterexample');
    try {
      return await work();
    } finally {
      await client.query('rollback to savepoint counterexample; release savepoint counterexample');
    }
  }

  /** Leaves what it does unless it fails. */
  async function within<Result>(work: () => Promise<Result>): Promise<Result> {
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

  return refute;
}

const maxMillisecondsOfGoal = 2000;
/** Of a database in which much can be broken, what was not tried in this time stays unproven. */
const maxMilliseconds = 30_000;

type Json = Record<string, unknown>;
type Actor = Principal & { actor: string };

const granted = ({ relation, command }: BoundGoal, actor: string) =>
  (relation.privileges[`${command} ${actor}`] ?? relation.columns.map(({ name }) => name))
    .map(escapeIdentifier)
    .join(', ');
const literalOf = (value: unknown) =>
  value === null || value === undefined
    ? 'null'
    : escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
const likeness = (a: Json, b: Json) =>
  Object.keys(a).filter((name) => JSON.stringify(a[name]) === JSON.stringify(b[name])).length;
