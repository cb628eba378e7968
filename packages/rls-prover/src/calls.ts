import type { Relation, Routine } from './catalogue.ts';
import { type Actor, type ExampleRows, type Json, literalOf } from './ExampleRows.ts';
import { actingRoles, predicates, statedOf } from './goals.ts';
import type { Examples } from './interface.ts';
import type { Given } from './questions.ts';
import { refusedAs } from './refusals.ts';
import { undone } from './savepoints.ts';

type Found = { relation: Relation; row: Json };

/**
 * Calls a function as each principal of a role, with values of the examples, and looks for a row that an invariant hides from the caller.
 * A value of the answer tells of a row when it is no argument and no claim, and stands in no row that the caller may see.
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
