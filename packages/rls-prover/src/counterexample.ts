import { DatabaseError, escapeIdentifier, escapeLiteral } from 'pg';
import { baseOf } from './access.ts';
import type { Column, Relation, Routine } from './catalogue.ts';
import {
  type Actor,
  conditionOf,
  ExampleRows,
  type Hints,
  type Json,
  literalOf,
  refusedAs,
  undone,
  within,
} from './ExampleRows.ts';
import type { Examples, Options } from './interface.ts';
import { actingRoles, type BoundGoal, predicates, statedOf } from './invariants.ts';
import { type Given, statedFor } from './questions.ts';

/**
 * Looks for a row that shows a violation, and is the only judge of `refuted`.
 * The examples are inserted, the solver's values are written into one of them, and the command is given as principals of that role. The
 * invariant is asked of each row that it returns or changes. The caller rolls all of it back.
 */
export function openCounterexamples(options: Pick<Options, 'client' | 'claims'>, examples: Examples, given: Given) {
  const rows = new ExampleRows(options, examples);
  const milliseconds = 1000 * (examples.maxSeconds ?? 30);
  const end = Date.now() + milliseconds;

  async function refute(bound: BoundGoal, hints: Hints): Promise<Counterexample | null> {
    const goal = triedOf(bound, given, examples);
    if (goal === null) return null;
    await rows.insert();
    for (const wanted of hints.size > 0 ? [new Map(), hints] : [new Map()]) {
      const found = await undone(options.client, async () => {
        const written = await rows.write(goal.relation, wanted);
        const shown = await search(goal);
        return shown && { ...shown, statements: [...written, ...shown.statements] };
      });
      if (found) return found;
    }
    return null;
  }

  async function search(goal: Tried): Promise<Counterexample | null> {
    const until = Math.min(Date.now() + milliseconds / goalsOfLimit, end);
    for (const actor of actingRoles(goal.role, given.catalogue)) {
      for (const principal of examples.principals.filter(({ roles }) => roles?.includes(actor) ?? true)) {
        if (Date.now() > until) return null;
        const who: Actor = { actor, ...principal };
        const shown = await tries[goal.command](rows, goal, who, end);
        if (!shown) continue;
        const { what, before = [], statement } = shown;
        return {
          what: `${actor} ${principal.name} ${what}`,
          actor,
          statements: [...before, ...rows.becoming(who), statement],
        };
      }
    }
    return null;
  }

  return {
    refute,
    refuteCall: (routine: Routine, role: string) => refuteCall(rows, routine, role, examples, given),
  };
}

/** A goal may take this part of the time for all. */
const goalsOfLimit = 15;

/**
 * A goal, and what its commands name: a table, or a view through which they change it.
 * `freeing` deletes the examples that refer to its rows, whose foreign keys would forbid to change a key.
 */
type Tried = BoundGoal & { target: string; freeing: readonly string[] };

/** Null: what is asked is about rows that no command shows by itself. */
function triedOf(goal: BoundGoal, given: Given, examples: Examples): Tried | null {
  const { invariant, relation, command, role } = goal;
  if (predicates.test(invariant.expression)) return null;
  const target = relation.name;
  const isShown = relation.kind !== 'view' || [relation.name, '*'].includes(invariant.relation);
  if (relation.kind !== 'view' || command === 'select')
    return isShown ? { ...goal, target, freeing: freeing(relation, given, examples) } : null;
  const base = baseOf(relation, given);
  const stated = base && statedFor(base, goal, given.invariants, given.catalogue);
  if (!stated || base.kind === 'view') return null;
  // As the view grants it, under the names of the table.
  const has = (column: string) => base.columns.some(({ name }) => name === column);
  const privileges = Object.fromEntries(
    Object.entries(relation.privileges).map(([name, columns]) => [name, columns.filter(has)]),
  );
  return {
    ...{ invariant: stated, command, role, target, freeing: freeing(base, given, examples) },
    relation: { ...base, privileges },
  };
}

const freeing = ({ name }: Relation, { catalogue }: Given, { rows }: Examples): string[] =>
  [...catalogue.relations.values()]
    .filter((one) => one.kind === 'table' && one.foreignKeys.some(({ references }) => references === name))
    .filter((one) => one.name !== name)
    .map((one) => `delete from ${one.name} t where to_jsonb(t)::text ~ ${escapeLiteral(rows)}`);

/** A violation that PostgreSQL has shown, and the statements that show it when the examples are there. */
export type Counterexample = { what: string; actor: string; statements: readonly string[] };

/** Gives a command as a principal. Resolves to the violation that it shows, or to null. */
type Try = (
  rows: ExampleRows,
  goal: Tried,
  principal: Actor,
  end: number,
) => Promise<{ what: string; before?: readonly string[]; statement: string } | null>;

