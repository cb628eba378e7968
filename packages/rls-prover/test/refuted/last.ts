import { guarded, type Refuted, type Twin, visible } from './support.ts';

const client = 'table app.things';
const notes = 'table app.notes';

/** A client sees its own things, and those of which this is true. */
const shows = (condition: string, columns = '', row = '') =>
  visible(columns, `(1, 1${row && `, ${row}`}), (2, 2${row && `, ${row}`})`, `tenant_id = app.t() or (${condition})`);

/** Members with a number and a name, of which each tenant sees its own. */
const members = (rows = '') => `
  create table app.members (tenant_id int not null, id int primary key, name text);
  ${rows && `insert into app.members values ${rows};`}
  ${guarded('app.members')}`;

/** Things that a function shows whose body compares one column with two literals. */
const matches = (type: string, value: string, first: string, second: string) => `
  create function app.matches(value ${type}) returns boolean language sql immutable
    as $$ select value = ${first} and value = ${second} $$;
  ${shows('app.matches(value)', `value ${type}`, value)}`;

/** A client may change the text of its own notes, and a trigger does this. */
const trigger = (declarations: string, statements: string) => `
  revoke update on app.notes from client;
  grant update (body) on app.notes to client;
  drop policy own on app.notes;
  create policy own on app.notes to client using (tenant_id = app.t());
  create policy taken on app.notes for update to client using (false) with check (true);
  create function app.touch() returns trigger language plpgsql as $$ declare ${declarations} begin ${statements} end $$;
  create trigger touch before update on app.notes for each row execute function app.touch()`;
const touch = "update app.notes set body = 'touched'";

export const view = (query: string, options = 'security_barrier') => `
  create view app.shown with (${options}) as ${query};
  grant select on app.shown to client`;

export const definer = (name: string, returns: string, body: string) => `
  create function app.${name}() returns ${returns} language sql security definer
    set search_path = pg_catalog, pg_temp as $$ ${body} $$;
  revoke execute on function app.${name} from public;
  grant execute on function app.${name} to client`;

const rows: readonly Refuted[] = [
  {
    title: 'having, which yields a row of no rows',
    schema:
      members() + shows('exists (select from app.members m where m.tenant_id = things.tenant_id having count(*) < 5)'),
    client,
  },
  {
    title: 'an aggregate without groups, which yields a row of no rows',
    schema: members() + shows('exists (select max(m.id) from app.members m where m.tenant_id = things.tenant_id)'),
    client,
  },
  {
    title: 'the empty grouping set, which yields a row of no rows',
    schema:
      members() +
      shows(
        'exists (select from app.members m where m.tenant_id = things.tenant_id group by grouping sets ((m.id), ()))',
      ),
    client,
  },
  {
    title: 'a rollup that makes a column without null null',
    schema:
      members('(1, 1)') +
      shows(
        'exists (select from (select m.tenant_id from app.members m group by rollup (m.tenant_id)) r where r.tenant_id is null)',
      ),
    client,
  },
  {
    title: 'a set among what a subquery yields, which may be empty',
    schema: shows('not exists (select unnest(hidden_from))', 'hidden_from text[]', "'{}'"),
    client,
  },
  {
    title: 'a function whose one row a condition of its group leaves out',
    schema: `create function app.is_closed() returns boolean language sql stable as $$ select true having false $$;
      ${shows('app.is_closed() is null')}`,
    client,
  },
  {
    title: 'a function whose one row is that of an empty set',
    schema: `create function app.is_closed() returns boolean language sql stable
        as $$ select unnest(array[]::boolean[]) is not null $$;
      ${shows('app.is_closed() is null')}`,
    client,
  },
  {
    title: 'a sample that leaves out a row',
    schema:
      members('(1, 1)') +
      shows('exists (select from app.members) and not exists (select from app.members tablesample bernoulli (0))'),
    client,
  },
  {
    title: 'null that is in none of no rows',
    schema:
      members() + shows('helper is null and helper not in (select m.id from app.members m)', 'helper int', 'null'),
    client,
  },
  {
    title: 'null that differs from all of an empty array',
    schema: shows('helper is null and helper <> all (blocked)', 'helper int, blocked int[]', "null, '{}'"),
    client,
  },
  {
    title: 'null that an array does not contain',
    schema: shows("not (array[kind] <@ array['a', kind])", 'kind text', 'null'),
    client,
  },
  {
    title: 'all of an array of no rows',
    schema:
      members() +
      shows('app.t() = all (array(select m.tenant_id from app.members m where m.tenant_id = things.tenant_id))'),
    client,
  },
  {
    title: 'two arrays side by side, of which the shorter one is filled with null',
    schema: shows('exists (select from unnest(array[1], array[1, 2]) as u (a, b) where u.a is null)'),
    client,
  },
  {
    title: 'the place of an element, which comes after it',
    schema: shows('exists (select from unnest(array[7]) with ordinality as u (place, element) where u.element = 1)'),
    client,
  },
  {
    title: 'an empty text that is an amount of money',
    schema: shows("kind = '' and kind::money is not null", 'kind text', "''"),
    client,
  },
  {
    title: 'a value of a subquery without rows',
    schema:
      members() +
      shows(
        'coalesce((select m.tenant_id from app.members m where m.tenant_id = things.tenant_id limit 1), app.t()) = app.t()',
      ),
    client,
  },
  {
    title: 'an empty array, which each array contains',
    schema:
      members() +
      shows(
        'labels <@ array(select m.name from app.members m where m.tenant_id = things.tenant_id)',
        'labels text[]',
        "'{}'",
      ),
    client,
  },
  {
    title: 'a join within an outer join, of which both sides may be null',
    schema:
      members('(1, 1)') +
      shows(
        'exists (select from app.members a left join (app.members b join app.members c on c.id = b.id) on b.id <> a.id where c.tenant_id is distinct from app.t())',
      ),
    client,
  },
];

