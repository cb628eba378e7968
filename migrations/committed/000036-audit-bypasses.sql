--! Previous: sha1:8773ad257d7104058d4f72dda6aad2d47a6d6c68
--! Hash: sha1:ffa3b5d610d74a3025248493d3e8ccb25d4564cd
--! Message: audit bypasses

-- Everything that escapes row-level security or the history: owners, superusers, definers, views, rules and others. Each is as this service
-- needs it, or is accepted with a reason; everything else is a finding.
--
-- The view says the reasons that follow from the catalogue. The others are rows of audit.accepted: the last file of the baseline has them.

-- What was looked at and is meant to be so. An administrator adds to it; a reason is a sentence that the next one understands.
create table audit.accepted (
  kind text not null,
  object text not null,
  who text not null,
  reason text not null,
  hash text,
  constraint accepted_pkey primary key (kind, object, who),
  constraint accepted_length check (
    char_length(kind) <= 200 and char_length(object) <= 2000 and char_length(who) <= 2000 and char_length(hash) <= 10000),
  constraint accepted_reason_text check (char_length(reason) between 1 and 2000)
);
-- Absent on purpose: an organization. What escapes row-level security escapes it for all of them.
comment on table audit.accepted is 'Rows of audit.bypasses that are meant to be so, each with its reason.';
comment on column audit.accepted.hash is
  'What was accepted: a hash of what was read of a function or goal; the rights of `right`; the readers of `secret_readable`. '
  'What has changed since is a finding.';

