--! Previous: sha1:0ad564168467ead4eef4148adefe84c8ba64039b
--! Hash: sha1:b52cbc0b52d645ff53979cd582d03d73099606c7
--! Message: audit access

-- Who can see or change this row, and why? The answer comes from becoming each caller and trying: what is tried happens in a subtransaction
-- that is always rolled back. For the owner, who may become a caller and sees every row.
--
-- Every principal is tried, by one prepared statement that runs under the claims of each. Left out are only those whom a part of the
-- policies that is surely understood does not let through: it compares a column with a claim, or asks for the granted units.
-- A caller has to see what an update or a delete finds its row by. jit is off: PostgreSQL would compile the small statements for longer
-- than they run.

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

create function audit.let_find(relation regclass, role text) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    hidden text = (
      select string_agg(quote_ident(a.attname), ', ')
      from pg_index i
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
      where i.indrelid = relation and i.indisprimary and not has_column_privilege(role, relation, a.attnum, 'select'));
  begin
    if hidden is not null then
      execute format('grant select (%s) on %s to %I', hidden, relation, role);
    end if;
  end
  $$;
comment on function audit.let_find(regclass, text) is
  'Lets a role find a row by its key, until the subtransaction ends: who may read other columns sees the row without the key.';

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
      order by exists (select from pg_index i where i.indrelid = relation and i.indisprimary and a.attnum = any (i.indkey)), a.attnum);
    statement text = case command
      when 'select' then format('select from %s where %s', relation, condition)
      when 'insert' then format('insert into %1$s (%2$s) select %2$s from jsonb_populate_record(null::%1$s, $1)', relation, nullif(array_to_string(columns, ', '), ''))
      -- The role may write the column and not read it.
      when 'update' then format(
        'update %1$s set %2$s = (jsonb_populate_record(null::%1$s, $1)).%2$s where %3$s', relation, columns[1], condition)
      when 'delete' then format('delete from %s where %s', relation, condition)
    end;
  begin
    if command in ('insert', 'update') and columns = '{}' then
      return 'not granted';
    end if;
    begin
      perform audit.let_find(relation, principal.role);
      perform audit.become(principal);
      execute statement using value;
      get diagnostics count = row_count;
      outcome = case when count > 0 then 'allowed' else 'finds no such row' end;
      raise exception using errcode = 'UNDID';
    exception
      when sqlstate 'UNDID' then null;
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
      raise exception using errcode = 'UNDID';
    exception
      when sqlstate 'UNDID' then null;
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

create function audit.is_as_shipped(function text, body text) returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    select exists (
      select from pg_proc p
      where p.pronamespace = 'app_hidden'::regnamespace and p.proname = function and p.pronargs = 0 and p.prosrc = body and not p.prosecdef
        and p.proconfig = '{"search_path=pg_catalog, pg_temp"}')
  $$;
comment on function audit.is_as_shipped(text, text) is 'Whether a function of app_hidden has this body and no setting of its own, and so returns what is known.';

create function audit.compares_organization(expression text) returns boolean
  language sql immutable strict set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  as $$
    with recursive parts (part) as (
      values (expression)
      union
      select audit.conjuncts(parts.part) from parts
    ),
    claim (pattern) as (
      values ('(?:app_hidden\.current_organization_id\(\)|\(NULLIF\(current_setting\(''graph\.organization_id''::text, true\), ''''::text\)\)::uuid)')
    )
    select bool_or(part = 'false' or part ~ format('^\((?:organization_id = %1$s|%1$s = organization_id)\)$', format('(?:%1$s|\( SELECT %1$s AS [\w"]+\))', pattern)))
    from parts, claim
  $$;
comment on function audit.compares_organization(text) is
  'Whether an expression holds for rows of the organization of the claim only: `organization_id = (select app_hidden.current_organization_id())`, or the setting itself, is a part that must hold.';

create function audit.asks_organization(relation regclass, role text) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off set standard_conforming_strings = on
  as $$
  begin
    return (
      select c.relrowsecurity and not (r.rolsuper or r.rolbypassrls)
        and audit.is_as_shipped(
          'current_organization_id', ' begin return nullif(current_setting(''graph.organization_id'', true), ''''); end ')
        and (
          coalesce(bool_or(p.compares) filter (where not p.permissive), false)
          or coalesce(bool_and(p.compares) filter (where p.permissive), true))
      from pg_class c
      join pg_roles r on r.rolname = role and has_any_column_privilege(r.oid, c.oid, 'select')
      left join lateral (
        select
          p.permissive,
          coalesce(audit.compares_organization(case p.relation
            when 'app_hidden.organizations'::regclass then regexp_replace(p.using_expression, '^\(id = ', '(organization_id = ')
            else p.using_expression
          end), false) as compares
        from audit.policies p
        where p.relation = c.oid and p.command in ('select', 'all')
          and exists (select from unnest(p.role_ids) as named where named = 0 or pg_has_role(r.oid, nullif(named, 0), 'usage'))
      ) as p on true
      where c.oid = asks_organization.relation
      group by c.relrowsecurity, r.rolsuper, r.rolbypassrls);
  end
  $$;
comment on function audit.asks_organization(regclass, text) is
  'Whether the policies let a role see rows of the organization of the claim alone, as audit.compares_organization knows it. '
  'Null when the role may not read.';

create function audit.known_readers(relation regclass, value jsonb, role text) returns uuid[]
  language plpgsql stable set search_path = pg_catalog, pg_temp set quote_all_identifiers = off set standard_conforming_strings = on
  as $$
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
  $$;
comment on function audit.known_readers(regclass, jsonb, text) is
  'The people of a role who may see a row by the policies: their own row, or by a grant; no other person can. '
  'Null if a policy is not surely understood.';

create function audit.seeing(relation regclass, value jsonb, role text) returns setof audit.principals
  language plpgsql volatile set search_path = pg_catalog, pg_temp set standard_conforming_strings = on set jit = off
  as $$
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
      raise exception using errcode = 'UNDID';
    exception
      when sqlstate 'UNDID' then null;
    end;
    return query execute format('select (p).* from (%s) as p (p) where (p).principal = any ($1)', asked) using found;
  end
  $$;
comment on function audit.seeing(regclass, jsonb, text) is
  'The principals of a role that see a row, each tried: all whom the policies do not surely leave out by their organization or person.';

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
  $$;
comment on function audit.who_can(regclass, text) is
  'Every principal that can select, update or delete a row, each tried: by which grant (columns; {} is all), which policies, '
  'and through which access.';

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
        raise exception using errcode = 'UNDID';
      exception
        when sqlstate 'UNDID' then null;
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
  audit.let_find(regclass, text), audit.is_as_shipped(text, text), audit.asks_organization(regclass, text),
  audit.known_readers(regclass, jsonb, text), audit.seeing(regclass, jsonb, text)
  to graph_admin;

grant execute on function audit.conjuncts(text) to graph_auditor;
