import { author, ownRows, type Tries } from './try.ts';

const base = 'create table app.base (tenant_id uuid not null, id uuid not null, body text);';
const open = `alter table app.base enable row level security, force row level security;
  create policy read_base on app.base for select to member using (tenant_id = (select app.tenant_id())); grant select on app.base to member;`;
const inherits = `${base} create table app.letters (author_id uuid not null) inherits (app.base); ${ownRows('app.letters')} ${open}`;
const rows = `insert into app.letters (tenant_id, id, body, author_id) values (:A0, :A2, 'Text of A2', :A2)`;
const letters = { rows, invariants: [author('app.letters')], sees: /Text of A2/ };

/** A parent shows, or changes, what the policies of its child hide. */
export const inheritance: Tries = {
  'is read by its parent': { ...letters, given: inherits, act: 'select body from app.base', names: /app\.base/ },
  'is read by the parent of its parent': {
    ...{ ...letters, act: 'select body from app.root', names: /app\.(root|base)/ },
    given: `create table app.root (tenant_id uuid not null, id uuid not null, body text); create table app.base () inherits (app.root);
      create table app.letters (author_id uuid not null) inherits (app.base); ${ownRows('app.letters')} ${open.replaceAll('app.base', 'app.root')}`,
  },
  'begins to inherit later': {
    ...{ ...letters, act: 'select body from app.base', names: /app\.base/ },
    given: `${base} ${open} create table app.letters (tenant_id uuid not null, id uuid not null, body text, author_id uuid not null); ${ownRows('app.letters')}
      alter table app.letters inherit app.base;`,
  },
  'is read in a view of its parent': {
    ...{ ...letters, act: 'select body from app.seen', names: /app\.(seen|base)/ },
    given: `${base} create table app.letters (author_id uuid not null) inherits (app.base); ${ownRows('app.letters')}
      create view app.seen with (security_barrier) as select * from app.base where tenant_id = (select app.tenant_id()); grant select on app.seen to member;`,
  },
  'is read in a function of its parent': {
    ...{ ...letters, act: 'select app.texts()', names: /app\.(texts|base)/ },
    given: `${base} create table app.letters (author_id uuid not null) inherits (app.base); ${ownRows('app.letters')}
      create function app.texts() returns text[] language sql stable security definer set search_path = pg_catalog, pg_temp
        as $$ select array(select body from app.base where tenant_id = app.tenant_id()) $$;`,
  },
  'is a partition with stricter policies': {
    rows: `insert into app.logs values (:A0, :A2, 'Text of A2', 1)`,
    ...{
      invariants: [{ name: 'private', relation: 'app.logs_1', expression: 'false' }],
      sees: /Text of A2/,
      names: /app\.logs/,
    },
    given: `create table app.logs (tenant_id uuid not null, id uuid not null, body text, kind int not null) partition by list (kind);
      create table app.logs_1 partition of app.logs for values in (1); alter table app.logs_1 enable row level security, force row level security;
      ${open.replaceAll('app.base', 'app.logs')}`,
    act: 'select body from app.logs',
  },
};
