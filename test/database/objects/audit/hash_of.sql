CREATE OR REPLACE FUNCTION audit.hash_of(object text, who text)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
AS $function$
  select case
    when goal is null or goal[1] in ('call', 'trigger') then audit.hash_of_functions(array(
      select p.oid
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname not in ('pg_catalog', 'information_schema')
        and format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) = coalesce(goal[2], object)
      union
      select t.tgfoid
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
      where goal[1] = 'trigger' and goal[2] = format('%s on %I.%I', t.tgname, n.nspname, c.relname)))
    when to_regclass(goal[2]) is not null and to_regrole(who) is not null then audit.hash_of_goal(goal[2]::regclass, goal[1], who::regrole)
  end
  from (select regexp_match(object, '^.*?: (call|trigger|select|insert|update|delete|truncate) on (.*)$') as goal) as asked
  $function$;
comment on function audit.hash_of(text,text) is 'A hash of what an acceptance is about: a function, or a goal of a table or view; null of anything else.';
grant execute on function audit.hash_of(text,text) to graph_admin;
