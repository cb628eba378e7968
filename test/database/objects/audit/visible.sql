CREATE OR REPLACE FUNCTION audit.visible(principal text)
 RETURNS TABLE(relation regclass, rows bigint, of bigint)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
  declare
    candidate audit.principals = audit.find_principal(principal);
  begin
    for relation in
      select m.relation from audit.matrix m where m.role = candidate.role and m.command = 'select' and m.granted order by m.relation::text
    loop
      "of" = null;
      if (select r.kind from audit.relations r where r.relation = visible.relation) <> 'view' then
        execute format('select count(*) from %s', relation) into "of";
      end if;
      begin
        perform audit.become(candidate);
        execute format('select count(*) from %s', relation) into rows;
        raise exception using errcode = 'AUDIT';
      exception
        when sqlstate 'AUDIT' then null;
      end;
      return next;
    end loop;
  end
  $function$;
comment on function audit.visible(text) is 'How many rows of each table and view the principal sees, of how many in the table. A relation that is missing is not granted.';
grant execute on function audit.visible(text) to graph_admin;
