--! Previous: sha1:e91ecb5029881bfd26cb698287757d37dea4a200
--! Hash: sha1:0e3e96f44bfc0b2b7487fe9db3fef51569a1f5f8
--! Message: audit unused rights

-- Rights and policies that no request has used. Once a day the service notes the text of each statement that a token's role runs.
-- The names in the text are used, and so is what they need: bodies of functions, views, policies, triggers, defaults and checks, as they are.
-- Any mention counts as a use, so that a right which is needed is never called unused.

create table audit.uses (
  role text not null,
  command text not null,
  object text not null,
  part text not null,
  used_on date not null default current_date,
  constraint uses_pkey primary key (role, command, object, part),
  constraint uses_length check (char_length(role) <= 63 and char_length(command) <= 10 and char_length(object) <= 200 and char_length(part) <= 63)
);
-- Absent on purpose: an organization, a person, a value and a text. It has no more rows than there are rights.
comment on table audit.uses is 'What the statements of requests have named, by role, and the last day of each. One row of no role says since when.';
comment on column audit.uses.command is '`select`, `insert`, `update`, `delete` or `execute`.';
comment on column audit.uses.object is 'The table, view or function.';
comment on column audit.uses.part is 'The column; empty for the table itself.';
-- Before row-level security is forced: no policy lets the owner insert.
insert into audit.uses (role, command, object, part) values ('', '', '', '');

alter table audit.uses enable row level security, force row level security;
create policy select_graph_admin on audit.uses for select to graph_admin using (true);
comment on policy select_graph_admin on audit.uses is 'Administration asks what is not used.';
create policy select_graph_auditor on audit.uses for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.uses is 'An auditor asks what is not used.';
create policy select_graph_helper on audit.uses for select to graph_helper using (true);
comment on policy select_graph_helper on audit.uses is 'oauth.note_uses finds what it has noted before.';
create policy insert_graph_helper on audit.uses for insert to graph_helper with check (used_on = current_date);
comment on policy insert_graph_helper on audit.uses is 'oauth.note_uses notes what is used today.';
create policy update_graph_helper on audit.uses for update to graph_helper using (true) with check (used_on = current_date);
comment on policy update_graph_helper on audit.uses is 'oauth.note_uses notes that it is used today, too.';
grant select on audit.uses to graph_auditor, graph_admin, graph_helper;
grant insert (role, command, object, part), update (used_on) on audit.uses to graph_helper;

create function audit.rights_in(statement text) returns table (command text, object text, part text)
  language sql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off set standard_conforming_strings = on
  as $$
    with plain as materialized (
      select lower(replace(statement, '"', '')) as text
    ),
    names as materialized (
      select distinct string_to_array(m[1], '.') as parts
      from plain, regexp_matches(text, '([[:alpha:]_][[:alnum:]_$]*(?:\.[[:alpha:]_][[:alnum:]_$]*)*)', 'g') as m
    ),
    words as materialized (
      select distinct unnest(parts) as word from names
    ),
    qualified as materialized (
      select distinct parts[i] as schema, parts[i + 1] as name from names, generate_series(1, cardinality(parts) - 1) as i
    ),
    relations as materialized (
      select c.oid, format('%I.%I', n.nspname, c.relname) as name, lower(n.nspname || '.' || c.relname) as plain_name
      from qualified q join pg_namespace n on lower(n.nspname) = q.schema join pg_class c on c.relnamespace = n.oid and lower(c.relname) = q.name
      where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_'
    ),
    -- Rows that are named whole: by a star, or as PostGraphile passes one to a function.
    rows as materialized (
      select text ~ '\.\*|,\s*\*|\m(select|distinct|all|returning)\s+\*|[(,]\s*__\w+__\s*[,)]' as is_whole from plain
    ),
    commands as (
      select 'select' as command, oid, name from relations
      union
      select written.command, r.oid, r.name
      from relations r, plain,
        (values ('insert', 'insert\s+into\s+'), ('insert', 'merge\s+into\s+'), ('update', 'update\s+(?:only\s+)?'), ('update', 'merge\s+into\s+'),
          ('delete', 'delete\s+from\s+(?:only\s+)?'), ('delete', 'merge\s+into\s+')) as written (command, pattern)
      where text ~ (written.pattern || replace(r.plain_name, '.', '\.') || '\M')
      union
      -- Rows that are locked, and what is changed instead of inserted.
      select 'update', r.oid, r.name from relations r, plain where text ~ '\mfor\s+(no\s+key\s+)?(update|share|key\s+share)\M|\mdo\s+update\M'
    )
    select c.command, c.name, '' from commands c
    union all
    select c.command, c.name, a.attname
    from commands c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where lower(a.attname) in (select word from words) or (select is_whole from rows)
    union
    select 'execute', format('%I.%I', n.nspname, p.proname), ''
    from qualified q join pg_namespace n on lower(n.nspname) = q.schema join pg_proc p on p.pronamespace = n.oid and lower(p.proname) = q.name
    where n.nspname !~ '^(pg_|information_schema$)'
  $$;