const names: readonly Refuted[] = [
  {
    title: 'a query that does not see the next one',
    schema: `create table app.partners (tenant_id int not null, id int primary key, partner int not null);
      insert into app.partners values (1, 1, 2);
      ${guarded('app.partners')}
      create function app.partner() returns int language sql stable set search_path = app as $$
        with partner as (select p.partner from partners p), partners as (select app.t() as partner)
        select partner.partner from partner
      $$;
      ${shows('tenant_id = app.partner()')}`,
    client,
  },
  {
    title: 'a union whose columns are told by their places',
    schema:
      members('(1, 2)') +
      shows(
        'tenant_id in (select u.tenant_id from (select m.tenant_id, m.id from app.members m union all select m.id, m.tenant_id from app.members m) u)',
      ),
    client,
  },
  {
    title: 'a query that names its columns anew',
    schema:
      members('(1, 2)') +
      shows(
        'tenant_id in (with m (id, tenant_id) as (select x.tenant_id, x.id from app.members x) select m.tenant_id from m)',
      ),
    client,
  },
  {
    title: 'new names for the columns of a table of which one was dropped',
    schema: `create table app.pairs (old int, tenant_id int not null, partner int not null, id int primary key);
      alter table app.pairs drop column old;
      insert into app.pairs values (1, 2, 1);
      ${guarded('app.pairs')}
      create function app.partner() returns int language sql stable
        as $$ select p.partner from app.pairs as p (x, partner, y) $$;
      ${shows('tenant_id = app.partner()')}`,
    client,
  },
  {
    title: 'new names for some columns of a table',
    schema: `create table app.pairs (id int primary key, tenant_id int not null, partner int not null);
      insert into app.pairs values (2, 1, 1);
      ${guarded('app.pairs')}
      ${shows('tenant_id in (select p.tenant_id from app.pairs as p (tenant_id, x))')}`,
    client,
  },
  {
    title: 'the column of a join that a right join takes from the right',
    schema: `${members('(1, 1)')}
      create table app.regions (tenant_id int, id int, name text);
      insert into app.regions values (1, 2, 'r');
      ${guarded('app.regions')}
      ${shows('tenant_id in (select id from app.members m right join app.regions r using (id) where m.id is null)')}`,
    client,
  },
  {
    title: 'a schema with the name of the user in the search path of a function',
    schema: `${members()}
      create schema client authorization client;
      create function app.has_members(int) returns boolean language sql stable set search_path = "$user", app
        as $$ select exists (select from members where tenant_id = $1) $$;
      grant usage on schema client to client;
      ${shows('app.has_members(tenant_id)')}`,
    client: ['create table client.members as select 2 as tenant_id', client],
  },
];

