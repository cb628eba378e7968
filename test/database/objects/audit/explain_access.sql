CREATE OR REPLACE FUNCTION audit.explain_access(principal text, relation regclass, key text)
 RETURNS TABLE(command text, allowed boolean, outcome text, policy text, rule text, part text, holds boolean)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET quote_all_identifiers TO 'off'
 SET jit TO 'off'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    value jsonb = audit.find_row(relation, key);
    candidate audit.principals = audit.find_principal(principal);
    granted audit.matrix;
    named audit.policies;
  begin
    for granted in
      select m.* from audit.matrix m
      where m.relation = explain_access.relation and m.role = candidate.role
      order by array_position(array['select', 'insert', 'update', 'delete'], m.command)
    loop
      command = granted.command;
      outcome = case when granted.granted then audit.attempt(candidate, relation, value, command) else 'not granted' end;
      allowed = outcome = 'allowed';
      policy = null;
      rule = 'The grant.';
      part = case when granted.columns = '{}' then command else format('%s (%s)', command, array_to_string(granted.columns, ', ')) end;
      holds = granted.granted;
      return next;
      continue when not granted.granted;

      for named in
        select p.* from audit.policies p
        where p.relation = explain_access.relation
          and (p.policy = any (granted.policies)
            -- A caller who changes a row has to see it, too.
            or granted.command in ('update', 'delete') and p.command = 'select' and p.role_ids && array(select role_id from audit.roles r where r.role in (granted.role, 'public')))
        order by p.command <> granted.command, p.policy
      loop
        policy = named.policy;
        rule = named.rule;
        for part in
          select parts.part from (
            select 'using ' || c as part, c from audit.conjuncts(named.using_expression) as c where granted.command <> 'insert'
            union all
            select 'check ' || c, c from audit.conjuncts(coalesce(named.check_expression, named.using_expression)) as c
            where granted.command in ('insert', 'update') and named.command <> 'select'
          ) as parts
        loop
          holds = audit.holds(candidate, relation, value, substr(part, 7));
          return next;
        end loop;
      end loop;
    end loop;
  end
  $function$;
comment on function audit.explain_access(text,regclass,text) is 'For each command on a row: what becomes of it when the principal tries, and what decided: the grant, and of each policy every part of its expression, asked as the principal.';
grant execute on function audit.explain_access(text,regclass,text) to graph_admin;
