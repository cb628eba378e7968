CREATE OR REPLACE FUNCTION audit.seeing(relation regclass, value jsonb, role text)
 RETURNS SETOF audit.principals
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET jit TO 'off'
AS $function$
  declare
    organization text = value ->> case relation when 'app_hidden.organizations'::regclass then 'id' else 'organization_id' end;
    asked text = format('select p from audit.principals p where p.role = %L and not p.disabled', role);
    known uuid[];
    found text[];
  begin
    if audit.asks_organization(relation, role) then
      known = audit.known_readers(relation, value, role);
      asked = concat(asked, format(' and p.organization_id = %L', organization), ' and p.user_id = any (' || quote_literal(known) || ')');
    end if;
    begin
      perform audit.let_find(relation, role);
      execute format('do %L', format($do$
        declare
          asked audit.principals[] = array(%s);
          next audit.principals;
          found text[] = '{}';
          claim text;
        begin
          if asked <> '{}' then
            perform audit.become(asked[1]);
          end if;
          foreach next in array asked loop
            claim = set_config('graph.organization_id', next.organization_id::text, true);
            claim = set_config('graph.application_id', coalesce(next.application_id::text, ''), true);
            claim = set_config('graph.user_id', coalesce(next.user_id::text, ''), true);
            begin
              if exists (select from %s where %s) then
                found = found || next.principal;
              end if;
            exception
              -- A policy may refuse by an error.
              when insufficient_privilege then null;
            end;
          end loop;
          perform set_config('audit.found', found::text, true);
        end
      $do$, asked, relation, audit.condition_of(relation, value)));
      found = current_setting('audit.found', true);
      raise exception using errcode = 'AUDIT';
    exception
      when sqlstate 'AUDIT' then null;
    end;
    return query execute format('select (p).* from (%s) as p (p) where (p).principal = any ($1)', asked) using found;
  end
  $function$;
comment on function audit.seeing(regclass,jsonb,text) is 'The principals of a role that see a row, each tried: all whom the policies do not surely leave out by their organization or person.';
grant execute on function audit.seeing(regclass,jsonb,text) to graph_admin;
