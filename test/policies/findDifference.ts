import { isDeepStrictEqual } from 'node:util';
import type { Outcome, Statement } from './attempts.ts';
import { type Command, commands, label, labelOf, read } from './commands.ts';
import { call, functions } from './functions.ts';
import { type Principal, principalsOf, type Role, roles, settingsOf } from './principals.ts';
import { tables } from './tables.ts';
import { unknownOrganization, type World } from './world.ts';

type Attempt = (settings: Record<string, string>, statement: Statement) => Promise<Outcome>;

/**
 * Tries everything in a world: the rows that each principal sees, and each command on each table and each function as a principal of
 * each role. `choose(n)` chooses a number below n: the principal, the object and the order.
 *
 * @returns where the database and the oracle first differ, or null
 */
export async function findDifference(
  world: World,
  attempt: Attempt,
  choose: (below: number) => number,
): Promise<string | null> {
  const principals = principalsOf(world);
  const sights = principals
    .filter(({ role }) => role !== 'none')
    .map((principal) => ({ what: 'sight', principal, command: sightOf(world, principal) }));
  const everything = shuffled([...sights, ...roles.flatMap(inRole)], choose);
  for (const { what, principal, command } of everything) {
    const expected = sorted(command.expected);
    const actual = await attempt(settingsOf(principal), command);
    if (!isDeepStrictEqual(actual, expected)) {
      return `${what} by ${JSON.stringify(principal)}: ${command.text} ${JSON.stringify(command.values)}
        gives ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
    }
  }
  return null;

  function inRole(role: Role) {
    const inThisRole = principals.filter((principal) => principal.role === role);
    const tried: { what: string; principal: Principal; command: Command }[] = [];
    const circumstances = () => ({
      world,
      principal: inThisRole[choose(inThisRole.length)] ?? never(),
      organization: [...world.organizations, unknownOrganization][choose(world.organizations.length + 1)] ?? never(),
      ...{ number: choose(5), fresh: choose(2) === 0, row: choose(100) },
    });
    for (const [name, table] of Object.entries(tables)) {
      for (const [what, commandOn] of Object.entries(commands)) {
        const on = circumstances();
        const command = commandOn(name, table, on);
        if (command) tried.push({ what: `${what} on ${name}`, principal: on.principal, command });
      }
    }
    for (const name of Object.keys(functions)) {
      // Several times, since each call names one organization and one of its people.
      for (const on of [circumstances(), circumstances(), circumstances(), circumstances()])
        tried.push({ what: name, principal: on.principal, command: call(name, on) });
    }
    return tried;
  }
}

/** One statement that reads all that a principal sees of all tables that it may look at. */
function sightOf(world: World, principal: Principal): Command {
  const readable = Object.entries(tables).filter(([, table]) => table.sees[principal.role]);
  return {
    text: readable.map(([name, table]) => `select '${name} ' || ${label(table)} from ${name}`).join('\nunion all\n'),
    values: [],
    reads: true,
    expected: readable.flatMap(([name, table]) => {
      const rows = read(table, { world, principal }, (seen) => seen.map((row) => `${name} ${labelOf(row)}`));
      return Array.isArray(rows) ? rows : [];
    }),
  };
}

const sorted = (outcome: Outcome): Outcome => (Array.isArray(outcome) ? [...outcome].sort() : outcome);

function shuffled<Value>(values: Value[], choose: (below: number) => number): Value[] {
  const left = [...values];
  return values.map(() => left.splice(choose(left.length), 1)[0] as Value);
}

function never(): never {
  throw new Error('unreachable: there is at least one');
}
