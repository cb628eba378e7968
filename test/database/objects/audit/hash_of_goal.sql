CREATE OR REPLACE FUNCTION audit.hash_of_goal(relation regclass, command text, who regrole)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET quote_all_identifiers TO 'off'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  with recursive read (oid, command) as (
    select relation::oid, hash_of_goal.command
    union
    -- What a view reads.
    select d.refobjid, 'select'
    from read
    join pg_rewrite r on r.ev_class = read.oid
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
  ),
  part (text) as (
    select concat_ws(' ', 'table', c.oid::regclass, c.relrowsecurity, c.relforcerowsecurity, c.reloptions,
      case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end)
    from read join pg_class c using (oid)
    union all
    select concat_ws(' ', 'policy', c.polrelid::regclass, c.polname, c.polcmd, c.polpermissive,
      pg_get_expr(c.polqual, c.polrelid), 'check', pg_get_expr(c.polwithcheck, c.polrelid))
    from read
    join pg_policy c on c.polrelid = read.oid
    where c.polcmd in ('*', case read.command when 'select' then 'r' when 'insert' then 'a' when 'update' then 'w' when 'delete' then 'd' end::"char")
      and exists (select from unnest(c.polroles) as role where role = 0 or pg_has_role(who, role, 'member'))
    union all
    select concat_ws(' ', 'right', read.command, read.oid::regclass, a.attname)
    from read
    join pg_attribute a on a.attrelid = read.oid and a.attnum > 0 and not a.attisdropped
    where read.command in ('select', 'insert', 'update') and not has_table_privilege(who, read.oid, read.command)
      and has_column_privilege(who, read.oid, a.attnum, read.command)
    union all
    select concat_ws(' ', 'right', read.command, read.oid::regclass) from read where has_table_privilege(who, read.oid, read.command)
    union all
    select pg_get_triggerdef(t.oid)
    from read
    join pg_trigger t on t.tgrelid = read.oid and not t.tgisinternal
    where t.tgtype & case read.command when 'insert' then 4 when 'delete' then 8 when 'update' then 16 when 'truncate' then 32 else 0 end > 0
  ),
  whole (text) as (select string_agg(part.text, chr(10) order by part.text collate "C") from part)
  select left(encode(sha256(convert_to(concat_ws(chr(10), whole.text, audit.hash_of_functions(array(select audit.called_in(whole.text, true)))), 'UTF8')), 'hex'), 16)
  from whole
  $function$;
comment on function audit.hash_of_goal(regclass,text,regrole) is 'A hash of what decides whether a role may give a command: the policies and rights for it, the triggers that it fires, what a view reads, and the functions that these call.';
grant execute on function audit.hash_of_goal(regclass,text,regrole) to graph_admin;