comment on function audit.rights_in(text) is
  'The rights that a statement may need, by the names in its text: of tables and functions with their schemas, of columns of these tables wherever their name stands.';

create function oauth.note_uses(roles text[], statements text[]) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp set row_security = on
  as $$
    -- Runs as graph_helper because what is used is no row of an organization. In one order, so that two at once do not deadlock.
    insert into audit.uses as known (role, command, object, part)
    select distinct s.role, r.command, r.object, r.part
    from unnest(roles, statements) as s (role, statement) cross join lateral audit.rights_in(s.statement) as r
    where s.role in (select q.role from audit.request_roles q where q.kind = 'token')
    order by 1, 2, 3, 4
    on conflict on constraint uses_pkey do update set used_on = current_date where known.used_on < current_date
  $$;
comment on function oauth.note_uses(text[], text[]) is 'Notes that statements were run today, each by the role of its place; keeps no text.';
grant create on schema oauth to graph_helper;
alter function oauth.note_uses(text[], text[]) owner to graph_helper;
revoke create on schema oauth from graph_helper;
grant execute on function oauth.note_uses(text[], text[]) to graph_oauth, graph_admin;
grant execute on function audit.rights_in(text) to graph_helper, graph_admin;
grant select on audit.request_roles to graph_helper;

create function audit.unused(since date) returns table (role text, kind text, command text, object text, part text, rule text)
  language plpgsql volatile set search_path = pg_catalog, pg_temp set quote_all_identifiers = off set jit = off
  as $$
  declare
    clients text[] = array(select q.role from audit.request_roles q where q.kind = 'token');
  begin
    drop table if exists pg_temp.used;
    create temporary table used on commit drop as
      select u.role, u.command, u.object, u.part from audit.uses u where u.used_on >= since and u.role <> '';
    create unique index on used (role, command, object, part);
    -- What hangs on what is used is used, too, until nothing is added.
    loop
      insert into used
      select distinct u.role, r.command, r.object, r.part
      from (select distinct used.role, used.command, used.object from used where used.part = '') as u
      cross join lateral (
        -- A function with its caller's rights; it may name rows whole in any way.
        select concat(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), ' all.*') as text
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where u.command = 'execute' and format('%I.%I', n.nspname, p.proname) = u.object and not p.prosecdef
        union all
        select pg_get_viewdef(c.oid) from pg_class c where c.oid = to_regclass(u.object) and c.relkind = 'v'
        union all
        select concat_ws(' ', p.using_expression, p.check_expression)
        from audit.policies p
        where p.relation = to_regclass(u.object) and (p.roles && array[u.role, 'public'])
        union all
        -- What a writer runs besides.
        select concat_ws(' ', p.prosrc, 'all.*', n.nspname || '.' || p.proname)
        from pg_trigger t join pg_proc p on p.oid = t.tgfoid join pg_namespace n on n.oid = p.pronamespace
        where u.command in ('insert', 'update', 'delete') and t.tgrelid = to_regclass(u.object) and not p.prosecdef
        union all
        select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d where u.command in ('insert', 'update') and d.adrelid = to_regclass(u.object)
        union all
        select pg_get_constraintdef(c.oid) from pg_constraint c
        where u.command in ('insert', 'update') and (c.conrelid = to_regclass(u.object) and c.contype = 'c'
          or c.contypid in (select a.atttypid from pg_attribute a where a.attrelid = to_regclass(u.object)))
        union all
        select pg_get_indexdef(i.indexrelid) from pg_index i where u.command in ('insert', 'update') and i.indrelid = to_regclass(u.object)
      ) as needed
      cross join lateral audit.rights_in(needed.text) as r
      on conflict do nothing;
      exit when not found;
    end loop;

    return query
      select m.role, 'right', m.command, r.name, coalesce(c.name, ''), null
      from audit.matrix m
      join audit.relations r using (relation)
      cross join lateral unnest(case when m.columns = '{}' then array[null] else m.columns end) as c (name)
      where m.granted and m.role = any (clients)
        and not exists (select from used u where u.role = m.role and u.command = m.command and u.object = r.name and u.part = coalesce(c.name, ''))
      union all
      select caller, 'right', 'execute', f.name, '', null
      from audit.functions f
      cross join lateral unnest(f.callers) as caller
      where caller = any (clients)
        and not exists (select from used u where u.role = caller and u.command = 'execute' and u.object = split_part(f.name, '(', 1))
      union all
      select named, 'policy', p.command, r.name, p.policy, p.rule
      from audit.policies p
      join audit.relations r using (relation)
      cross join lateral unnest(p.roles) as named
      where named = any (clients)
        and not exists (select from used u where u.role = named and u.object = r.name and (u.command = p.command or p.command = 'all'))
      order by 1, 2, 4, 3, 5;
  end
  $$;
comment on function audit.unused(date) is
  'Rights and policies of the roles of tokens that no statement of a request has named since that day, nor anything that such a statement needs. For the owner.';
grant execute on function audit.unused(date) to graph_admin;
