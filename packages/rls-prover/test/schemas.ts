import fc from 'fast-check';
import type { Invariant } from 'rls-prover';
import { callees } from './schemas/callees.ts';
import { extras } from './schemas/extras.ts';
import { rights, tables } from './schemas/tables.ts';
import { author, definer } from './tries/try.ts';

/** A schema that was drawn: statements after those of `startProving`, by what each one brings in. */
export type Drawn = {
  readonly statements: readonly string[];
  readonly invariants: readonly Invariant[];
  /** Comes after everything open was accepted. */
  readonly change: string | undefined;
  /** What the client sends before each of its statements. */
  readonly session: string;
};

type Parts = Readonly<Record<'callees' | 'table' | 'rights' | 'more', readonly string[]>> &
  Pick<Drawn, 'session' | 'change'>;

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

/** What may change after it was accepted. A schema without the object has no such change. */
const changes = fc.constantFrom(
  ...[
    'alter function app.is_mine(uuid) immutable',
    'alter function app.ids() immutable',
    'alter function app.may(uuid) volatile',
  ],
  'create or replace function app.is_mine(uuid) returns boolean language sql stable as $$ select true $$',
  `create or replace function app.ids() returns setof uuid language sql stable ${definer} as $$ select id from app.users $$`,
  `create or replace function app.inner_text() returns text language sql stable ${definer} as $$ select max(body) from app.items $$`,
  `create or replace function app.texts() returns text language sql stable ${definer} as $$ select max(body) from app.items $$`,
  `create or replace function app.given(t text default (:B0)) returns text language sql stable as $$ select t $$`,
  'create or replace function app.act() returns trigger language plpgsql as $$ begin new.author_id := :A2; return new; end $$',
  'create or replace function app.moving() returns trigger language plpgsql as $$ begin new.tenant_id := :B0; return new; end $$',
  `create or replace function app.tidy() returns trigger language plpgsql ${definer} as $$ begin delete from app.notes; return old; end $$`,
  `create or replace function app.go() returns trigger language plpgsql ${definer} as $$ begin delete from app.items; return new; end $$`,
  ...[
    'grant select, update on app.items to member',
    'grant truncate on app.items to member',
    'grant execute on all functions in schema app to member',
  ],
  ...[
    'alter policy drawn on app.items using (true)',
    'alter table app.items disable row level security',
    'alter view app.seen set (security_invoker = false)',
  ],
  ...[
    'alter table app.items no force row level security',
    'alter table app.parts_2 disable row level security',
    'alter view app.deep_1 reset (security_invoker)',
  ],
  ...[
    'alter table app.parts disable trigger all',
    'alter table app.events alter more drop default',
    'alter role member bypassrls',
  ],
);

const parts: fc.Arbitrary<Parts> = fc.record({
  ...{ callees, table: tables, rights },
  session: sessions,
  change: fc.option(changes, { nil: undefined, freq: 3 }),
  more: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 3, arbitrary: extras }),
});

const drawnOf = ({ callees, table, rights: granted, more, session, change }: Parts): Drawn => {
  const statements = ['create type app.pair as (a int, b int)', ...callees, ...table, ...granted, ...more];
  const authored = ['app.items', 'app.events', 'app.parts', 'app.marks'].filter((name) =>
    statements.some((statement) => statement.includes(`create table ${name} `)),
  );
  return {
    ...{ statements, session, change },
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
