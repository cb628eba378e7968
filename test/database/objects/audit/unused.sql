CREATE OR REPLACE FUNCTION audit.unused(since date)
 RETURNS TABLE(role text, kind text, command text, object text, part text, rule text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET jit TO 'off'
AS $function$
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
  $function$;
comment on function audit.unused(date) is 'Rights and policies of the roles of tokens that no statement of a request has named since that day, nor anything that such a statement needs. For the owner.';
grant execute on function audit.unused(date) to graph_admin;
