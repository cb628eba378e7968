CREATE OR REPLACE FUNCTION audit.who_can(relation regclass, key text)
 RETURNS TABLE(command text, principal text, name text, columns text[], policies text[], rules text[], through text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET jit TO 'off'
AS $function$
  declare
    value jsonb = audit.find_row(relation, key);
    granted audit.matrix;
    candidate audit.principals;
    candidates audit.principals[] = '{}';
    passed audit.policies[];
  begin
    for granted in
      select m.* from audit.matrix m
      where m.relation = who_can.relation and m.granted and m.command <> 'insert'
      order by array_position(array['select', 'update', 'delete'], m.command), m.role
    loop
      if granted.command = 'select' then
        candidates = candidates || array(select p from audit.seeing(relation, value, granted.role) as p);
      end if;
      for candidate in
        select p.* from unnest(candidates) as p where p.role = granted.role order by p.name, p.principal
      loop
        continue when granted.command <> 'select' and audit.attempt(candidate, relation, value, granted.command) <> 'allowed';
        passed = array(
          select p from audit.policies p
          where p.relation = who_can.relation and p.policy = any (granted.policies)
            and audit.holds(candidate, p.relation, value, p.using_expression)
          order by p.policy);
        command = granted.command;
        principal = candidate.principal;
        name = candidate.name;
        columns = granted.columns;
        policies = array(select p.policy::text from unnest(passed) as p);
        rules = array(select p.rule from unnest(passed) as p);
        through = audit.reason_of(candidate, relation, value);
        return next;
      end loop;
    end loop;
  end
  $function$;
comment on function audit.who_can(regclass,text) is 'Every principal that can select, update or delete a row, each tried: by which grant (columns; {} is all), which policies, and through which access.';
grant execute on function audit.who_can(regclass,text) to graph_admin;
