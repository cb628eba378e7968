import { DatabaseError, escapeIdentifier } from 'pg';
import type { Catalogue } from './catalogue.ts';
import { type Actor, ExampleRows, type Hints, literalOf } from './ExampleRows.ts';
import { actingRoles, type BoundGoal, predicates } from './goals.ts';
import type { Examples, Options } from './interface.ts';
import { ignoreRefusal, refusedAs } from './refusals.ts';
import { undone, within } from './savepoints.ts';

/**
 * Looks for a row that shows a violation, and is the only judge of `refuted`.
 * The examples are inserted, the solver's values are written into one of them, and the command is given as principals of that role. The
 * invariant is asked of each row that it returns or changes. The caller rolls all of it back.
 */
export function openCounterexamples(
  options: Pick<Options, 'client' | 'claims'>,
  examples: Examples,
  catalogue: Catalogue,
) {
  const rows = new ExampleRows(options, examples);
  const end = Date.now() + maxMilliseconds;

  async function refute(goal: BoundGoal, hints: Hints): Promise<string | null> {
    const { invariant, relation, command } = goal;
    const isOfTables =
      relation.kind === 'view' && (command !== 'select' || ![relation.name, '*'].includes(invariant.relation));
    if (predicates.test(invariant.expression) || isOfTables) return null;
    await rows.insert();
    for (const wanted of hints.size > 0 ? [new Map(), hints] : [new Map()]) {
      const found = await undone(options.client, async () => {
        await rows.write(relation.name, wanted);
        return search(goal);
      });
      if (found) return found;
    }
    return null;
  }

  async function search(goal: BoundGoal): Promise<string | null> {
    const until = Math.min(Date.now() + maxMillisecondsOfGoal, end);
    for (const actor of actingRoles(goal.role, catalogue)) {
      for (const principal of examples.principals) {
        if (Date.now() > until) return null;
        const shown = await tries[goal.command](rows, goal, { actor, ...principal }, end);
        if (shown) return `${actor} ${principal.name} ${shown}`;
      }
    }
    return null;
  }

  return refute;
}

const maxMillisecondsOfGoal = 2000;
/** A goal that was not tried within this time stays unproven. */
const maxMilliseconds = 30_000;

/** Gives a command as a principal. Resolves to the violation that it shows, or to null. */
type Try = (rows: ExampleRows, goal: BoundGoal, principal: Actor, end: number) => Promise<string | null>;

const tries: Record<BoundGoal['command'], Try> = {
  async select(rows, goal, principal) {
    const { relation } = goal;
    const columns = granted(goal, principal.actor);
    const seen = await undone(rows.client, async () => {
      await rows.become(principal);
      const text = `select to_jsonb(t) as row from (select ${columns} from ${relation.name} limit 1000) t`;
      const found = await rows.client.query(text);
      return found.rows.map(({ row }) => row);
    }).catch(refusedAs([]));
    for (const row of seen) {
      const whole = relation.kind === 'view' ? [row] : await rows.like(relation.name, row);
      // Nothing is claimed of a row that looks like another one.
      const [only, ...others] = whole;
      if (only && others.length === 0 && (await rows.breaks(goal, principal, only, only)))
        return `sees ${rows.describe(only)}`;
    }
    return null;
  },

  async delete(rows, goal, principal) {
    for (const condition of ['true', ...(await rows.conditions(goal))]) {
      const changed = await rows.changedBy(goal, principal, `delete from ${goal.relation.name} where ${condition}`);
      for (const { old } of changed)
        if (await rows.breaks(goal, principal, old, old)) return `deletes ${rows.describe(old)}`;
    }
    return null;
  },

  async truncate(rows, goal, principal) {
    const changed = await rows.changedBy(goal, principal, `truncate ${goal.relation.name} cascade`);
    for (const { old } of changed)
      if (await rows.breaks(goal, principal, old, old)) return `truncates ${rows.describe(old)}`;
    return null;
  },

  async update(rows, goal, principal, end) {
    const { relation } = goal;
    const columns = relation.privileges[`update ${principal.actor}`] ?? [];
    const examples = (await rows.of(relation.name)).map(({ row }) => row);
    // All columns that refer to another row are set together, so that they refer to one that exists.
    const referring = new Set(relation.foreignKeys.flatMap((key) => key.columns));
    const together = columns.filter((column) => referring.has(column));
    const assignments = [...columns.map((column) => [column]), ...(together.length > 1 ? [together] : [])].flatMap(
      (set) =>
        examples.map((row) =>
          set.map((column) => `${escapeIdentifier(column)} = ${literalOf(row[column])}`).join(', '),
        ),
    );
    for (const assignment of new Set(assignments)) {
      for (const condition of ['true', ...(await rows.conditions(goal))]) {
        if (Date.now() > end) return null;
        const statement = `update ${relation.name} set ${assignment} where ${condition}`;
        for (const { old, updated } of await rows.changedBy(goal, principal, statement))
          if (updated && (await rows.breaks(goal, principal, old, updated)))
            return `changes ${rows.describe(old)} to ${assignment}`;
      }
    }
    return null;
  },

  async insert(rows, goal, principal) {
    const { client } = rows;
    const { relation } = goal;
    const columns = granted(goal, principal.actor);
    for (const { ctid, row } of await rows.of(relation.name)) {
      const inserted = await undone(client, async () => {
        // Its place is made free, where no other row is in the way.
        const free = () => client.query(`delete from ${relation.name} where ctid = $1`, [ctid]);
        await within(client, free).catch(ignoreRefusal);
        await rows.become(principal);
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
      if (inserted && (await rows.breaks(goal, principal, written, written)))
        return `inserts ${rows.describe(written)}`;
    }
    return null;
  },
};

const granted = ({ relation, command }: BoundGoal, actor: string) =>
  (relation.privileges[`${command} ${actor}`] ?? relation.columns.map(({ name }) => name))
    .map(escapeIdentifier)
    .join(', ');