const tries: Record<BoundGoal['command'], Try> = {
  async select(rows, goal, principal) {
    const { relation } = goal;
    const columns = granted(goal, principal.actor);
    const seen = await undone(rows.client, async () => {
      await rows.become(principal);
      const found = await rows.client.query(
        `select to_jsonb(t) as row from (${text(columns, relation.name)} limit 1000) t`,
      );
      return found.rows.map(({ row }) => row);
    }).catch(refusedAs([]));
    for (const row of seen) {
      const whole = relation.kind === 'view' ? [row] : await rows.like(relation.name, row);
      // Nothing is claimed of a row that looks like another one.
      const [only, ...others] = whole;
      if (only && others.length === 0 && (await rows.breaks(goal, principal, only, only)))
        return {
          what: `sees ${rows.describe(only)}`,
          statement: `${text(columns, relation.name)} where ${conditionOf(readable(relation, row), row)}`,
        };
    }
    return null;
  },

  async delete(rows, goal, principal) {
    for (const condition of ['true', ...(await rows.conditions(goal))]) {
      const statement = `delete from ${goal.target} where ${condition}`;
      for (const { old } of await rows.changedBy(goal, principal, statement))
        if (await rows.breaks(goal, principal, old, old)) return { what: `deletes ${rows.describe(old)}`, statement };
    }
    return null;
  },

  async truncate(rows, goal, principal) {
    const statement = `truncate ${goal.target} cascade`;
    for (const { old } of await rows.changedBy(goal, principal, statement))
      if (await rows.breaks(goal, principal, old, old)) return { what: `truncates ${rows.describe(old)}`, statement };
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
    const conditions = ['true', ...(await rows.conditions(goal))];
    for (const before of goal.freeing.length > 0 ? [[], goal.freeing] : [[]])
      for (const assignment of new Set(assignments))
        for (const condition of conditions) {
          if (Date.now() > end) return null;
          const statement = `update ${goal.target} set ${assignment} where ${condition}`;
          for (const { old, updated } of await rows.changedBy(goal, principal, statement, before))
            if (updated && (await rows.breaks(goal, principal, old, updated)))
              return { what: `changes ${rows.describe(old)} to ${assignment}`, before, statement };
        }
    return null;
  },

  async insert(rows, goal, principal, end) {
    const { client } = rows;
    const { relation } = goal;
    const given = relation.columns.filter(({ isGenerated, isIdentity }) => isGenerated || isIdentity);
    const columns = granted(goal, principal.actor, given);
    for (const { ctid, row } of insertable(await rows.of(relation.name), relation, columns)) {
      if (Date.now() > end) return null;
      let isFree = false;
      const statement = insertion(goal.target, columns, row);
      const inserted = await undone(client, async () => {
        // Its place is made free, where no other row is in the way.
        const free = () => client.query(`delete from ${relation.name} where ctid = $1`, [ctid]);
        isFree = ctid !== null && (await within(client, free).then(() => true, refusedAs(false)));
        const before = new Set((await rows.of(relation.name)).map((one) => one.ctid));
        await rows.become(principal);
        await client.query(statement);
        await client.query('reset role');
        return (await rows.of(relation.name)).find((one) => !before.has(one.ctid))?.row ?? null;
        // Policies have let it pass when keys are asked.
      }).catch((error: unknown) => (isKeyError(error) ? rowWritten(relation, columns, row) : null));
      if (inserted && (await rows.breaks(goal, principal, inserted, inserted)))
        return {
          what: `inserts ${rows.describe(inserted)}`,
          before: isFree ? [`delete from ${relation.name} where ${conditionOf(relation, row)}`] : [],
          statement,
        };
    }
    return null;
  },
};

const isKeyError = (error: unknown) => error instanceof DatabaseError && /^2350[35]$/.test(error.code ?? '');

/** The row that a statement would have written; null where a default or a trigger writes a part of it. */
function rowWritten({ columns: all, assigned }: Relation, columns: string, row: Json): Json | null {
  const isGiven = (name: string) => columns.includes(escapeIdentifier(name));
  const isKnown = all.every(({ name, default: text }) => isGiven(name) || text === null);
  return isKnown && assigned.insert.length === 0
    ? Object.fromEntries(all.map(({ name }) => [name, isGiven(name) ? row[name] : null]))
    : null;
}

/** The examples, and copies of each with one column of another example. A copy with the same key replaces its example. */
function insertable(
  examples: readonly { ctid: string; row: Json }[],
  { keys }: Relation,
  columns: string,
): { ctid: string | null; row: Json }[] {
  const mixed = examples.flatMap(({ ctid, row }) =>
    examples.flatMap(({ row: other }) =>
      Object.keys(row)
        .filter((name) => row[name] !== other[name] && columns.includes(escapeIdentifier(name)))
        .map((name) => ({
          ctid: keys.some((key) => key.includes(name)) ? null : ctid,
          row: { ...row, [name]: other[name] },
        })),
    ),
  );
  return [...examples, ...mixed.slice(0, maxMixed)];
}

