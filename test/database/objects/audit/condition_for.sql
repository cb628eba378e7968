CREATE OR REPLACE FUNCTION audit.condition_for(relation regclass, role text, depth integer DEFAULT 0)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET standard_conforming_strings TO 'on'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    condition text = (
      select string_agg(format('(%s)', p.using_expression), ' or ')
      from audit.matrix m
      join audit.policies p on p.relation = m.relation and p.policy = any (m.policies)
      where m.relation = condition_for.relation and m.role = condition_for.role and m.command = 'select' and m.granted and p.permissive
        and m.row_security <> 'off'
        -- What is narrower than this may be asked for by `not exists`; the row itself is tried anyway.
        and (depth = 0 or not exists (select from audit.policies narrower where narrower.relation = m.relation and not narrower.permissive)));
    called text[];
    body text;
    source record;
    inner_condition text;
  begin
    -- A claim is a function of a setting, and what was granted to a person is a function of claims: both give way to what they return.
    condition = regexp_replace(condition, '\( SELECT (\w+\.\w+\(\)) AS \w+\)', '\1', 'g');
    for depth_of_calls in 1 .. 20 loop
      called = regexp_match(condition, '\m(\w+)\.(\w+)\(\)');
      exit when called is null;
      select '(' || substring(p.prosrc from '(?i)^\s*begin\s+return\s+([^;]*);\s*end;?\s*$') || ')::' || format_type(p.prorettype, null) into body
      from pg_proc p
      where p.pronamespace = to_regnamespace(called[1]) and p.proname = called[2] and p.pronargs = 0 and not p.prosecdef;
      condition = replace(condition, format('%s.%s()', called[1], called[2]), body);
    end loop;
    condition = regexp_replace(condition, 'current_setting\(''graph\.(organization_id|application_id|user_id)'', true\)', 'coalesce(asked.\1::text, '''')', 'g');

    -- Another table shows what its own policies let through.
    for source in
      select distinct named[1] as name, split_part(named[1], '.', 2) as alias
      from regexp_matches(condition, '\m(?:from|join)\s+(\w+\.\w+)', 'gi') as named
    loop
      inner_condition = case when depth < 3 then audit.condition_for(source.name::regclass, role, depth + 1) end;
      condition = regexp_replace(
        condition, format('\m(from|join)\s+%s(?=\s*(?:\)|$|where\M|join\M|left\M|on\M))', source.name), format('\1 %s %s', source.name, source.alias), 'gi');
      condition = regexp_replace(
        condition, format('\m(from|join)\s+%s\M', source.name), format('\1 (select * from %s where ', source.name) || replace(inner_condition, chr(92), repeat(chr(92), 2)) || ')', 'gi');
    end loop;
    -- What is left may depend on the row and on who is asked, and on nothing else.
    return case when condition !~ '\m\w+\.\w+\(|current_setting|current_user|session_user' then condition end;
  end
  $function$;
comment on function audit.condition_for(regclass,text,integer) is 'The select policies of a role as one condition on a row and on `asked`, a row of audit.principals, instead of claims; null when they call what is not understood.';
grant execute on function audit.condition_for(regclass,text,integer) to graph_admin;