const literals: readonly Refuted[] = [
  {
    title: 'two ways to write a uuid',
    schema: matches(
      'uuid',
      "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
      "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
      "'{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'",
    ),
    client,
  },
  { title: 'two ways to write a bytea', schema: matches('bytea', "'A'", "'\\x41'", "'A'"), client },
  {
    title: 'two ways to write a large number',
    schema: matches('bigint', '4294967296', '4294967296', '0x100000000'),
    client,
    since: 16,
  },
  { title: 'two ways to write true', schema: matches('boolean', 'true', "'yes'", "'on'"), client },
  { title: 'two ways to write a number in a text', schema: matches('int', '7', "' 7'", "'7'"), client },
  { title: 'two texts that a padded type compares alike', schema: matches('char(3)', "'a'", "'a'", "'a  '"), client },
  {
    title: 'a type of one letter, which cuts a text',
    schema: shows("kind::\"char\" = 'a' and kind <> 'a'", 'kind text', "'ab'"),
    client,
  },
  {
    title: 'the length of a cast of an array, which cuts its elements',
    schema: shows("'a' = any (array[kind]::varchar(1)[]) and kind <> 'a'", 'kind text', "'ab'"),
    client,
  },
];

const views: readonly Refuted[] = [
  {
    title: 'a view that puts the client in the place of the tenant',
    schema: view('select app.t() as tenant_id, id, body from app.notes'),
    client: 'table app.shown',
  },
  {
    title: 'a view with a value of a subquery that nothing filters',
    schema: view(
      'select tenant_id, id, (select max(o.body) from app.notes o) as latest from app.notes where tenant_id = app.t()',
    ),
    client: 'table app.shown',
  },
  {
    title: 'a view of a join of which it filters one side',
    schema:
      members('(1, 1)') +
      view('select m.tenant_id, n.body from app.members m cross join app.notes n where m.tenant_id = app.t()'),
    client: 'table app.shown',
  },
  {
    title: 'a view with a value of the next row',
    schema: view(
      'select * from (select tenant_id, id, lead(body) over (order by id) as next from app.notes) n where tenant_id = app.t()',
    ),
    client: 'table app.shown',
  },
  {
    title: 'a view of two queries of which it filters one',
    schema: view(
      'select tenant_id, body from app.notes where tenant_id = app.t() union all select tenant_id, body from app.notes',
    ),
    client: 'table app.shown',
  },
  {
    title: 'a view that filters in the condition of an outer join',
    schema: view('select n.* from app.notes n left join (select 1) one on n.tenant_id = app.t()'),
    client: 'table app.shown',
  },
  {
    title: 'a view that relies on the policy of another table',
    schema:
      members('(2, 2)') +
      view('select n.* from app.notes n where exists (select from app.members m where m.tenant_id = n.tenant_id)'),
    client: 'table app.shown',
  },
  {
    title: 'a policy that asks another table as the owner of a view',
    schema: `create role reader nologin;
      grant usage on schema app to reader;
      ${members('(2, 2)')}
      grant select on app.notes, app.members to reader;
      create policy all_members on app.members for select to reader using (true);
      create policy of_members on app.notes for select to reader
        using (exists (select from app.members m where m.tenant_id = notes.tenant_id));
      ${view('table app.notes')};
      alter view app.shown owner to reader`,
    client: 'table app.shown',
  },
  {
    title: 'a view without a column of the tenant',
    schema: view('select id, body from app.notes'),
    client: 'table app.shown',
  },
  {
    title: 'a view that exchanges two columns',
    schema: `${members('(2, 1)')}
      create view app.shown with (security_barrier) as
        select id as tenant_id, tenant_id as id, name from app.members where id = app.t() with check option;
      grant select, update on app.shown to client`,
    client: "update app.shown set name = 'changed'",
  },
  {
    title: 'a view that exchanges two columns of what a client inserts',
    schema: `${members()}
      create view app.shown with (security_barrier) as
        select id as tenant_id, tenant_id as id, name from app.members where id = app.t() with check option;
      grant insert on app.shown to client`,
    client: "insert into app.shown values (1, 2, 'written')",
  },
];

const staff = (grant: string) => `
  create role staff nologin;
  ${grant};
  drop policy own on app.notes;
  create policy every on app.notes using (true);
  create policy own on app.notes as restrictive to staff using (tenant_id = app.t())`;