const maxMixed = 120;

function insertion(relation: string, columns: string, row: Json): string {
  const values = Object.keys(row).filter((name) => columns.split(', ').includes(escapeIdentifier(name)));
  // Arrays and composites are written otherwise than in JSON.
  const isPlain = values.every((name) => typeof row[name] !== 'object' || row[name] === null);
  return isPlain
    ? `insert into ${relation} (${values.map(escapeIdentifier).join(', ')}) values (${values.map((name) => literalOf(row[name])).join(', ')})`
    : `insert into ${relation} (${columns}) select ${columns} from jsonb_populate_record(null::${relation}, ${escapeLiteral(JSON.stringify(row))})`;
}

const text = (columns: string, relation: string) => `select ${columns} from ${relation}`;

/** A key of which the row that was read has all columns. */
const readable = ({ keys }: Relation, row: Json) => ({ keys: keys.filter((key) => key.every((name) => name in row)) });

const granted = ({ relation, command }: BoundGoal, actor: string, without: readonly Column[] = []) =>
  (relation.privileges[`${command} ${actor}`] ?? relation.columns.map(({ name }) => name))
    .filter((name) => !without.some((column) => column.name === name))
    .map(escapeIdentifier)
    .join(', ');

type Found = { relation: Relation; row: Json };

/**
 * Calls a function as each principal of a role, with values of the examples, and looks for a row that an invariant hides from the caller.
 * A value of the answer is from a hidden row if it is no argument and no claim, and no row that the caller may see has it.
 */
export async function refuteCall(
  rows: ExampleRows,
  routine: Routine,
  role: string,
  { principals }: Examples,
  given: Given,
): Promise<{ what: string; actor: string; statements: string[] } | null> {
  if (routine.isOfRows) return null;
  await rows.insert();
  const examples: Found[] = [];
  for (const relation of given.catalogue.relations.values())
    if (relation.kind === 'table') for (const { row } of await rows.of(relation.name)) examples.push({ relation, row });
  const until = Date.now() + maxMilliseconds;
  for (const actor of actingRoles(role, given.catalogue))
    for (const principal of principals.filter(({ roles }) => roles?.includes(actor) ?? true))
      for (const args of argumentsOf(routine, examples)) {
        if (Date.now() > until) return null;
        const who: Actor = { actor, ...principal };
        const statement = `select to_jsonb(f) as row from ${routine.signature.slice(0, routine.signature.lastIndexOf('('))}(${args.join(', ')}) f`;
        const answer = await undone(rows.client, async () => {
          await rows.become(who);
          return (await rows.client.query<{ row: unknown }>(`${statement} limit 100`)).rows;
        }).catch(refusedAs([]));
        const known = JSON.stringify([args, principal.claims]);
        const values = new Set(answer.flatMap(({ row }) => textsIn(row)).filter((value) => !known.includes(value)));
        const hidden = await findHidden(values, examples, who, role);
        if (hidden)
          return {
            what: `${actor} ${principal.name} is shown ${rows.describe(hidden.row)} of ${hidden.relation.name}`,
            actor,
            statements: [...rows.becoming(who), statement],
          };
      }
  return null;

  async function findHidden(values: ReadonlySet<string>, all: readonly Found[], who: Actor, as: string) {
    for (const value of values) {
      const having = all.filter(({ row }) => Object.values(row).some((one) => textsIn(one).includes(value)));
      const [first] = having;
      if (first && (await Promise.all(having.map((one) => isHidden(one, who, as)))).every(Boolean)) return first;
    }
    return null;
  }

  async function isHidden({ relation, row }: Found, who: Actor, as: string): Promise<boolean> {
    const stated = statedOf(relation, given.invariants, given.catalogue).filter(
      (one) => one.commands.includes('select') && one.roles.includes(as) && !predicates.test(one.expression),
    );
    for (const invariant of stated)
      if (await rows.breaks({ invariant, relation, command: 'select', role: as }, who, row, row)) return true;
    return false;
  }
}

const maxMilliseconds = 2000;
const maxCalls = 40;

/** Each combination of null and some values of columns of the parameters' types. */
function argumentsOf({ parameters }: Routine, examples: readonly Found[]): string[][] {
  return parameters.reduce<string[][]>(
    (before, { type }) => {
      const values = examples.flatMap(({ relation, row }) =>
        relation.columns.filter((column) => column.type === type).map(({ name }) => `${literalOf(row[name])}::${type}`),
      );
      const some = [`null::${type}`, ...[...new Set(values)].slice(0, 8)];
      return before.flatMap((args) => some.map((value) => [...args, value])).slice(0, maxCalls);
    },
    [[]],
  );
}

/** The texts in a value of JSON that are long enough to tell one row from another. */
const textsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? value.length > 3
      ? [value, ...(value.match(/[\w-]{8,}/g) ?? [])]
      : []
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsIn)
      : [];
