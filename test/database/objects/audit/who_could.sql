CREATE OR REPLACE FUNCTION audit.who_could(relation regclass, key text, at timestamp with time zone)
 RETURNS TABLE(command text, principal text, name text, columns text[], policies text[], rules text[], through text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET jit TO 'off'
AS $function$
  declare
    asked text = (select r.name from audit.recorded r where r.relation = who_could.relation and r.rebuildable);
    organization_id uuid;
  begin
    if asked is null then
      raise exception using
        errcode = 'invalid_parameter_value', message = format('No history says which rows %s had', relation), hint = 'audit.recorded lists the tables that have one.';
    end if;
    begin
      organization_id = audit.find_row(relation, key) ->> 'organization_id';
    exception
      -- Deleted since, it may have been of any.
      when no_data_found then null;
    end;
    begin
      perform audit.rebuild(at, organization_id);
      return query select w.* from audit.who_can(asked::regclass, key) w;
      raise exception using errcode = 'AUDIT';
    exception
      when sqlstate 'AUDIT' then null;
    end;
  end
  $function$;
comment on function audit.who_could(regclass,text,timestamp with time zone) is 'As audit.who_can, of the row as it was at a time and of the principals of that time, by the present policies. For the owner.';
grant execute on function audit.who_could(regclass,text,timestamp with time zone) to graph_admin;
