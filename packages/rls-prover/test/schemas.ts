import fc from 'fast-check';
import type { Invariant } from 'rls-prover';
import { callees } from './schemas/callees.ts';
import { extras } from './schemas/extras.ts';
import { rights, tables } from './schemas/tables.ts';
import { author } from './tries/try.ts';

/** A schema that was drawn: statements after those of `startProving`, by what each one brings in. */
export type Drawn = {
  readonly statements: readonly string[];
  readonly invariants: readonly Invariant[];
  /** What the client sends before each of its statements. */
  readonly session: string;
};

type Parts = Readonly<Record<'callees' | 'table' | 'rights' | 'more', readonly string[]>> & Pick<Drawn, 'session'>;

const sessions = fc.constantFrom(
  ...[
    '',
    '',
    '',
    'set local bytea_output = escape',
    `set local DateStyle = 'German'`,
    'set local search_path = app, pg_catalog',
  ],
  ...[
    'set local row_security = off',
    'set local transform_null_equals = on',
    'set local plan_cache_mode = force_generic_plan',
  ],
  ...[`update app.notes set body = 'A text'`, 'delete from app.notes', 'lock table app.notes in share mode'],
);

const parts: fc.Arbitrary<Parts> = fc.record({
  ...{ callees, table: tables, rights },
  session: sessions,
  more: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 3, arbitrary: extras }),
});

const drawnOf = ({ callees, table, rights: granted, more, session }: Parts): Drawn => {
  const statements = ['create type app.pair as (a int, b int)', ...callees, ...table, ...granted, ...more];
  const authored = ['app.items', 'app.events', 'app.parts', 'app.marks'].filter((name) =>
    statements.some((statement) => statement.includes(`create table ${name} `)),
  );
  return {
    ...{ statements, session },
    invariants: [
      ...authored.map(author),
      {
        ...{ name: 'fixed', relation: 'app.items', commands: ['update'], columns: ['author_id'] },
        expression: 'new.author_id = old.author_id',
      },
    ],
  };
};

export const schemas: fc.Arbitrary<Drawn> = parts.map(drawnOf);