-- What a judgement has read, as a transitive closure. PostgreSQL notes the dependencies of expressions, views and types. It notes none of
-- a function's text, so that each object whose name occurs in the text counts. Objects of PostgreSQL itself do not: they cannot change.
-- `commands` are the bits of pg_trigger.tgtype; 0 is reading. `acting` is whose rights and policies hold; 0 if that is not known.
create function audit.judged(object text, who text) returns table (classid oid, objid oid, objsubid integer, commands integer, acting oid)
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on set quote_all_identifiers = off
  -- Planning it takes longer than running it, and its costs are overestimated.
  set plan_cache_mode = force_generic_plan set jit = off
  as $$
  with recursive goal (command, object) as (
    select coalesce(parts[1], 'call'), coalesce(parts[2], object)
    from (select regexp_match(object, '^.*?: (call|trigger|select|insert|update|delete|truncate) on (.*)$')) as matched (parts)
  ),
  start (classid, objid, commands, acting) as (
    select 'pg_proc'::regclass::oid, p.oid, 0, case when p.prosecdef then p.proowner else coalesce(role.oid, 0) end
    from goal
    join pg_namespace n on n.nspname not in ('pg_catalog', 'information_schema')
    join pg_proc p on p.pronamespace = n.oid and format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) = goal.object
    left join pg_roles role on role.rolname = any (string_to_array(who, ', '))
    where goal.command in ('call', 'trigger')
    union
    select 'pg_trigger'::regclass, t.oid, 0, 0
    from goal
    join pg_trigger t on not t.tgisinternal
    join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where goal.command = 'trigger' and goal.object = format('%s on %I.%I', t.tgname, n.nspname, c.relname)
    union
    select 'pg_class'::regclass, c.oid,
      case goal.command when 'insert' then 4 when 'delete' then 8 when 'update' then 16 when 'truncate' then 32 else 0 end, role.oid
    from goal
    join pg_class c on true join pg_namespace n on n.oid = c.relnamespace
    join pg_roles role on role.rolname = who
    where goal.command not in ('call', 'trigger') and goal.object = format('%I.%I', n.nspname, c.relname)
  ),
  -- A name with other characters than these is recognized by its longest word.
  named (classid, oid, name, word) as materialized (
    select o.classid, o.oid, n.name, case when n.name ~ '^[a-z0-9_]+$' then n.name else
      (select word from regexp_split_to_table(n.name, '[^a-z0-9_]+') as word order by length(word) desc limit 1) end
    from (
      -- An extension has many functions in C, which no statement changes.
      select 'pg_proc'::regclass, p.oid, p.proname, p.pronamespace
      from pg_proc p join pg_language l on l.oid = p.prolang
      where p.prosecdef or l.lanname not in ('c', 'internal') or not exists (
        select from pg_depend d where (d.classid, d.objid, d.deptype) = ('pg_proc'::regclass, p.oid, 'e'))
      union all
      select 'pg_class'::regclass, oid, relname, relnamespace from pg_class where relkind in ('r', 'p', 'v', 'm', 'f', 'S', 'c')
      union all
      select 'pg_type'::regclass, oid, typname, typnamespace from pg_type where typrelid = 0 and typcategory <> 'A'
      union all
      select 'pg_collation'::regclass, oid, collname, collnamespace from pg_collation
      union all
      select 'pg_ts_config'::regclass, oid, cfgname, cfgnamespace from pg_ts_config
      union all
      select 'pg_ts_dict'::regclass, oid, dictname, dictnamespace from pg_ts_dict
    ) as o (classid, oid, name, schema)
    cross join lateral lower(o.name::text collate "C") as n (name)
    where o.schema not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace)
  ),
  judged (classid, objid, objsubid, commands, acting) as (
    select s.classid, s.objid, 0, s.commands, s.acting from start s
    union
    -- A cast between types of PostgreSQL itself needs no name.
    select 'pg_cast'::regclass, c.oid, 0, 0, s.acting
    from start s join pg_cast c on c.oid >= 16384 and greatest(c.castsource, c.casttarget) < 16384
    union
    -- A goal of a command is one of the foreign keys that delete or change the table's rows, too.
    select 'pg_constraint'::regclass, k.oid, 0, 0, s.acting
    from start s join pg_constraint k on k.conrelid = s.objid and k.contype = 'f'
    where s.classid = 'pg_class'::regclass and s.commands & 24 > 0 and concat(k.confdeltype, k.confupdtype) ~ '[cnd]'
    union
    select e.classid, e.objid, e.objsubid,
      case when e.classid in ('pg_class'::regclass, 'pg_inherits'::regclass) and e.objsubid = 0 then e.commands else 0 end, e.acting
    from judged
    cross join lateral (
      select judged.*, coalesce(
        (select p.proowner from pg_proc p where judged.classid = 'pg_proc'::regclass and p.oid = judged.objid and p.prosecdef),
        judged.acting)
    ) as j (classid, objid, objsubid, commands, caller, acting)
    cross join lateral (
      -- What the text of a function names.
      select m.classid, m.objid, m.objsubid, m.commands, j.acting
      from (
        select body.*,
          -- A pinned function finds only PostgreSQL's names without a schema. Others come after a dot, or begin a literal of a run text.
          body.text !~ 'search[_]path|\mreset\M|\mset\s+((local|session)\s+)?schema\M' and exists (
            select from unnest(body.proconfig) as setting where setting ~ '^search[_]path=(pg_catalog(, pg_temp)?|"")?$') as is_pinned,
          -- What it does to a table is not seen in a text that is run, nor before a comment.
          body.text ~ '\m(execute|copy|truncate)\M|\m(into|from|only|update)\s*(--|/\*)' as is_obscure
        from (
          select
            p.oid, p.provolatile, p.proconfig,
            replace(regexp_replace(
              lower(concat(p.prosrc, pg_get_function_sqlbody(p.oid)) collate "C"), '\\[bfnrt]', ' ', 'g'), '"', '') as text
          from pg_proc p join pg_language l on l.oid = p.prolang and l.lanname not in ('c', 'internal')
          where j.classid = 'pg_proc'::regclass and p.oid = j.objid
        ) as body
        offset 0
      ) as body
      cross join lateral (
        with word as materialized (
          select trim(leading '.' from w) as word, bool_or(w ^@ '.' or not body.is_pinned) as is_name
          from regexp_split_to_table(
            regexp_replace(
              concat(body.text, ' ', body.proconfig),
              case when body.is_obscure then '[''{,$]|' else '' end || '\.(\s*--[^\n]*\n|\s*/\*[^*]*\*/)*\s*', ' .', 'g'),
            '[^a-z0-9_.]+') as w
          group by 1
        ),
        changed (word, commands) as materialized (
          select w[2], bit_or(case left(w[1], 1)
            when 'i' then case when body.text ~ '\mdo\s+update\M' then 20 else 4 end
            when 'd' then 8 when 'u' then 16 else 28 end)
          from regexp_matches(body.text,
            '\m(insert\s+into|delete\s+from|update|merge\s+into)\M\s+(?:only\s+)?(?:[a-z0-9_]+\s*\.\s*)?([a-z0-9_]+)',
            'g') as w
          where body.provolatile = 'v'
          group by w[2]
        ),
        object as materialized (
          select n.*
          from named n
          where n.word = '' or n.word in (select word from word where is_name) or n.word <> n.name and n.word in (select word from word)
            or n.classid = 'pg_class'::regclass and n.oid in (
              select refobjid from pg_depend where classid = 'pg_proc'::regclass and objid = body.oid and refclassid = 'pg_class'::regclass)
        )
        select o.classid, o.oid, 0,
          case
            when body.is_pinned and not body.is_obscure and o.word = o.name then coalesce(c.commands, 0)
            else case when body.provolatile = 'v' then 60 else 0 end
          end
        from object o left join changed c on c.word = o.word
        union all
        select o.classid, o.oid, a.attnum, 0
        from object o join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
        where o.classid = 'pg_class'::regclass
          and (lower(a.attname::text collate "C") in (select word from word) or a.attname !~ '^[A-Za-z0-9_]+$')
        union all
        -- Those of other types are reached from these.
        select 'pg_operator'::regclass, o.oid, 0, 0
        from pg_operator o
        join named n on (n.classid, n.oid) = ('pg_proc'::regclass, o.oprcode)
        where o.oid >= 16384 and greatest(o.oprleft, o.oprright) < 16384 and position(o.oprname::text in body.text) > 0
          and (not body.is_pinned or body.text ~ '\moperator\s*\(')
        union all
        select 'pg_event_trigger'::regclass, oid, 0, 0
        from pg_event_trigger
        where body.text ~ '\m(create|alter|drop|grant|revoke|comment|refresh|execute)\M'
      ) as m (classid, objid, objsubid, commands)
      union all
      -- What an expression, a type and others depend on. A dependency on a column stands for its table, too.
      select d.refclassid, d.refobjid, part.objsubid, 0, j.acting
      from pg_depend d
      cross join lateral (select d.refobjsubid union select 0 where j.classid = 'pg_policy'::regclass) as part (objsubid)
      where d.classid = j.classid and d.objid = j.objid and d.objsubid = j.objsubid
        and (j.classid <> 'pg_class'::regclass or j.objsubid > 0)
        and (d.deptype = 'n' or d.deptype = 'i' and j.classid = 'pg_type'::regclass and d.refclassid = 'pg_type'::regclass)
        and d.refclassid <> all (array['pg_namespace', 'pg_language']::regclass[])
      union all
      -- A table or view; of a child, what is not its parent's.
      select x.classid, x.objid, x.objsubid, x.commands, x.acting
      from pg_class c
      cross join lateral (
        -- The policies that bind this role.
        select 'pg_policy'::regclass::oid, p.oid, 0, 0, j.acting
        from pg_policy p
        where j.classid = 'pg_class'::regclass and p.polrelid = c.oid and c.relrowsecurity
          and (p.polcmd in ('r', '*') or j.commands & case p.polcmd when 'a' then 4 when 'd' then 8 when 'w' then 16 end > 0)
          and (j.acting = 0
            or (c.relforcerowsecurity or not pg_has_role(j.acting, c.relowner, 'usage'))
              and not exists (select from pg_roles a where a.oid = j.acting and (a.rolsuper or a.rolbypassrls))
              and exists (select from unnest(p.polroles) as role where role = 0 or pg_has_role(j.acting, role, 'usage')))
        union all
        -- The columns of which any policy makes a condition: they say whose a row is.
        select d.refclassid, d.refobjid, d.refobjsubid, 0, j.acting
        from pg_depend d join pg_policy p on p.oid = d.objid and p.polrelid = c.oid
        where j.classid = 'pg_class'::regclass and d.classid = 'pg_policy'::regclass
          and d.refclassid = 'pg_class'::regclass and d.refobjid = c.oid and d.refobjsubid > 0
        union all
        select 'pg_trigger'::regclass, t.oid, 0, 0, j.acting
        from pg_trigger t
        where t.tgrelid = c.oid and not t.tgisinternal and t.tgtype & j.commands > 0
          and (j.classid = 'pg_class'::regclass or t.tgparentid = 0)
        union all
        -- The query of a view and the statements of a rule, whose tables the owner reads.
        select x.classid, x.objid, x.objsubid, x.commands, x.acting
        from pg_rewrite w
        cross join lateral (
          select 'pg_rewrite'::regclass::oid, w.oid, 0, 0, j.acting where w.ev_type <> '1'
          union all
          select d.refclassid, d.refobjid, part.objsubid, case w.ev_type when '1' then j.commands else 60 end,
            case when d.refclassid = 'pg_class'::regclass
              and not coalesce(
                (select option_value::boolean from pg_options_to_table(c.reloptions) where option_name = 'security_invoker'), false)
              then c.relowner else j.acting end
          from pg_depend d cross join lateral (select d.refobjsubid union select 0) as part (objsubid)
          where d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.deptype = 'n'
        ) as x (classid, objid, objsubid, commands, acting)
        where w.ev_class = c.oid
          and (w.ev_type = '1' or j.commands & case w.ev_type when '2' then 16 when '3' then 4 when '4' then 8 end > 0)
        union all
        -- Foreign keys that act when this changes, with the rights of their table's owner.
        select x.classid, x.objid, 0, x.commands, o.relowner
        from pg_depend d
        join pg_constraint k on k.oid = d.objid and k.confrelid = c.oid and k.contype = 'f'
        join pg_class o on o.oid = k.conrelid
        cross join lateral (
          select
            case when k.confdeltype = 'c' then j.commands & 8 when k.confdeltype in ('n', 'd') and j.commands & 8 > 0 then 16 else 0 end
            | case when k.confupdtype in ('c', 'n', 'd') then j.commands & 16 else 0 end
        ) as action (commands)
        cross join lateral (
          values ('pg_constraint'::regclass::oid, k.oid, 0), ('pg_class'::regclass, o.oid, action.commands)
        ) as x (classid, objid, commands)
        where d.refclassid = 'pg_class'::regclass and d.refobjid = c.oid and d.classid = 'pg_constraint'::regclass and action.commands > 0
          and (j.classid = 'pg_class'::regclass or k.conparentid = 0)
        union all
        -- What defaults and checks call, and the types of the columns that are written, if these have checks or casts.
        select d.refclassid, d.refobjid, 0, 0, j.acting
        from (
          select 'pg_attrdef'::regclass::oid, oid from pg_attrdef where adrelid = c.oid
          union all
          select 'pg_constraint'::regclass, oid from pg_constraint where conrelid = c.oid and contype = 'c'
          union all
          select 'pg_class'::regclass, c.oid
        ) as o (classid, oid)
        join pg_depend d on d.classid = o.classid and d.objid = o.oid and d.deptype = 'n'
        where (j.commands & 20 > 0 or c.relkind = 'c') and (
          d.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass)
          or d.refclassid = 'pg_type'::regclass and (c.relkind = 'c' or exists (
            select from pg_depend part
            where part.refclassid = d.refclassid and part.refobjid = d.refobjid
              and part.classid in ('pg_cast'::regclass, 'pg_constraint'::regclass))))
        union all
        select 'pg_inherits'::regclass, i.inhrelid, 0, j.commands, j.acting from pg_inherits i where i.inhparent = c.oid and j.commands > 0
      ) as x (classid, objid, objsubid, commands, acting)
      where j.classid in ('pg_class'::regclass, 'pg_inherits'::regclass) and j.objsubid = 0 and c.oid = j.objid
      union all
      -- A column that is named has a default and checks.
      select 'pg_attrdef'::regclass, oid, 0, 0, j.acting
      from pg_attrdef where j.classid = 'pg_class'::regclass and adrelid = j.objid and adnum = j.objsubid
      union all
      select 'pg_constraint'::regclass, oid, 0, 0, j.acting
      from pg_constraint where j.classid = 'pg_class'::regclass and conrelid = j.objid and contype = 'c' and j.objsubid = any (conkey)
      union all
      -- A trigger's function names columns of its table.
      select 'pg_class'::regclass, t.tgrelid, a.attnum, 0, j.acting
      from pg_trigger t
      join pg_proc p on p.oid = t.tgfoid
      cross join regexp_split_to_table(lower(p.prosrc collate "C"), '[^a-z0-9_]+') as word
      join pg_attribute a on a.attrelid = t.tgrelid and a.attnum > 0 and not a.attisdropped
        and (lower(a.attname::text collate "C") = word or a.attname !~ '^[A-Za-z0-9_]+$')
      where j.classid = 'pg_trigger'::regclass and t.oid = j.objid
      union all
      -- An operator may be evaluated by its negator or its commutator.
      select 'pg_operator'::regclass, x.oid, 0, 0, j.acting
      from pg_operator o cross join unnest(array[o.oprnegate, o.oprcom]) as x (oid)
      where j.classid = 'pg_operator'::regclass and o.oid = j.objid and x.oid > 0
      union all
      -- A type has casts, operators, what compares it, checks, or columns.
      select x.classid, x.oid, 0, 0, j.acting
      from (
        select d.classid, d.objid
        from pg_depend d
        where d.refclassid = 'pg_type'::regclass and d.refobjid = j.objid
          and d.classid in ('pg_cast'::regclass, 'pg_operator'::regclass, 'pg_constraint'::regclass)
        union all
        select 'pg_proc'::regclass, a.amproc from pg_amproc a where j.objid in (a.amproclefttype, a.amprocrighttype)
        union all
        select 'pg_class'::regclass, c.oid
        from pg_type t join pg_class c on c.oid = t.typrelid and c.relkind = 'c' where t.oid = j.objid
      ) as x (classid, oid)
      where j.classid = 'pg_type'::regclass
    ) as e (classid, objid, objsubid, commands, acting)
  )
  select * from judged
  $$;
