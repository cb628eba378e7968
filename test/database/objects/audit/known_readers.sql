CREATE OR REPLACE FUNCTION audit.known_readers(relation regclass, value jsonb, role text)
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET standard_conforming_strings TO 'on'
AS $function$
  declare
    some_id uuid = gen_random_uuid();
    readers uuid[] = '{}';
    found uuid[];
    policy audit.policies;
    part text;
    own text;
  begin
    if not audit.is_as_shipped('current_user_id', ' begin return nullif(current_setting(''graph.user_id'', true), ''''); end ') then
      return null;
    end if;
    for policy in
      select p.*
      from audit.policies p
      join pg_roles r on r.rolname = known_readers.role
      where p.relation = known_readers.relation and p.permissive and p.command in ('select', 'all')
        and exists (select from unnest(p.role_ids) as named where named = 0 or pg_has_role(r.oid, nullif(named, 0), 'usage'))
    loop
      found = null;
      for part in select audit.conjuncts(policy.using_expression) loop
        own = substring(part from '^\((\w+) = \( SELECT app_hidden\.current_user_id\(\) AS current_user_id\)\)$');
        if own is not null then
          found = array[(value ->> own)::uuid];
        elsif part = '(ancestor_ids && ( SELECT app_hidden.granted_unit_ids() AS granted_unit_ids))'
          and audit.is_as_shipped('granted_unit_ids', ' begin return array(select unit_id from app_hidden.unit_access); end ')
          -- Its policy finds the own grants alone.
          and audit.asks_organization('app_hidden.unit_access', role)
          and audit.known_readers('app_hidden.unit_access', jsonb_build_object('user_id', some_id), role) = array[some_id]
        then
          found = array(
            select a.user_id from app_hidden.unit_access a
            where a.unit_id = any (array(select jsonb_array_elements_text(value -> 'ancestor_ids')::uuid)));
        end if;
        exit when found is not null;
      end loop;
      if found is null then
        return null;
      end if;
      readers = readers || found;
    end loop;
    return readers;
  end
  $function$;
comment on function audit.known_readers(regclass,jsonb,text) is 'The people of a role who may see a row by the policies: their own row, or by a grant; no other person can. Null if a policy is not surely understood.';
grant execute on function audit.known_readers(regclass,jsonb,text) to graph_admin;
