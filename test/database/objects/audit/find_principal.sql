CREATE OR REPLACE FUNCTION audit.find_principal(principal text)
 RETURNS audit.principals
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    found audit.principals[];
  begin
    found = array(select p from audit.principals p where p.principal = find_principal.principal);
    if found = '{}' then
      -- As people know them.
      found = array(
        select p
        from audit.principals p
        where find_principal.principal = 'oauth:' || p.name and p.role = 'graph_oauth'
          or find_principal.principal ^@ 'me:' and (p.organization_id, p.user_id) in (
            select u.organization_id, u.id
            from app_public.users u
            where u.external_identifier = substr(find_principal.principal, 4)
              or u.email_lowercase = app_hidden.lowercase(substr(find_principal.principal, 4))));
    end if;
    if cardinality(found) <> 1 then
      raise exception using
        errcode = case when found = '{}' then 'no_data_found' else 'too_many_rows' end,
        message = format(case when found = '{}' then 'There is no principal %s' else '%s is more than one principal' end, principal),
        hint = coalesce('One of: ' || (select string_agg(p.principal, ', ') from unnest(found) as p),
          'app:<client id>, basic:<client id>, me:<user id, e-mail or external identifier> or oauth:<organization id or name>; see audit.principals');
    end if;
    return found[1];
  end
  $function$;
comment on function audit.find_principal(text) is 'The principal of this name; a person also by e-mail address or external identifier, an organization by its name.';
grant execute on function audit.find_principal(text) to graph_admin;