comment on function audit.judged(text, text) is 'What an accepted judgement has read, at any depth, and as which roles.';

create function audit.hash_of(object text, who text) returns text
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on set quote_all_identifiers = off
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  set plan_cache_mode = force_generic_plan set jit = off
  as $$
  with judged as materialized (
    select * from audit.judged(object, who)
  ),
  part (text) as (
    select concat_ws(' ', j.classid::regclass, case j.classid
      when 'pg_proc'::regclass then (
        select concat_ws(chr(10),
          p.oid::regprocedure, p.prosrc, pg_get_function_sqlbody(p.oid), p.probin, l.lanname, p.proconfig, p.prosecdef,
          pg_get_userbyid(p.proowner), pg_get_function_arguments(p.oid), p.prorettype::regtype, p.proretset,
          p.provolatile, p.proisstrict, p.proleakproof,
          (select concat_ws(' ', to_jsonb(a) - '{aggfnoid,aggtranstype,aggmtranstype,aggsortop}'::text[], a.aggtranstype::regtype,
             a.aggmtranstype::regtype, a.aggsortop::regoperator)
           from pg_aggregate a where a.aggfnoid = p.oid))
        from pg_proc p join pg_language l on l.oid = p.prolang
        where p.oid = j.objid)
      when 'pg_class'::regclass then (
        select case
          when a.attnum is not null then
            concat_ws(' ', c.oid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation, a.attgenerated,
              a.attnotnull, a.attfdwoptions)
          else concat_ws(' ', c.oid::regclass, c.relkind, pg_get_userbyid(c.relowner), c.relrowsecurity, c.relforcerowsecurity,
            case when c.relkind in ('v', 'm') then concat_ws(' ', c.reloptions, pg_get_viewdef(c.oid)) end,
            (select concat_ws(' ', f.ftoptions, s.srvname, s.srvoptions)
             from pg_foreign_table f join pg_foreign_server s on s.oid = f.ftserver where f.ftrelid = c.oid))
          end
        from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attnum = nullif(j.objsubid, 0)
        where c.oid = j.objid)
      when 'pg_policy'::regclass then (
        select concat_ws(' ',
          p.polrelid::regclass, p.polname, p.polcmd, p.polpermissive,
          pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid))
        from pg_policy p where p.oid = j.objid)
      when 'pg_trigger'::regclass then (
        select concat_ws(' ', t.tgenabled, pg_get_triggerdef(t.oid)) from pg_trigger t where t.oid = j.objid)
      when 'pg_event_trigger'::regclass then (
        select concat_ws(' ', t.evtname, t.evtenabled, t.evtevent, t.evttags) from pg_event_trigger t where t.oid = j.objid)
      when 'pg_rewrite'::regclass then (select concat_ws(' ', w.ev_enabled, pg_get_ruledef(w.oid)) from pg_rewrite w where w.oid = j.objid)
      when 'pg_attrdef'::regclass then (
        select concat_ws(' ', a.attrelid::regclass, a.attname, pg_get_expr(d.adbin, d.adrelid))
        from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum where d.oid = j.objid)
      when 'pg_constraint'::regclass then (
        select concat_ws(' ', nullif(k.conrelid, 0)::regclass, nullif(k.contypid, 0)::regtype, pg_get_constraintdef(k.oid))
        from pg_constraint k where k.oid = j.objid)
      when 'pg_cast'::regclass then (
        select concat_ws(' ', c.castsource::regtype, c.casttarget::regtype, c.castcontext, c.castmethod, c.castfunc::regprocedure)
        from pg_cast c where c.oid = j.objid)
      when 'pg_operator'::regclass then (
        select concat_ws(' ', o.oid::regoperator, o.oprcode, o.oprnegate::regoperator, o.oprcom::regoperator)
        from pg_operator o where o.oid = j.objid)
      when 'pg_collation'::regclass then (
        select concat_ws(' ', c.oid::regcollation, to_jsonb(c) - '{oid,collname,collnamespace,collowner,collversion}'::text[])
        from pg_collation c where c.oid = j.objid)
      when 'pg_ts_config'::regclass then (
        select concat_ws(' ', c.oid::regconfig, c.cfgparser, (
          select string_agg(concat_ws(' ', m.maptokentype, m.mapdict::regdictionary), ', ' order by m.maptokentype, m.mapseqno)
          from pg_ts_config_map m where m.mapcfg = c.oid))
        from pg_ts_config c where c.oid = j.objid)
      when 'pg_ts_dict'::regclass then (
        select concat_ws(' ', d.oid::regdictionary, t.tmplname, d.dictinitoption)
        from pg_ts_dict d join pg_ts_template t on t.oid = d.dicttemplate where d.oid = j.objid)
      when 'pg_type'::regclass then (
        select concat_ws(' ', t.oid::regtype, t.typdefault, t.typnotnull, t.typinput, format_type(t.typbasetype, t.typtypmod),
          (select concat_ws(' ', r.rngsubtype::regtype, r.rngcollation::regcollation) from pg_range r where r.rngtypid = t.oid),
          (select string_agg(quote_literal(e.enumlabel), ' ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid))
        from pg_type t where t.oid = j.objid)
      -- A superuser is a member of each role, also of a new one.
      when 'pg_authid'::regclass then (
        select concat_ws(' ', r.rolname, r.rolsuper, r.rolbypassrls, case when not r.rolsuper then (
          select string_agg(concat(o.rolname, case when o.rolsuper or o.rolbypassrls then ' passes' end), ' ' order by o.rolname)
          from pg_roles o
          where pg_has_role(r.oid, o.oid, 'usage') or (o.rolsuper or o.rolbypassrls) and pg_has_role(r.oid, o.oid, 'member')) end)
        from pg_roles r where r.oid = j.objid)
      end)
    from (
      select classid, objid, objsubid from judged where classid <> 'pg_inherits'::regclass
      union
      select 'pg_authid'::regclass, acting, 0 from judged where acting > 0
      union
      select 'pg_authid'::regclass, p.proowner, 0
      from judged join pg_proc p on p.oid = objid and p.prosecdef where classid = 'pg_proc'::regclass
    ) as j
    union all
    -- A text finds columns by their names, which two columns may swap. A natural join finds those that it does not name.
    select concat_ws(' ', a.attrelid::regclass, a.attname, 'has number', a.attnum)
    from pg_attribute a
    where a.attnum > 0 and not a.attisdropped
      and a.attrelid in (
        select j.objid from judged j where j.classid = 'pg_class'::regclass
        union
        select t.typrelid from judged j join pg_type t on t.oid = j.objid where j.classid = 'pg_type'::regclass)
      and (
        a.attname !~ '^[A-Za-z0-9_]+$'
        or (select relkind = 'c' from pg_class where oid = a.attrelid)
        or array[lower(a.attname::text collate "C"), 'natural'] && (
          select array_agg(distinct word)
          from judged j
          join pg_proc p on p.oid = j.objid
          join pg_language l on l.oid = p.prolang and l.lanname not in ('c', 'internal')
          cross join regexp_split_to_table(lower(concat(p.prosrc, pg_get_function_sqlbody(p.oid)) collate "C"), '[^a-z0-9_]+') as word
          where j.classid = 'pg_proc'::regclass))
    union all
    -- The rights of these roles.
    select distinct concat_ws(' ',
      pg_get_userbyid(j.acting), 'may', command, c.oid::regclass, a.attname, has_schema_privilege(j.acting, c.relnamespace, 'usage'))
    from judged j
    join pg_class c on c.oid = j.objid and c.relkind <> 'c'
    cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as command
    left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and command not in ('delete', 'truncate')
      and not has_table_privilege(j.acting, c.oid, command)
    where j.classid = 'pg_class'::regclass and j.objsubid = 0 and j.acting > 0
      and (command = 'select' or j.commands & case command when 'insert' then 4 when 'delete' then 8 when 'update' then 16 when 'truncate' then 32 end > 0)
      and case when a.attnum is null then has_table_privilege(j.acting, c.oid, command) else has_column_privilege(j.acting, c.oid, a.attnum, command) end
    union all
    select distinct concat_ws(' ', pg_get_userbyid(j.acting), 'may call', j.objid::regprocedure)
    from judged j
    where j.classid = 'pg_proc'::regclass and j.acting > 0 and has_function_privilege(j.acting, j.objid, 'execute')
  )
  select left(encode(sha256(convert_to(string_agg(part.text, chr(10) order by part.text collate "C"), 'UTF8')), 'hex'), 16) from part
  $$;
comment on function audit.hash_of(text, text) is 'A hash of what an accepted judgement has read: that of a function, a trigger, or a goal of a table or view; null of anything else.';

create view audit.rights with (security_invoker = true) as
  select
    o.object, o.part, g.who_id, case g.who_id when 0 then 'public' else coalesce(pg_get_userbyid(g.who_id)::text, '') end as who, g.command
  from (
    select format('%s%I.%I', case c.relkind when 'S' then 'sequence ' end, n.nspname, c.relname), a.attname::text, n.nspname,
      case when a.attname is null then c.relacl else a.attacl end, c.relowner
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select null, null
      union all
      select a.attname, a.attacl from pg_attribute a where c.relkind <> 'S' and a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    ) as a (attname, attacl)
    where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and not c.relispartition
    union all
    select format('schema %I', n.nspname), null, n.nspname, n.nspacl, n.nspowner from pg_namespace n
  ) as o (object, part, schema, acl, owner)
  cross join lateral (
    select null::oid, 'exists'
    union all
    select acl.grantee, lower(acl.privilege_type) || case when acl.is_grantable then ' with grant option' else '' end
    from aclexplode(o.acl) acl
    where acl.grantee <> o.owner
  ) as g (who_id, command)
  where o.schema !~ '^(pg_|information_schema$|graphile_)';
comment on view audit.rights is
  'Every right on a table, view, sequence, schema or column, as it was granted. Each that exists has the right `exists` of no role.';

-- A migration runs at each save of the file, so what is accepted again replaces what was accepted before.
create function audit.note_hash() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  begin
    delete from audit.accepted where (kind, object, who) = (new.kind, new.object, new.who);
    new.hash = coalesce(new.hash, case
      when new.kind in ('definer', 'invariant') then audit.hash_of(new.object, new.who)
      when new.kind = 'right' then
        array(select concat_ws(' ', r.command, r.part) from audit.rights r where r.object = new.object and r.who = new.who order by 1)::text
      when new.kind = 'secret_readable' then array(
        select r.role
        from audit.request_roles r
        join pg_attribute a on format('%s.%s', a.attrelid::regclass, a.attname) = new.object
        where has_column_privilege(r.role_id, a.attrelid, a.attnum, 'select')
        order by 1)::text
    end);
    return new;
  end
  $$;
comment on function audit.note_hash() is 'Replaces a former acceptance, and notes what is accepted, so that what changes later is not.';
create trigger note_hash before insert on audit.accepted for each row execute function audit.note_hash();
grant execute on function audit.judged(text, text), audit.hash_of(text, text), audit.note_hash() to graph_admin;

alter table audit.accepted enable row level security, force row level security;
create policy all_graph_admin on audit.accepted for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on audit.accepted is 'Administration accepts a bypass, and takes that back.';
create policy select_graph_auditor on audit.accepted for select to graph_auditor using (true);
comment on policy select_graph_auditor on audit.accepted is 'An auditor reads what was accepted, and why.';
grant select, insert, update, delete on audit.accepted to graph_admin;
grant select on audit.accepted to graph_auditor;

-- What was granted since the rights on an object were accepted. A column that came later, and an object of your own, is no part of them.
create view audit.unaccepted_rights with (security_invoker = true) as
  with known as materialized (
    select a.object, a.who, a.hash::text[] as rights from audit.accepted a where a.kind = 'right'
  ),
  -- Planned as a few rows, the acceptances would each read all rights.
  granted as materialized (select * from audit.rights)
  select
    r.object, r.who_id, r.who, r.command,
    string_agg(quote_ident(r.part), ', ' order by r.part) as columns,
    -- To take a right to a whole table away takes those to its columns along.
    case when bool_and(r.part is null) then (
      select string_agg(quote_ident(substr(kept, length(r.command) + 2)), ', ')
      from unnest(min(a.rights)) as kept
      where kept ^@ (r.command || ' ') and kept !~ ' with grant option'
    ) end as accepted_columns
  from granted r
  join known k on k.object = r.object and k.who = '' and concat_ws(' ', 'exists', r.part) = any (k.rights)
  left join known a on a.object = r.object and a.who = r.who
  where r.who <> '' and not array[r.command, concat_ws(' ', r.command, r.part)] && coalesce(a.rights, '{}')
  group by r.object, r.who_id, r.who, r.command, (r.part is null);
comment on view audit.unaccepted_rights is
  'Rights on objects of this version, by role, that it does not grant and that were not accepted since; empty when all is well.';

create view audit.matrix with (security_invoker = true) as
  with beyond as materialized (
    select * from audit.unaccepted_rights
  ),
  effective as (
    select
      r.relation, r.name, r.kind, r.row_security, roles.role_id, roles.role, command,
      has_table_privilege(roles.role, r.relation, command) as whole,
      array(
        select a.attname::text
        from pg_attribute a
        where a.attrelid = r.relation and a.attnum > 0 and not a.attisdropped
          -- Rows are deleted whole: there is no such privilege of a column.
          and has_column_privilege(roles.role, r.relation, a.attnum, nullif(command, 'delete'))
        order by a.attnum
      ) as columns
    from audit.relations r
    cross join audit.roles roles
    cross join unnest(array['select', 'insert', 'update', 'delete']) as command
  )
  select
    e.relation,
    e.kind,
    e.command,
    e.role,
    e.whole or e.columns <> '{}' as granted,
    case when e.whole then '{}' else e.columns end as columns,
    e.row_security,
    p.policies,
    case when b.rights is null then p.rules
      else array(select concat(rule, ' It was written without this right: ', b.rights, '.') from unnest(p.rules) as rule) end as rules,
    array(
      select a.attname::text
      from pg_attribute a
      where a.attrelid = e.relation and a.attnum > 0 and not a.attisdropped
        and col_description(a.attrelid, a.attnum) ~ '(^|\n)[ \t]*@personalData(\s|$)'
        and (e.whole or a.attname = any (e.columns))
      order by a.attnum
    ) as personal
  from effective e
  cross join lateral (
    select
      string_agg(concat(u.command, ' (' || u.columns || ')', ' to ' || nullif(u.who, e.role)), ', ' order by u.command, u.who) as rights
    from beyond u
    where u.object = e.name and u.command ^@ e.command
      and (u.who_id in (0, e.role_id) or e.role_id <> 0 and pg_has_role(e.role_id, u.who_id, 'usage'))
  ) as b
  cross join lateral (
    select
      coalesce(array_agg(p.policy::text order by p.policy), '{}') as policies,
      coalesce(array_agg(p.rule order by p.policy), '{}') as rules
    from audit.policies p
    where p.relation = e.relation and p.command in (e.command, 'all')
      and exists (
        select from unnest(p.role_ids) as named
        where named in (0, e.role_id) or e.role_id <> 0 and pg_has_role(e.role_id, named, 'usage'))
  ) as p;
comment on view audit.matrix is 'Every table and view, command and role: what is granted, and the policies that decide about rows.';
comment on column audit.matrix.granted is 'Whether the role may give the command at all; the policies then say for which rows.';
comment on column audit.matrix.columns is 'The columns that are granted; empty when all are, or none.';
comment on column audit.matrix.row_security is
  '`forced` on the owner, too; `off` means that policies decide nothing. Null for views, which ask the policies of their tables.';
comment on column audit.matrix.rules is
  'The policies in plain English, by their names, with rights that they did not count with. Without one the command finds no row.';
comment on column audit.matrix.personal is
  'The columns with personal data, by the tag @personalData, that the role may give the command for; of a delete those of the row.';

-- A role of requests that may become another of this service or of PostgreSQL is a finding, and what it could do as that one follows from
-- it. Until it is accepted, no finding counts the rights and policies of the other role as its own: there is one cause, and one remedy.
create view audit.lent_roles with (security_invoker = true) as
  select q.role_id as borrower_id, lender.oid as lender_id
  from audit.request_roles q
  join pg_roles lender on lender.oid <> q.role_id and pg_has_role(q.role_id, lender.oid, 'member')
    and (lender.rolname ~ '^(graph|pg)_' or lender.oid in (select role_id from audit.request_roles))
  where not exists (select from audit.accepted a where a.kind = 'set role' and a.object = lender.rolname and a.who = q.role);
comment on view audit.lent_roles is 'Which role a role of requests may become, without having been accepted; empty when all is well.';

create view audit.bypasses with (security_invoker = true) as
  with main_owner as (
    select nspowner as oid from pg_namespace where nspname = 'app_public'
  ),
  request_roles as (
    select role_id as oid from audit.request_roles
  ),
  -- Every role but superusers that may become one of ours, at once or by granting it to itself.
  memberships as (
    select member.oid as member_id, member.rolname as member, ours.oid, ours.rolname, member.rolcanlogin
    from pg_roles member
    join pg_roles ours on ours.oid <> member.oid and (
      (ours.rolname like 'graph\_%' or ours.oid in (select oid from request_roles)) and not ours.rolcanlogin
      or ours.rolname like 'pg\_%' and member.oid in (select oid from request_roles))
    where not member.rolsuper and pg_has_role(member.oid, ours.oid, 'member')
      -- As a role of requests, which is another row.
      and not exists (
        select from audit.lent_roles l
        where l.lender_id = ours.oid and l.borrower_id <> member.oid and pg_has_role(member.oid, l.borrower_id, 'member'))
  ),
  -- Login roles of the server: they may become what a request may be, nothing else, and own nothing.
  authenticators as (
    select m.member_id as oid
    from memberships m
    where m.rolcanlogin
      and not exists (select from pg_shdepend d where d.refclassid = 'pg_authid'::regclass and d.refobjid = m.member_id and d.deptype = 'o')
    group by m.member_id
    having bool_and(m.oid in (select oid from request_roles)) and bool_and(not pg_has_role(m.member_id, m.oid, 'usage'))
  ),
  found as (
    select
      r.kind, r.name as object, r.owner::text as who,
      case r.row_security
        when 'off' then 'row-level security is off'
        when 'on, not forced' then 'row-level security is not forced on the owner'
        else 'has no row-level security of its own'
      end as how,
      null as expected
    from audit.relations r
    where r.row_security <> 'forced' or r.kind in ('materialized view', 'foreign table')
    union all
    select 'owner',
      case r.owner when (select oid from main_owner) then 'tables' else string_agg(r.name, ', ' order by r.name) end, r.owner::text, 'may switch row-level security off and change policies',
      case when r.owner = (select oid from main_owner) and r.owner not in (select oid from request_roles union all select oid from authenticators)
        then 'Somebody has to own the tables; no request comes as the owner.' end
    from audit.relations r
    where r.kind <> 'view'
    group by r.owner
    union all
    select 'power', coalesce(powers, ''), rolname, 'passes by row-level security, or reads the files below it',
      case when rolsuper and not exists (
          select from request_roles q where pg_has_role(q.oid, roles.oid, 'member')
          union all select from authenticators a where pg_has_role(a.oid, roles.oid, 'member'))
        then 'A cluster has a superuser; no request can become it.' end
    from (
      select oid, rolname, rolsuper, concat_ws(', ',
        case when rolsuper then 'superuser' end,
        case when rolbypassrls and not rolsuper then 'bypassrls' end,
        case when rolreplication and not rolsuper then 'replication' end,
        (select string_agg(p.rolname, ', ' order by p.rolname) from pg_roles p
         where p.rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
           and p.oid <> r.oid and not r.rolsuper and pg_has_role(r.oid, p.oid, 'member'))) as powers
      from pg_roles r
      where r.rolname !~ '^pg_'
    ) as roles
    where powers <> ''
    union all
    select 'set role', rolname, member,
      case when rolcanlogin then 'logs in and may become it' else 'may become it' end,
      case
        when member_id = (select oid from main_owner) then 'The owner works as graph_admin, and becomes a caller to see what that one sees.'
        when rolname = 'graph_auditor' then 'An auditor.'
        when member_id in (select oid from authenticators) then 'The server''s login role becomes what a token says, and is nothing by itself.'
      end
    from memberships
    union all
    select 'definer', f.name, coalesce(nullif(array_to_string(f.callers, ', '), ''), 'nobody'),
      format('runs with the rights of %s', f.owner), null
    from audit.functions f
    where f.definer
    union all
    select 'view', r.name,
      coalesce((select string_agg(m.role, ', ' order by m.role) from audit.roles m where has_any_column_privilege(m.role, r.relation, 'select')), 'nobody'),
      format('reads with the rights of %s', r.owner), null
    from audit.relations r
    join pg_class c on c.oid = r.relation
    where r.kind = 'view'
      and not coalesce((select option_value::boolean from pg_options_to_table(c.reloptions) where option_name = 'security_invoker'), false)
    union all
    select 'rule', format('%I on %s', w.rulename, r.name), r.owner::text, 'works with the rights of its table''s owner', null
    from pg_rewrite w
    join audit.relations r on r.relation = w.ev_class
    where w.ev_type <> '1'
    union all
    select 'privilege', r.name, case acl.grantee when 0 then 'public' else pg_get_userbyid(acl.grantee)::text end,
      format('may %s, which asks no policy', lower(acl.privilege_type)), null
    from audit.relations r
    join pg_class c on c.oid = r.relation,
    aclexplode(c.relacl) acl
    where acl.grantee <> c.relowner
      and acl.privilege_type not in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
    union all
    select 'publication', r.name, p.pubname, 'sends every row to its subscribers', null
    from pg_publication_tables p
    join audit.relations r on r.name = format('%I.%I', p.schemaname, p.tablename)
    union all
    select 'leakproof', f.name, f.owner::text, 'may be asked about rows before their policies are', null
    from audit.functions f
    join pg_proc p on p.oid = f.function
    where p.proleakproof
    union all
    select 'parameter', parname, pg_get_userbyid(acl.grantee)::text, 'may switch triggers off for a session, and the history with them', null
    from pg_parameter_acl, aclexplode(paracl) acl
    where parname = 'session_replication_role' and acl.grantee <> 10
    union all
    select 'history', r.name, 'everybody', 'changes it without a trace', null
    from audit.relations r
    join pg_class c on c.oid = r.relation
    -- The history and the feed are records themselves.
    where r.kind in ('table', 'partition') and c.relnamespace <> 'audit'::regnamespace
      and coalesce(pg_partition_root(c.oid), c.oid) <> 'feed.changes'::regclass
      and exists (select from pg_attribute a where a.attrelid = r.relation and a.attname = 'organization_id' and not a.attisdropped)
      and (
        -- Inserts, deletes and updates. A partition has one trigger for all of them, which it loses when it is detached.
        select coalesce(bit_or(t.tgtype & 28), 0)
        from pg_trigger t join pg_proc p on p.oid = t.tgfoid
        where t.tgrelid = r.relation and t.tgenabled in ('O', 'A') and p.pronamespace = 'audit'::regnamespace
          and p.proname in ('record_rows', 'record_updates', 'record_row') and (c.relkind <> 'p' or t.tgtype & 1 = 1)
      ) < 28
    union all
    -- A column that came after its table began to be recorded.
    select distinct 'secret', format('%s.%I', r.name, a.attname), 'graph_auditor', 'reads its values in the history', null
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
    join audit.relations r on r.relation = t.tgrelid
    join pg_attribute a on a.attrelid = t.tgrelid and a.attnum > 0 and not a.attisdropped
    left join pg_trigger named on named.tgrelid = t.tgrelid and named.tgname = 'audit_columns'
    where p.pronamespace = 'audit'::regnamespace and p.proname in ('record_rows', 'record_updates', 'record_row') and r.kind <> 'partition'
      and a.attname ~ '(secret|password|passphrase|token|hash|cipher)'
      -- As audit.columns_of knows secrets.
      and substr(encode(t.tgargs, 'escape'), 1 + array_position(named.tgattr::int2[], a.attnum), 1) is distinct from 's'
  )
  select
    f.kind, f.object, f.who, f.how,
    coalesce(f.expected, a.reason) is not null as known,
    coalesce(f.expected, a.reason) as reason
  from found f
  -- What is accepted of one owner is accepted of each: the owner has another name in production than in development.
  left join lateral (
    select accepted.reason
    from audit.accepted
    where (accepted.kind, accepted.object) = (f.kind, f.object)
      and (accepted.who = f.who or f.kind in ('table', 'partition', 'materialized view', 'foreign table', 'rule', 'leakproof'))
    order by accepted.who <> f.who
    limit 1
  ) a on true;
comment on view audit.bypasses is 'Everything that escapes row-level security or the history, and why it may.';
comment on column audit.bypasses.known is 'Whether it is as this service needs it, or somebody has accepted it; everything else is a finding.';

grant select on audit.rights, audit.unaccepted_rights, audit.lent_roles, audit.matrix, audit.bypasses to graph_auditor, graph_admin;
