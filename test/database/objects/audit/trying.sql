CREATE OR REPLACE FUNCTION audit.trying(asked text, relation regclass, value jsonb)
 RETURNS SETOF audit.principals
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET jit TO 'off'
AS $function$
  declare
    found text[];
  begin
    -- Prepared once and run under the claims of each, without a subtransaction for each.
    begin
      execute format('do %L', format($do$
        declare
          next audit.principals;
          found text[] = '{}';
          asked audit.principals[] = array(select p from (%s) as p);
        begin
          if asked <> '{}' then
            perform audit.become(asked[1]);
          end if;
          foreach next in array asked loop
            perform set_config('graph.organization_id', next.organization_id::text, true);
            perform set_config('graph.application_id', coalesce(next.application_id::text, ''), true);
            perform set_config('graph.user_id', coalesce(next.user_id::text, ''), true);
            if exists (select from %s where %s) then
              found = found || next.principal;
            end if;
          end loop;
          perform set_config('audit.found', found::text, true);
        end
      $do$, asked, relation, audit.condition_of(relation, value)));
      found = current_setting('audit.found', true);
      raise exception using errcode = 'AUDIT';
    exception
      when sqlstate 'AUDIT' then
        return query execute format('select p.* from (%s) as p where p.principal = any ($1)', asked) using found;
      when insufficient_privilege then
        -- A policy may refuse some by an error, which ends the statement for all of them: each by itself.
        return query execute format('select p.* from (%s) as p where audit.attempt(p::audit.principals, $1, $2, %L) = %L', asked, 'select', 'allowed')
          using relation, value;
    end;
  end
  $function$;
comment on function audit.trying(text,regclass,jsonb) is 'Which principals of a query, all of one role, see a row, each tried.';
grant execute on function audit.trying(text,regclass,jsonb) to graph_admin;
