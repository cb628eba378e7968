--! Previous: sha1:dc508c2b075ce8e1ca52973cf166b5c8ef0508c4
--! Hash: sha1:1e14ebf6fc15a464812ee56f90354c2d54e9091a
--! Message: audit access

-- Who can see or change this row, and why? The answer comes from becoming each caller and trying: what is tried happens in a subtransaction
-- that is always rolled back. For the owner, who may become a caller and sees every row.
--
-- The policies are asked once for each role, with the claims of all principals of the row's organization. That says who may see the row,
-- and trying says who does. A caller has to see what an update or a delete finds its row by. jit is off: the statements are small, and
-- PostgreSQL would compile them for longer than they run.

create view audit.principals with (security_invoker = true) as
  select
    'app:' || a.client_id as principal, a.name, 'graph_app' as role, 'app' as scope,
    a.organization_id, a.id as application_id, null::uuid as user_id, a.disabled_at is not null as disabled
  from oauth.applications a
  where 'app' = any (a.scopes)
  union all
  select 'basic:' || a.client_id, a.name, 'graph_basic', 'basic', a.organization_id, a.id, null, a.disabled_at is not null
  from oauth.applications a
  where 'basic' = any (a.scopes)
  union all
  select 'me:' || u.id, u.full_name, 'graph_user', 'me', u.organization_id, null, u.id, coalesce(c.disabled_at is not null, false)
  from app_public.users u
  left join oauth.credentials c on c.organization_id = u.organization_id and c.user_id = u.id
  union all
  select 'oauth:' || o.id, o.name, 'graph_oauth', '', o.id, null, null, false
  from app_hidden.organizations o;
comment on view audit.principals is 'Everybody that a request can come as: an application or a person in a scope, or the OAuth server at work for an organization.';
comment on column audit.principals.principal is '`app:<client id>`, `basic:<client id>`, `me:<user id>` or `oauth:<organization id>`.';
comment on column audit.principals.disabled is 'Whether its tokens are refused.';
grant select on audit.principals to graph_admin;

create function audit.find_principal(principal text) returns audit.principals
  language plpgsql stable set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function audit.find_principal(text) is 'The principal of this name; a person also by e-mail address or external identifier, an organization by its name.';

create function audit.find_row(relation regclass, key text) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    columns text[] = array(
      select a.attname
      from pg_index i
      join unnest(i.indkey) with ordinality as k (number, position) on true
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
      where i.indrelid = relation and i.indisprimary and a.attname <> 'organization_id'
      order by k.position);
    given jsonb;
    found jsonb[];
  begin
    if key ^@ '{' then
      given = key;
    elsif cardinality(columns) = 1 then
      given = jsonb_build_object(columns[1], key);
    else
      raise exception using
        errcode = 'invalid_parameter_value',
        message = format('%s has no key of one column', relation),
        hint = format('Give the key as JSON: {"%s": "…"}', array_to_string(columns, '": "…", "'));
    end if;
    execute format('select array(select to_jsonb(t) from %s t where %s limit 2)', relation,
      (select string_agg(format('%I = %L', name, value), ' and ') from jsonb_each_text(given) as given (name, value)))
      into found;
    if cardinality(found) <> 1 then
      raise exception using
        errcode = case when found = '{}' then 'no_data_found' else 'too_many_rows' end,
        message = format(case when found = '{}' then '%s has no row %s' else '%s has more than one row %s' end, relation, key),
        hint = format('The key may be JSON: {"organization_id": "…", "%s": "…"}', array_to_string(columns, '": "…", "'));
    end if;
    return found[1];
  end
  $$;
comment on function audit.find_row(regclass, text) is 'The row with this key: the value of its one column beside organization_id, or columns and values as JSON.';

create function audit.condition_of(relation regclass, value jsonb) returns text
  language sql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off
  as $$
    select string_agg(format('%I = %L', a.attname, value ->> a.attname), ' and ')
    from pg_index i
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = relation and i.indisprimary
  $$;
comment on function audit.condition_of(regclass, jsonb) is 'What finds this row by its primary key.';

