CREATE OR REPLACE FUNCTION audit.holds(principal audit.principals, relation regclass, value jsonb, expression text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
AS $function$
  declare
    holds boolean;
    name text = (select relname from pg_class where oid = relation);
  begin
    begin
      perform audit.become(principal);
      execute format('select %s from jsonb_populate_record(null::%s, $1) as %I', expression, relation, name) into holds using value;
      raise exception using errcode = 'AUDIT';
    exception
      when sqlstate 'AUDIT' then null;
      when insufficient_privilege then holds = false;
    end;
    return coalesce(holds, false);
  end
  $function$;
comment on function audit.holds(audit.principals,regclass,jsonb,text) is 'Whether an expression of a policy holds for a row when the principal asks.';
grant execute on function audit.holds(audit.principals,regclass,jsonb,text) to graph_admin;
