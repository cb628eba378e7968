CREATE OR REPLACE FUNCTION audit.let_find(relation regclass, role text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    hidden text = (
      select string_agg(quote_ident(a.attname), ', ')
      from pg_index i
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
      where i.indrelid = relation and i.indisprimary and not has_column_privilege(role, relation, a.attnum, 'select'));
  begin
    if hidden is not null then
      execute format('grant select (%s) on %s to %I', hidden, relation, role);
    end if;
  end
  $function$;
comment on function audit.let_find(regclass,text) is 'Lets a role find a row by its key, until the subtransaction ends: who may read other columns sees the row without the key.';
grant execute on function audit.let_find(regclass,text) to graph_admin;
