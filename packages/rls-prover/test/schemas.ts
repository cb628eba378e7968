import fc from 'fast-check';
import type { Invariant } from 'rls-prover';
import { callees } from './schemas/callees.ts';
import { extras } from './schemas/extras.ts';
import { rights, tables } from './schemas/tables.ts';
import { author } from './tries/try.ts';

/** A schema that was drawn: statements after those of `startProving`, by what each one brings in. */
export type Drawn = { readonly statements: readonly string[]; readonly invariants: readonly Invariant[] };

type Parts = Readonly<Record<'callees' | 'table' | 'rights' | 'more', readonly string[]>>;

const parts: fc.Arbitrary<Parts> = fc.record({
  ...{ callees, table: tables, rights },
  more: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 3, arbitrary: extras }),
});

const drawnOf = ({ callees, table, rights: granted, more }: Parts): Drawn => ({
  statements: ['create type app.pair as (a int, b int)', ...callees, ...table, ...granted, ...more],
  invariants: [
    author('app.items'),
    {
      ...{ name: 'fixed', relation: 'app.items', commands: ['update'], columns: ['author_id'] },
      expression: 'new.author_id = old.author_id',
    },
  ],
});

export const schemas: fc.Arbitrary<Drawn> = parts.map(drawnOf);
