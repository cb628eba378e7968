const claim = '(select app_hidden.current_organization_id())';
const organization = `organization_id = ${claim}`;

/** Makes people of every organization seen where a condition holds, though only with claims. */
const seenIf = (condition: string) =>
  `alter policy select_graph_app on app_public.users using (${organization} or ${claim} is not null and (${condition}))`;
const functionOf = (signature: string, options: string, body: string) =>
  `create function app_hidden.${signature} ${options} as $$ ${body} $$; grant execute on all functions in schema app_hidden to graph_app, graph_user`;
const definer = 'security definer set search_path = pg_catalog, pg_temp';

/** Mistakes that hide in the corners of SQL: what is printed of an expression, or what a word means, is not what it seems. */
export const disguises: Record<string, string> = {
  // What a query yields.
  'asks a query that is cut to nothing': seenIf(`(select true limit 0) is null`),
  'asks a query that skips its row': seenIf(`(select true offset 1) is null`),
  'groups nothing into one row': seenIf(
    `exists (select 1 from app_public.cards u where false group by grouping sets (()))`,
  ),
  'groups nothing by having': seenIf(`exists (select 1 from app_public.cards u where false having true)`),
  'counts in the order of nothing': seenIf(`exists (select 1 from app_public.cards u where false order by count(*))`),
  'counts nothing in a subquery': seenIf(`exists (select (select count(u.id)) from app_public.cards u where false)`),
  'compares counts of constants': seenIf(
    `(select count(1) from app_public.cards) <> (select count(1) from app_public.cards)`,
  ),
  'compares windows': seenIf(
    `(select max(1) over () + 1 from app_public.cards limit 1) <> (select 1 from app_public.cards limit 1)`,
  ),
  'asks a recursive query': seenIf(
    `exists (with recursive r (n) as (select 1 union all select n + 1 from r where n < 3) select from r where n = 3)`,
  ),
  'joins laterally': seenIf(
    `exists (select from app_public.cards u, lateral (select u.id as other) x where x.other = u.id)`,
  ),
  'unites with nothing': seenIf(
    `exists (select x.v from (select name as v from app_public.cards where false union all select name from app_public.units) x where x.v = full_name)`,
  ),
  intersects: seenIf(`exists (select id from app_public.cards intersect select id from app_public.cards)`),
  excepts: seenIf(`exists (select 1 except select 2)`),
  'takes values': seenIf(`exists (select from (values (1), (2)) v (n) where n = 2)`),
  'generates a series': seenIf(`3 in (select generate_series(1, 3))`),
  'aggregates a filter': seenIf(`(select count(*) filter (where false) from app_public.cards) = 0`),
  'skips what is locked': seenIf(
    `exists (select from app_public.cards c where c.id = users.id) and not exists (select from app_public.cards c where c.id = users.id for update skip locked)`,
  ),
  'compares whole rows': seenIf(`users.* is not distinct from users.*`),
  'compares rows': seenIf(`(organization_id, id) = (organization_id, id)`),
  'asks whether a row is null': seenIf(`row(external_identifier, null) is not null or not (row(null) is not null)`),
  'asks its own table without correlation': seenIf(`organization_id in (select users.organization_id)`),
  // What a function is.
  'excludes between': `${functionOf('between(n int)', 'returns boolean language sql stable', 'select n not between 0 and 5 and not (n not between 0 and 100)')}; ${seenIf('app_hidden.between(length(full_name) + 6)')}`,
  'takes its own unnest': `create function app_hidden.unnest(uuid[]) returns setof uuid language sql stable ${definer} as $$ select organization_id from app_public.users $$; grant execute on function app_hidden.unnest(uuid[]) to graph_app; ${seenIf(`organization_id in (select x from app_hidden.unnest('{}'::uuid[]) x)`)}`,
  'takes null for the name of a setting': seenIf(
    `current_setting(nullif('graph.organization_id', full_name), true) is null`,
  ),
  'has a variable of its own': `${functionOf('shadow(a uuid)', 'returns uuid language plpgsql stable', 'declare a uuid := null; begin return a; end')}; ${seenIf(`app_hidden.shadow(organization_id) is null`)}`,
  'catches an error': `${functionOf('caught(a text)', 'returns boolean language plpgsql stable', 'begin return a::uuid = app_hidden.current_organization_id(); exception when others then return true; end')}; alter policy select_graph_app on app_public.users using (${claim} is not null and app_hidden.caught(organization_id || full_name))`,
  'takes a variable for a column': `${functionOf('varied(card_id uuid)', 'returns boolean language plpgsql stable', '#variable_conflict use_variable\n begin return not exists (select from app_public.card_assignments where card_id <> varied.card_id) and exists (select from app_public.card_assignments c where c.card_id <> varied.card_id); end')}; ${seenIf('app_hidden.varied(id)')}`,
  'is marked immutable and reads': `${functionOf('few(uuid)', 'returns boolean language plpgsql immutable', 'declare n int; begin select count(*) into n from app_hidden.unit_access; return n > 1; end')}; alter policy select_graph_user on app_public.cards using (${organization} and id = any (array(select card_id from app_public.card_assignments)) and app_hidden.few(id))`,
  'executes text': `${functionOf('dynamic(text)', 'returns boolean language plpgsql stable', "declare b boolean; begin execute 'select true' into b; return b; end")}; ${seenIf(`app_hidden.dynamic('x')`)}`,
  'has a default': `create function app_hidden.defaulted(a uuid default null) returns uuid language sql stable as $$ select coalesce(a, app_hidden.current_organization_id()) $$; grant execute on function app_hidden.defaulted(uuid) to graph_app; alter policy select_graph_app on app_public.users using (organization_id = app_hidden.defaulted(a => organization_id))`,
  'is asked in a view as its caller': `create function app_hidden.foreign(uuid) returns boolean language sql stable as $$ select exists (select from app_public.users u where u.organization_id = $1 and u.organization_id <> app_hidden.current_organization_id()) $$;
    grant execute on function app_hidden.foreign(uuid) to graph_app; create view app_public.people as select * from app_public.users where ${claim} is not null and not app_hidden.foreign(organization_id); grant select on app_public.people to graph_app`,
  'lists nothing with null': seenIf(`(not (full_name in ('a', null))) is not false and full_name <> 'a'`),
  'compares with all of nothing': seenIf(`id <> all (array(select id from app_public.users where false))`),
  'is null of a schema': seenIf(`current_schema is null`),
  // What an operator, type or cast is.
  'has an operator of its own': `create function app_hidden.same(uuid, uuid) returns boolean language sql immutable as $$ select true $$; create operator app_hidden.= (leftarg = uuid, rightarg = uuid, function = app_hidden.same); grant execute on function app_hidden.same(uuid, uuid) to graph_app; alter policy select_graph_app on app_public.users using (${claim} is not null and organization_id operator(app_hidden.=) ${claim})`,
  'has an operator of its own in a case': `create function app_hidden.same(uuid, uuid) returns boolean language sql immutable as $$ select true $$; create operator app_hidden.= (leftarg = uuid, rightarg = uuid, function = app_hidden.same); grant execute on function app_hidden.same(uuid, uuid) to graph_app; set local search_path = app_hidden, pg_catalog; alter policy select_graph_app on app_public.users using (case organization_id when ${claim} then ${claim} is not null else false end); set local search_path = pg_catalog, pg_temp`,
  'has an operator of its own in what is distinct': `create function app_hidden.same(uuid, uuid) returns boolean language sql immutable as $$ select true $$; create operator app_hidden.= (leftarg = uuid, rightarg = uuid, function = app_hidden.same); grant execute on function app_hidden.same(uuid, uuid) to graph_app; set local search_path = app_hidden, pg_catalog; alter policy select_graph_app on app_public.users using (${claim} is not null and organization_id is not distinct from ${claim}); set local search_path = pg_catalog, pg_temp`,
  'has an operator of its own in nullif': `create function app_hidden.same(uuid, uuid) returns boolean language sql immutable as $$ select true $$; create operator app_hidden.= (leftarg = uuid, rightarg = uuid, function = app_hidden.same); grant execute on function app_hidden.same(uuid, uuid) to graph_app; set local search_path = app_hidden, pg_catalog; alter policy select_graph_app on app_public.users using (${claim} is not null and nullif(organization_id, ${claim}) is null); set local search_path = pg_catalog, pg_temp`,
  'has an operator of its own in a function': `create function app_hidden.same(varchar, varchar) returns boolean language sql immutable as $$ select true $$; create operator app_hidden.= (leftarg = varchar, rightarg = varchar, function = app_hidden.same);
    create function app_hidden.mine(varchar, varchar) returns boolean language sql stable set search_path = pg_catalog, app_hidden as $$ select $1 = $2 $$; grant execute on all functions in schema app_hidden to graph_app; alter policy select_graph_app on app_public.users using (${claim} is not null and app_hidden.mine((organization_id::text)::varchar, (${claim}::text)::varchar) and app_hidden.mine(full_name::varchar, 'x') and app_hidden.mine(full_name::varchar, 'y'))`,
  'has a cast of its own': `create function app_hidden.cast(text) returns uuid language sql stable as $$ select coalesce($1::bytea::text, 'aaaaaaaa-0000-7000-8000-000000000000')::varchar::uuid $$; grant execute on function app_hidden.cast(text) to graph_app; create cast (text as uuid) with function app_hidden.cast(text); drop policy select_graph_app on app_public.users; create policy select_graph_app on app_public.users for select to graph_app using (${claim} is not null and organization_id is not null and (null::text)::uuid is not null)`,
  'compares in a collation of its own': `create collation app_hidden.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false); alter table app_public.users alter column locale type text collate app_hidden.ci; ${seenIf(`lower(locale) = 'de' and lower(locale) = 'DE'`)}`,
  'casts in a collation of its own': `create collation app_hidden.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false); alter table app_public.users alter column locale type text collate app_hidden.ci; ${seenIf(`locale::varchar = 'de' and locale::varchar = 'DE'`)}`,
  'compares in the collation of a domain': `create collation app_hidden.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false); create domain app_hidden.folded as text collate app_hidden.ci; create function app_hidden.fold(n int) returns app_hidden.folded language sql immutable as $$ select 'DE'::app_hidden.folded $$; grant execute on all functions in schema app_hidden to graph_app; ${seenIf(`app_hidden.fold(1) = 'de' and app_hidden.fold(1) = 'DE'`)}`,
  'cuts names': seenIf(`repeat('a', 63) is not null and '${'a'.repeat(63)}x'::name = '${'a'.repeat(63)}y'::name`),
  'has a column with the name of another': `alter table app_public.users add column "organization|id" uuid; ${seenIf('false')}; alter table app_public.users add column organization_id_ uuid; alter policy select_graph_app on app_public.users using ("organization|id" = ${claim})`,
  'has a column that is named like a parameter': `alter table app_public.users add column "$1" uuid; create function app_hidden.param(uuid) returns boolean language sql stable as $$ select exists (select from app_public.users u where u.organization_id = app_hidden.current_organization_id() and $1 is not null) $$; grant execute on function app_hidden.param(uuid) to graph_app; ${seenIf('app_hidden.param(organization_id)')}`,
  'compares bits': `create function app_hidden.bits(bit) returns boolean language sql immutable as $$ select $1 = B'1' and not ($1 = B'0') $$; grant execute on function app_hidden.bits(bit) to graph_app; ${seenIf(`app_hidden.bits('1'::bit(1))`)}`,
  'asks text of a key': seenIf(`organization_id::text like '%'`),
  collates: seenIf(`full_name collate "C" = full_name collate "C"`),
  // What is true of rows.
  'relies on a check of claims': `create table app_public.notes (organization_id uuid not null, id uuid not null default app_hidden.uuid_v7(), constraint own check (organization_id = app_hidden.current_organization_id()), primary key (organization_id, id)); alter table app_public.notes enable row level security, force row level security; create policy select_graph_app on app_public.notes for select to graph_app using (${claim} is not null); grant select on app_public.notes to graph_app`,
  'relies on a check by a function': `create function app_hidden.never(uuid) returns boolean language sql immutable as $$ select false $$; create table app_public.notes (organization_id uuid not null, id uuid not null default app_hidden.uuid_v7(), constraint own check (app_hidden.never(id) is not true), primary key (organization_id, id)); alter table app_public.notes enable row level security, force row level security; create policy select_graph_app on app_public.notes for select to graph_app using (${organization} or ${claim} is not null and app_hidden.never(id)); create or replace function app_hidden.never(uuid) returns boolean language sql immutable as $$ select $1 is not null $$; alter policy select_graph_app on app_public.notes using (${organization} or ${claim} is not null and app_hidden.never(id)); grant execute on function app_hidden.never(uuid) to graph_app; grant select on app_public.notes to graph_app`,
  'relies on a foreign key that is switched off': `alter table app_public.card_assignments disable trigger all; alter policy select_graph_app on app_public.card_assignments using (${claim} is not null and exists (select from app_public.users u where u.id = card_assignments.user_id and u.${organization}))`,
  'reads children apart': `create table app_public.vips () inherits (app_public.users); grant select on app_public.vips to graph_user; alter table app_public.vips enable row level security, force row level security; create policy select_graph_user on app_public.vips for select to graph_user using (${organization})`,
  'leaves out children': `create table app_public.vips () inherits (app_public.users); ${seenIf(`exists (select from app_public.users u where u.id = users.id) and not exists (select from only app_public.users u where u.id = users.id)`)}`,
  // Rights beside policies.
  'is passed by in a view of secrets': `create view app_public.keys as select * from oauth.application_secrets where ${organization}; grant select on app_public.keys to graph_app`,
  'is passed by in a view of other people': `create view app_public.people as select organization_id, id as person, full_name from app_public.users where ${organization}; grant select on app_public.people to graph_user`,
  'is passed by in a view of assignments': `create view app_public.holders as select organization_id, card_id from app_public.card_assignments where ${organization}; grant select on app_public.holders to graph_user`,
  'is passed by in writing a view of people': `create view app_public.people as select * from app_public.users where ${organization} with check option; grant select, update on app_public.people to graph_user`,
  'is passed by in a view that unites': `create view app_public.people as select organization_id, id from app_public.users where ${organization} union all select ${claim}, id from app_public.users; grant select on app_public.people to graph_app`,
  'is passed by in a view that renames what a grant reaches': `create view app_public.places as select organization_id, id, name, ancestor_ids as path from app_public.units where ${organization}; grant select, update (path) on app_public.places to graph_app`,
  'is passed by in a function that deletes': `create function app_public.clean() returns int language sql volatile ${definer} as $$ with gone as (delete from app_public.users) select 1 $$; grant execute on function app_public.clean() to graph_app`,
  'is passed by in a variable of a function': `create function app_public.people() returns bigint language plpgsql stable ${definer} as $$ declare n bigint := (select count(*) from app_public.users); begin return n; end $$; grant execute on function app_public.people() to graph_user`,
  'is passed by in a function that exports': `create function app_public.export() returns xml language sql stable ${definer} as $$ select table_to_xml('app_public.users', true, false, '') $$; grant execute on function app_public.export() to graph_user`,
  'is passed by in a function that uses an operator': `create function app_hidden.plus(int, int) returns int language plpgsql volatile as $$ begin delete from app_public.users; return 1; end $$; create operator app_hidden.+ (leftarg = int, rightarg = int, function = app_hidden.plus); create function app_public.add() returns int language sql volatile ${definer} as $$ select 1 operator(app_hidden.+) 2 $$; grant execute on function app_public.add() to graph_user`,
  'is passed by in a function that reads a view that deletes': `create function app_hidden.wipe() returns int language plpgsql volatile as $$ begin delete from app_public.users; return 1; end $$; create view app_hidden.wiping as select app_hidden.wipe() as n; create function app_public.add() returns int language sql volatile ${definer} as $$ select n from app_hidden.wiping $$; grant execute on function app_public.add() to graph_user`,
  'is passed by in a function of another schema': `create schema graphile_more; create function graphile_more.people() returns bigint language sql stable ${definer} as $$ select count(*) from app_public.users $$; grant usage on schema graphile_more to graph_user; grant execute on function graphile_more.people() to graph_user`,
  'is passed by in a function that is stored parsed': `create function app_public.people() returns bigint language sql stable ${definer} begin atomic select count(*) from app_public.users; end; grant execute on function app_public.people() to graph_user`,
  'is passed by in a function that locks': `create function app_public.people() returns bigint language sql volatile ${definer} as $$ select count(*) from (select from app_public.users for update) u $$; grant execute on function app_public.people() to graph_user`,
  'is for a role of a role': `create role staff; grant staff to graph_app; create policy more on app_public.users for select to staff using (${claim} is not null)`,
  'is passed by in a partition': `create table app_public.logs (organization_id uuid not null, at int not null) partition by list (at); create table app_public.logs_1 partition of app_public.logs for values in (1); alter table app_public.logs enable row level security, force row level security; create policy select_graph_app on app_public.logs for select to graph_app using (${organization}); grant select on app_public.logs, app_public.logs_1 to graph_app`,
  'asks a table whose policy is weak': `alter policy select_graph_app on app_public.cards using (${claim} is not null); alter policy select_graph_app on app_public.card_assignments using (${claim} is not null and card_id in (select id from app_public.cards))`,
  "is passed by in a function among PostgreSQL's": `create function pg_catalog.people() returns bigint language sql stable ${definer} as $$ select count(*) from app_public.users $$; grant execute on function pg_catalog.people() to graph_user`,
  "has an operator among PostgreSQL's": `create function app_hidden.same(varchar, varchar) returns boolean language sql immutable as $$ select true $$; create operator pg_catalog.= (leftarg = varchar, rightarg = varchar, function = app_hidden.same); grant execute on all functions in schema app_hidden to graph_app; ${seenIf(`full_name::varchar = 'x'::varchar and full_name::varchar = 'y'::varchar`)}`,
  'is passed by in a procedure': `create procedure app_public.wipe() language plpgsql ${definer} as $$ begin delete from app_public.users; end $$; grant execute on procedure app_public.wipe() to graph_user`,
  'is passed by in a table of another schema': `create schema graphile_more; create table graphile_more.people as select * from app_public.users; grant usage on schema graphile_more to graph_user; grant select on graphile_more.people to graph_user`,
  "is passed by in PostgreSQL's statistics": `grant select on pg_catalog.pg_statistic to graph_user`,
  "is passed by in PostgreSQL's files": `grant execute on function pg_catalog.pg_read_file(text) to graph_user`,
  'is passed by as a role that reads files': `grant pg_read_server_files to graph_user`,
  'guards a table that a client owns': `alter table app_public.cards owner to graph_app`,
  'calls a function that a client owns': `alter function app_hidden.current_organization_id() owner to graph_app`,
  'is for a right that may be passed on': `grant select on app_public.cards to graph_app with grant option`,
  'is for a role that may be passed on': `grant graph_app to graph_user with admin option`,
  'guards a table with triggers of a client': `grant trigger on app_public.cards to graph_app`,
  'leaves a schema to a client': `grant create on schema app_hidden to graph_app`,
  'is passed by in a trigger of a cascade': `create function app_hidden.tidy() returns trigger language plpgsql as $$ begin delete from app_public.users; return null; end $$; create trigger tidy after delete on app_public.card_assignments for each statement execute function app_hidden.tidy()`,
  'reads another setting by a pattern': `create or replace function app_hidden.current_organization_id() returns uuid language sql stable as $$ select nullif(current_setting('graph.' || 'organization_id', true), '')::uuid $$; alter policy select_graph_app on app_public.users using (organization_id = coalesce(${claim}, organization_id))`,
  'sets claims through the view of settings': `create function app_public.become(organization text) returns text language plpgsql volatile as $$ begin update pg_settings set setting = organization where name = 'graph.organization_id'; return ''; end $$; grant execute on function app_public.become(text) to graph_app`,
  'becomes another role': `create function app_public.become() returns text language plpgsql volatile as $$ begin set local role graph_oauth; return ''; end $$; grant execute on function app_public.become() to graph_basic`,
  'becomes another role by a setting': `create function app_public.become() returns text language sql volatile as $$ select set_config('role', 'graph_oauth', true) $$; grant execute on function app_public.become() to graph_basic`,
  'becomes another role while it runs': `create function app_public.become() returns bigint language sql stable as $$ select count(*) from app_public.users $$; grant execute on function app_public.become() to graph_basic; alter function app_public.become() set role = graph_oauth`,
  'is passed by in a condition of a view': `create view app_public.people as select organization_id, id from app_public.users where ${organization} and exists (select from app_public.users u where u.email = 'grace@demo.test'); grant select on app_public.people to graph_app`,
  'runs what it is given': `create function app_public.run(statement text) returns text language plpgsql volatile as $$ begin execute statement; return ''; end $$; grant execute on function app_public.run(text) to graph_app`,
};
