import type { Outcome } from './attempts.ts';
import type { Circumstances } from './commands.ts';
import { externalIdentifier } from './insertWorld.ts';
import type { Role } from './principals.ts';
import type { Row } from './table.ts';
import { tables } from './tables.ts';
import { keyOf } from './world.ts';

/** A function of the database as the oracle knows it: who may call it, and what it then answers. */
export type CalledFunction = {
  /** Everybody else is refused. */
  roles: readonly Role[];
  /** What it is tried with: arguments may name anybody, also where the service would not. */
  text: string;
  values(on: Circumstances): string[];
  expected(on: Circumstances): Outcome;
};

/** A function that finds a row by id, external identifier, or both. */
export function ofRow(kind: 'user' | 'unit' | 'card', text: string, result: (key: string) => string): CalledFunction {
  return {
    roles: ['graph_app'],
    text,
    values: ({ world, organization, number }) => {
      const key = keyOf(world, kind, organization, number);
      return [key, externalIdentifier(key)];
    },
    expected: (on) => {
      const key = keyOf(on.world, kind, on.organization, on.number);
      return keysOf(`app_public.${kind}s`, on).includes(key) ? [result(key)] : [];
    },
  };
}

/** The rows of a table or view that the caller sees. */
export function visible(name: string, { world, principal }: Circumstances): Row[] {
  const table = tables[name];
  const sees = table?.sees[principal.role];
  return sees && table ? table.rows(world).filter((row) => sees(row, principal.claims, world)) : [];
}

/** Their keys. */
export const keysOf = (name: string, on: Circumstances) =>
  visible(name, on)
    .map(({ key }) => key)
    .sort();