create function audit.conjuncts(expression text) returns setof text
  language plpgsql immutable set search_path = pg_catalog, pg_temp
  as $$
  declare
    parts text[] = '{}';
    depth int = 0;
    quote text;
    character text;
    start int = 2;
  begin
    -- As pg_get_expr writes it: a conjunction stands in parentheses, and so does each part of it.
    if not expression ^@ '(' then
      return next expression;
      return;
    end if;
    for i in 1 .. length(expression) loop
      character = substr(expression, i, 1);
      if quote is not null then
        quote = nullif(quote, character);
      elsif character in ('''', '"') then
        quote = character;
      elsif character = '(' then
        depth = depth + 1;
      elsif character = ')' then
        depth = depth - 1;
      elsif depth = 1 and substr(expression, i, 5) = ' AND ' then
        parts = parts || substr(expression, start, i - start);
        start = i + 5;
      end if;
    end loop;
    if parts = '{}' then
      return next expression;
    else
      return query select unnest(parts || substr(expression, start, length(expression) - start));
    end if;
  end
  $$;
comment on function audit.conjuncts(text) is 'The parts of a policy''s expression that must all hold.';

create function audit.become(principal audit.principals) returns void
  language sql volatile set search_path = pg_catalog, pg_temp
  as $$
    select
      set_config('graph.organization_id', coalesce(principal.organization_id::text, ''), true),
      set_config('graph.application_id', coalesce(principal.application_id::text, ''), true),
      set_config('graph.user_id', coalesce(principal.user_id::text, ''), true),
      set_config('graph.scope', principal.scope, true),
      set_config('graph.grant_id', '', true),
      set_config('graph.request_id', 'audit', true),
      set_config('graph.row_limit', '', true),
      set_config('row_security', 'on', true),
      -- Nobody who works waits for long because somebody looks.
      set_config('lock_timeout', '2s', true),
      set_config('role', principal.role, true)
  $$;
comment on function audit.become(audit.principals) is 'The settings of a request of this principal, until the transaction or subtransaction ends.';

create function audit.attempt(principal audit.principals, relation regclass, value jsonb, command text) returns text
  language plpgsql volatile set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  as $$
  declare
    outcome text;
    count bigint;
    condition text = audit.condition_of(relation, value);
    -- What the role may set, the key last.
    columns text[] = array(
      select quote_ident(a.attname)
      from pg_attribute a
      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
        and command in ('insert', 'update') and has_column_privilege(principal.role, relation, a.attnum, command)
      order by condition ~ ('\m' || a.attname || '\M'), a.attnum);
    statement text = case command
      when 'select' then format('select from %s where %s', relation, condition)
      when 'insert' then format('insert into %1$s (%2$s) select %2$s from jsonb_populate_record(null::%1$s, $1)', relation, nullif(array_to_string(columns, ', '), ''))
      when 'update' then format('update %1$s set %2$s = %2$s where %3$s', relation, columns[1], condition)
      when 'delete' then format('delete from %s where %s', relation, condition)
    end;
  begin
    if command in ('insert', 'update') and columns = '{}' then
      return 'not granted';
    end if;
    begin
      perform audit.become(principal);
      execute statement using value;
      get diagnostics count = row_count;
      outcome = case when count > 0 then 'allowed' else 'finds no such row' end;
      raise exception using errcode = 'AUDIT';
    exception
      when sqlstate 'AUDIT' then null;
      when integrity_constraint_violation then outcome = 'allowed';
      when insufficient_privilege then outcome = 'refused';
    end;
    return outcome;
  end
  $$;
comment on function audit.attempt(audit.principals, regclass, jsonb, text) is
  'What becomes of a command on a row when the principal gives it: `allowed`, `finds no such row`, `refused` or `not granted`. '
  'An insert tries a row like this one; that it is there already, or any other rule that it breaks, is no matter of access. Nothing stays.';

create function audit.holds(principal audit.principals, relation regclass, value jsonb, expression text) returns boolean
  language plpgsql volatile set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  as $$
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
  $$;
comment on function audit.holds(audit.principals, regclass, jsonb, text) is 'Whether an expression of a policy holds for a row when the principal asks.';

create function audit.reason_of(principal audit.principals, relation regclass, value jsonb) returns text
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    select string_agg(reason, '; ' order by reason)
    from (
      select format('access to unit %s %s', u.name, a.unit_id) as reason
      from app_hidden.unit_access a
      join app_public.units u on u.organization_id = a.organization_id and u.id = a.unit_id
      where a.organization_id = principal.organization_id and a.user_id = principal.user_id
        and (a.valid_from is null or a.valid_from <= app_hidden.current_moment())
        and (a.valid_until is null or a.valid_until > app_hidden.current_moment())
        and (
          relation = 'app_public.units'::regclass and value -> 'ancestor_ids' ? a.unit_id::text
          or relation = 'app_hidden.unit_ancestors'::regclass and value ->> 'ancestor_id' = a.unit_id::text)
      union all
      select format('card assignment %s', a.id)
      from app_public.card_assignments a
      where relation = 'app_public.cards'::regclass and a.organization_id = principal.organization_id
        and a.user_id = principal.user_id and value ->> 'id' = a.card_id::text
      union all
      select 'the own row'
      where principal.user_id is not null and coalesce(value ->> 'user_id', value ->> 'id') = principal.user_id::text
    ) as reasons
  $$;
comment on function audit.reason_of(audit.principals, regclass, jsonb) is 'Which row gives a person access to a row: the unit at the root of a granted subtree, an assignment of a card.';

create function audit.condition_for(relation regclass, role text, depth int default 0) returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off set standard_conforming_strings = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
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
  $$;
comment on function audit.condition_for(regclass, text, int) is
  'The select policies of a role as one condition on a row and on `asked`, a row of audit.principals, instead of claims; null when they call what is not understood.';

create function audit.trying(asked text, relation regclass, value jsonb) returns setof audit.principals
  language plpgsql volatile set search_path = pg_catalog, pg_temp set standard_conforming_strings = on set jit = off
  as $$
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
  $$;
comment on function audit.trying(text, regclass, jsonb) is 'Which principals of a query, all of one role, see a row, each tried.';

create function audit.seeing(relation regclass, value jsonb, role text) returns setof audit.principals
  language plpgsql volatile set search_path = pg_catalog, pg_temp set standard_conforming_strings = on set jit = off
  as $$
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
  $$;
comment on function audit.seeing(regclass, jsonb, text) is
  'The principals of a role that see a row, each tried: those of the row''s organization whom its policies let through, or all when even a stranger sees it.';

create function audit.who_can(relation regclass, key text)
  returns table (command text, principal text, name text, columns text[], policies text[], rules text[], through text)
  language plpgsql volatile set search_path = pg_catalog, pg_temp set standard_conforming_strings = on set jit = off
  as $$
  declare
    value jsonb = audit.find_row(relation, key);
    granted audit.matrix;
    candidate audit.principals;
    candidates audit.principals[] = '{}';
    passed audit.policies[];
  begin
    for granted in
      select m.* from audit.matrix m
      where m.relation = who_can.relation and m.granted and m.policies <> '{}' and m.command <> 'insert'
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
  $$;
comment on function audit.who_can(regclass, text) is
  'Every principal of the row''s organization that can select, update or delete it, each tried: by which grant (columns; {} is all), which policies, and through which access. '
  'Takes about a second for a hundred thousand people.';

create function audit.explain_access(principal text, relation regclass, key text)
  returns table (command text, allowed boolean, outcome text, policy text, rule text, part text, holds boolean)
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on set quote_all_identifiers = off set jit = off
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
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
  $$;
comment on function audit.explain_access(text, regclass, text) is
  'For each command on a row: what becomes of it when the principal tries, and what decided: the grant, and of each policy every part of its expression, asked as the principal.';

create function audit.visible(principal text) returns table (relation regclass, rows bigint, "of" bigint)
  language plpgsql volatile set search_path = pg_catalog, pg_temp set jit = off
  as $$
  declare
    candidate audit.principals = audit.find_principal(principal);
  begin
    for relation in
      select m.relation from audit.matrix m where m.role = candidate.role and m.command = 'select' and m.granted order by m.relation::text
    loop
      "of" = null;
      if (select r.kind from audit.relations r where r.relation = visible.relation) <> 'view' then
        execute format('select count(*) from %s', relation) into "of";
      end if;
      begin
        perform audit.become(candidate);
        execute format('select count(*) from %s', relation) into rows;
        raise exception using errcode = 'AUDIT';
      exception
        when sqlstate 'AUDIT' then null;
      end;
      return next;
    end loop;
  end
  $$;
comment on function audit.visible(text) is 'How many rows of each table and view the principal sees, of how many in the table. A relation that is missing is not granted.';

grant execute on function
  audit.find_principal(text), audit.find_row(regclass, text), audit.condition_of(regclass, jsonb), audit.conjuncts(text),
  audit.become(audit.principals), audit.attempt(audit.principals, regclass, jsonb, text),
  audit.holds(audit.principals, regclass, jsonb, text), audit.reason_of(audit.principals, regclass, jsonb),
  audit.who_can(regclass, text), audit.explain_access(text, regclass, text), audit.visible(text)
  to graph_admin;

grant execute on function
  audit.condition_for(regclass, text, int), audit.trying(text, regclass, jsonb), audit.seeing(regclass, jsonb, text)
  to graph_admin;

grant execute on function audit.conjuncts(text) to graph_auditor;
