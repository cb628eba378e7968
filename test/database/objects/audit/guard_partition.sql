CREATE OR REPLACE FUNCTION audit.guard_partition(partition regclass)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    execute format('alter table %s enable row level security, force row level security', partition);
    execute format('drop policy if exists select_graph_admin on %s', partition);
    execute format('create policy select_graph_admin on %s for select to graph_admin using (true)', partition);
    execute format('comment on policy select_graph_admin on %s is %L', partition, 'A backup by the owner reads each partition; all others read the whole table.');
  end
  $function$;
comment on function audit.guard_partition(regclass) is 'Lets the owner read a partition of the history by its name, and no other role.';