const rights: readonly Refuted[] = [
  {
    title: 'a restrictive policy for a role that the client does not inherit',
    schema: staff('grant staff to client with inherit false'),
    client: notes,
    since: 16,
  },
  {
    title: 'a restrictive policy for a role of a client that inherits nothing',
    schema: staff('alter role client noinherit; grant staff to client'),
    client: notes,
  },
  {
    title: 'a restrictive policy for a role that a role of the client does not inherit',
    schema: staff('create role crew nologin noinherit; grant staff to crew; grant crew to client'),
    client: notes,
  },
  {
    title: 'a policy for all but the client, who may become another role',
    schema: `create role staff nologin;
      grant usage on schema app to staff;
      grant staff to client;
      grant select on app.notes to staff;
      drop policy own on app.notes;
      create policy own on app.notes using (tenant_id = app.t() or current_user <> 'client')`,
    client: ['set local role staff', notes],
  },
  {
    title: 'a right on the table behind a table, which has no policies',
    schema: `
      alter table app.notes alter column body set storage external;
      insert into app.notes values (2, 3, repeat('of 2 ', 2000));
      do $$
      declare behind regclass := (select reltoastrelid from pg_class where oid = 'app.notes'::regclass);
      begin
        execute format('grant usage on schema pg_toast to client; grant select on %s to client', behind);
      end $$`,
    client: `select query_to_xml(format('select convert_from(chunk_data, ''utf8'') as body from %s',
        (select reltoastrelid::regclass from pg_class where oid = 'app.notes'::regclass)), true, false, '')::text as body`,
  },
  {
    title: 'a right on the catalogue of large objects',
    schema: `select lo_from_bytea(0, 'of 2');
      grant select on pg_largeobject to client`,
    client: "select convert_from(data, 'utf8') as body from pg_largeobject",
  },
  {
    title: 'statistics whose expression writes with the rights of the owner',
    schema: `
      ${members('(1, 1), (2, 2)')}
      create function app.rename_all() returns void language plpgsql
        as $$ begin update app.members set name = 'renamed'; end $$;
      create function app.counted(n int) returns int language plpgsql immutable
        as $$ begin perform app.rename_all(); return n; end $$;
      create statistics app.counts on app.counted(id), tenant_id from app.notes;
      grant maintain on app.notes to client`,
    client: 'analyze app.notes',
    since: 17,
  },
  {
    title: 'an index whose expression writes with the rights of the owner',
    schema: `
      ${members('(1, 1), (2, 2)')}
      create function app.rename_all() returns void language plpgsql
        as $$ begin update app.members set name = 'renamed'; end $$;
      create function app.counted(n int) returns int language plpgsql immutable
        as $$ begin perform app.rename_all(); return n; end $$;
      create index on app.notes (app.counted(id));
      update app.members set name = 'named';
      grant maintain on app.notes to client`,
    client: 'reindex table app.notes',
    since: 17,
  },
  {
    title: 'a definer that rewrites a search by a query of a text',
    schema: definer(
      'search',
      'tsquery',
      "select ts_rewrite('a'::tsquery, 'select ''a''::tsquery, (''''''of 2'''''')::tsquery from app.notes where tenant_id = 2')",
    ),
    client: 'select app.search()',
  },
];

