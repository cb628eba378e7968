CREATE OR REPLACE FUNCTION audit.seeing(relation regclass, value jsonb, role text)
 RETURNS SETOF audit.principals
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET jit TO 'off'
AS $function$
  declare
    -- For a row of no organization all principals are tried.
    organization_id text = coalesce(value ->> 'organization_id', case relation when 'app_hidden.organizations'::regclass then value ->> 'id' end);
    asked text = format('select * from audit.principals where role = %L and not disabled', role);
    stranger audit.principals;
    candidates text[];
  begin
    select null, null, p.role, p.scope, gen_random_uuid(), gen_random_uuid(), case when p.user_id is not null then gen_random_uuid() end, false
      into stranger
      from audit.principals p where p.role = seeing.role limit 1;
    if stranger.role is null then
      return;
    end if;
    -- A stranger sees a row only by a policy that does not ask for the organization: then the principals of all are tried.
    if organization_id is null or audit.attempt(stranger, relation, value, 'select') = 'allowed' then
      return query select * from audit.trying(asked, relation, value);
      return;
    end if;
    asked = format('%s and organization_id = %L', asked, organization_id);

    begin
      execute format('select array(select principal from (%s) as asked where exists (select from jsonb_populate_record(null::%s, $1) as %I where %s))',
          asked, relation, (select relname from pg_class where oid = relation), audit.condition_for(relation, role))
        into candidates using value;
    exception
      -- What was made of the policies is no statement: all of the organization are tried.
      when others then candidates = null;
    end;
    -- A hundred others are tried, too, since the candidates are only as right as what was made of the policies.
    if candidates is null
      or exists (select from audit.trying(format('%s and principal <> all (%L) limit 100', asked, candidates), relation, value))
    then
      return query select * from audit.trying(asked, relation, value);
    else
      return query select * from audit.trying(format('%s and principal = any (%L)', asked, candidates), relation, value);
    end if;
  end
  $function$;
comment on function audit.seeing(regclass,jsonb,text) is 'The principals of a role that see a row, each tried: those of the row''s organization whom its policies let through, or all when even a stranger sees it.';
grant execute on function audit.seeing(regclass,jsonb,text) to graph_admin;