const writes: readonly Refuted[] = [
  {
    title: 'a volatile function that sees what its statement has written',
    schema: `${members()}
      create function app.is_member() returns boolean language sql volatile
        as $$ select exists (select from app.members where tenant_id = app.t()) $$;
      ${shows('app.is_member() and not exists (select from app.members where tenant_id = app.t())')}`,
    client: `with joined as (insert into app.members values (1, 1) returning id)
      select t.* from (select count(*) from joined) j, lateral (select * from app.things offset 0) t`,
  },
  {
    title: 'a cascade from a generated key whose column a client may change',
    schema: `
      create table app.parents (tenant_id int not null, id int primary key, n int, key int generated always as (n * 2) stored unique);
      create table app.children (tenant_id int not null, id int primary key, key int references app.parents (key) on update cascade);
      insert into app.parents values (1, 1, 1);
      insert into app.children values (2, 2, 2);
      ${guarded('app.parents')} ${guarded('app.children')}
      revoke insert, update, delete on app.parents, app.children from client;
      grant update (n) on app.parents to client`,
    client: 'update app.parents set n = 5',
  },
  {
    title: 'a cascade over a foreign key whose columns are crossed',
    schema: `
      create table app.parents (tenant_id int not null, id int not null, unique (tenant_id, id));
      create table app.children (tenant_id int not null, id int not null,
        foreign key (id, tenant_id) references app.parents (tenant_id, id) on delete cascade);
      insert into app.parents values (1, 2);
      insert into app.children values (2, 1);
      ${guarded('app.parents')} ${guarded('app.children')}`,
    client: 'delete from app.parents',
  },
  {
    title: 'a trigger that assigns by another name of the new row',
    schema: trigger('row alias for new;', 'row.tenant_id := 2; return row;'),
    client: touch,
    column: 'tenant_id',
  },
  {
    title: 'a trigger that returns a copy of the new row',
    schema: trigger('copy app.notes;', 'copy := new; copy.tenant_id := 2; return copy;'),
    client: touch,
    column: 'tenant_id',
  },
  {
    title: 'a trigger that assigns by diagnostics',
    schema: trigger('', 'perform * from generate_series(1, 2); get diagnostics new.tenant_id = row_count; return new;'),
    client: touch,
    column: 'tenant_id',
  },
];

/** Written from the manual alone after all others, against a prover that knew all others. */
export const last: readonly Refuted[] = [...rows, ...names, ...literals, ...views, ...rights, ...writes];

export const lastTwins: readonly Twin[] = [
  {
    title: 'a group of the tenant’s own rows',
    schema:
      members('(2, 2)') +
      shows(
        'exists (select from app.members m where m.tenant_id = things.tenant_id group by m.id having count(*) < 5)',
      ),
    client,
    isProven: true,
  },
  {
    title: 'a set of an array beside the tenant of the client',
    schema: visible(
      'labels text[]',
      "(1, 1, '{}'), (2, 2, '{}')",
      'tenant_id = app.t() and not exists (select unnest(labels))',
    ),
    client,
    isProven: true,
  },
  {
    title: 'an array of the tenants of one’s own members',
    schema: members('(1, 1), (2, 2)') + shows('tenant_id = any (array(select m.tenant_id from app.members m))'),
    client,
    isProven: true,
  },
  {
    title: 'two queries of which the second one reads the first',
    schema:
      members('(1, 1), (2, 2)') +
      shows(
        'tenant_id in (with a as (select m.tenant_id as t from app.members m), b (u) as (select a.t from a) select b.u from b)',
      ),
    client,
    isProven: false,
  },
  {
    title: 'two different uuids in a function',
    schema: matches(
      'uuid',
      "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
      "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
      "'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
    ),
    client,
    isProven: false,
  },
  {
    title: 'a view of its invoker that joins two tables',
    schema:
      members('(1, 1), (2, 2)') +
      view(
        'select n.tenant_id, n.body, m.name from app.notes n join app.members m on m.tenant_id = n.tenant_id',
        'security_invoker',
      ),
    client: 'table app.shown',
    isProven: true,
  },
  {
    title: 'a restrictive policy for the client beside one for everyone',
    schema: `drop policy own on app.notes;
      create policy every on app.notes using (true);
      create policy own on app.notes as restrictive to client using (tenant_id = app.t())`,
    client: notes,
    isProven: true,
  },
  {
    title: 'a role that the client can neither be nor inherit',
    schema: `create role staff nologin;
      create policy staff on app.notes to staff using (true);
      grant staff to client with inherit false, set false`,
    client: ['set local role staff', notes],
    since: 16,
    isProven: true,
  },
  {
    title: 'a cascade over the tenant and a key',
    schema: `
      create table app.parents (tenant_id int not null, id int not null, unique (tenant_id, id));
      create table app.children (tenant_id int not null, parent_id int,
        foreign key (tenant_id, parent_id) references app.parents (tenant_id, id) on delete set null (parent_id));
      insert into app.parents values (1, 1), (2, 2);
      insert into app.children values (1, 1), (2, 2);
      ${guarded('app.parents')} ${guarded('app.children')}`,
    client: 'delete from app.parents',
    isProven: true,
  },
  {
    title: 'a trigger that notes when a row changes',
    schema: `alter table app.notes add changed_at timestamptz;
      ${trigger('', 'new.changed_at := now(); return new;')}`,
    client: touch,
    column: 'tenant_id',
    isProven: true,
  },
];
