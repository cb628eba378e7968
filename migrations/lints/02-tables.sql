-- What a reviewer of access looks for, and what supabase/splinter and pgrls look for, as one view.
-- To accept a finding with a reason, insert its name, its object and '' into audit.accepted.

-- `(select f())` is computed once for a statement, a bare f() once for each row. What is left of an expression without such
-- subqueries is computed for each row; a subquery that reads a table is left, for its rows are many, too.
create or replace function audit.outside_subqueries(expression text) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  as $$
    select regexp_replace(expression, format('\( SELECT (?:(?!FROM )%s)*\)', part), '( SELECT )', 'g')
    from (
      select format('(?:[^()]|\(%s*\))', format('(?:[^()]|\(%s*\))', '(?:[^()]|\([^()]*\))')) as part
    ) as nested
  $$;
comment on function audit.outside_subqueries(text) is 'An expression, as pg_get_expr writes it, without its subqueries that read no table; they may nest parentheses four deep.';
grant execute on function audit.outside_subqueries(text) to graph_auditor, graph_admin;

create or replace view audit.lints with (security_invoker = true) as
  with schemas as (
    select oid, nspname, nspowner, nspacl from pg_namespace where nspname !~ '^(pg_|information_schema$|graphile_)'
  ),
  tables as (
    select c.oid, c.oid::regclass::text as name, c.relrowsecurity, c.relacl
    from pg_class c
    where c.relkind in ('r', 'p') and c.relnamespace in (select oid from schemas)
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  ),
  request_roles as (
    select role_id as oid, role, kind from audit.request_roles where kind <> 'worker'
  ),
  lent_roles as materialized (
    select * from audit.lent_roles
  ),
  policies as (
    select
      p.oid, p.polrelid, p.polpermissive, p.polroles, p.polcmd, t.relrowsecurity,
      format('%s on %s', p.polname, t.name) as object,
      case p.polcmd
        when 'r' then '{select}' when 'a' then '{insert}' when 'w' then '{update}' when 'd' then '{delete}'
        else '{select,insert,update,delete}'
      end::text[] as commands,
      pg_get_expr(p.polqual, p.polrelid) as using_expression,
      pg_get_expr(p.polwithcheck, p.polrelid) as check_expression,
      concat_ws(' and ', pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) as expressions,
      -- Of everybody, of a role of requests, or of one that a role of requests is in.
      exists (
        select from request_roles r, unnest(p.polroles) as named
        where named = 0 or pg_has_role(r.oid, nullif(named, 0), 'usage')
          and not exists (select from lent_roles l where l.borrower_id = r.oid and l.lender_id = named)) as of_requests
    from pg_policy p
    join tables t on t.oid = p.polrelid
  ),
  -- By which columns they choose rows. What with check says of a new row needs no index.
  policy_columns as (
    select distinct d.objid as policy_id, p.polrelid, d.refobjsubid as number
    from pg_depend d
    join policies p on p.oid = d.objid and d.refobjid = p.polrelid
    where d.classid = 'pg_policy'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0
      and p.using_expression not in ('true', 'false')
  ),
  -- A restrictive policy chooses rows together with the permissive ones that it narrows.
  policies_beside as (
    select p.oid, beside.oid as beside_id
    from policies p
    join policies beside on beside.polrelid = p.polrelid and beside.commands && p.commands
    where beside.oid = p.oid or not p.polpermissive
      or not beside.polpermissive and beside.commands @> p.commands and (0 = any (beside.polroles) or beside.polroles @> p.polroles)
  ),
  functions as (
    select
      p.oid, p.oid::regprocedure::text as object, p.provolatile, p.proconfig, p.proacl, p.proowner,
      coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) as body
    from pg_proc p
    where p.pronamespace in (select oid from schemas)
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  ),
  indexes as (
    select
      i.indexrelid, i.indrelid, i.indexrelid::regclass::text as name, i.indisunique, i.indisvalid, i.indpred, i.indexprs,
      -- A slice of a vector, which is numbered from 0, is an array, which is numbered from 1. Columns that are only included come last.
      (i.indkey::int2[])[0:i.indnkeyatts - 1] as keys,
      concat_ws(' ', i.indkey, i.indnkeyatts, i.indclass, i.indcollation, i.indoption, c.relam, i.indexprs, i.indpred) as definition
    from pg_index i
    join tables t on t.oid = i.indrelid
    join pg_class c on c.oid = i.indexrelid
  ),
  lints (name, level, object, detail, remedy) as (
    -- Policies.

    select
      case kind
        when 'table' then case how when 'row-level security is off' then 'row_security_off' else 'row_security_not_forced' end
        when 'partition' then case how when 'row-level security is off' then 'row_security_off' else 'row_security_not_forced' end
        when 'definer' then 'definer_function'
        when 'view' then 'definer_view'
        else replace(kind, ' ', '_')
      end,
      'error', object, concat_ws(' ', who, how),
      case kind
        when 'definer' then 'Make it security invoker, or insert ''definer'', its signature, its callers and the reason into audit.accepted.'
        when 'view' then 'alter view … set (security_invoker = true)'
        when 'table' then 'alter table … enable row level security, force row level security'
        when 'partition' then 'alter table … enable row level security, force row level security'
        else 'Revoke it from the roles of requests: it cannot have policies.'
      end
    from audit.bypasses
    where not known and kind in ('table', 'partition', 'materialized view', 'foreign table', 'definer', 'view')
    union all
    select 'policy_without_row_security', 'error', object, 'decides nothing while row-level security is off', 'alter table … enable row level security'
    from policies
    where not relrowsecurity
    union all
    select 'row_security_without_policy', 'warning', name, 'shows no row to anybody', 'Write a policy for the role that shall see it.'
    from tables t
    where relrowsecurity and not exists (select from pg_policy p where p.polrelid = t.oid)
    union all
    select 'policy_for_everybody', 'error', object, 'is for every role, whichever may come', 'Name the roles: create policy … to …'
    from policies
    where 0 = any (polroles)
    union all
    select 'policy_always_true', 'error', object, format('lets a request %s any row', array_to_string(array_remove(commands, 'select'), ' and ')),
      'Compare with a claim.'
    from policies
    where of_requests and polpermissive and commands <> '{select}' and 'true' in (using_expression, check_expression)
    union all
    select 'policy_without_check', 'error', object, 'says which rows are changed and not what they may become', 'Write with check (…).'
    from policies
    where check_expression is null and commands && '{insert,update}'
    union all
    select 'policy_without_comment', 'warning', object, 'has no rule in plain English', 'comment on policy … is ''…'''
    from policies
    where obj_description(oid, 'pg_policy') is null
    union all
    select 'several_permissive_policies', 'warning', t.name,
      format('%s of %s is decided by %s', command, pg_get_userbyid(role), string_agg(p.polname, ' or ' order by p.polname)),
      'Write one policy for each command and role: their parts are or-ed, and all are computed.'
    from policies
    join pg_policy p using (oid)
    join tables t on t.oid = p.polrelid
    cross join unnest(commands) as command
    cross join unnest(p.polroles) as role
    where p.polpermissive
    group by t.name, command, role
    having count(*) > 1
    union all
    select 'claim_for_each_row', 'warning', p.object, format('computes %s for each row', string_agg(f.name, ', ' order by f.name)), 'Write (select …()).'
    from policies p
    cross join lateral (
      select 'current_setting' as name
      union all
      select distinct f.proname::text
      from pg_depend d
      join pg_proc f on f.oid = d.refobjid
      where d.classid = 'pg_policy'::regclass and d.objid = p.oid and d.refclassid = 'pg_proc'::regclass
        and f.pronargs = 0 and f.provolatile <> 'i'
    ) as f
    where audit.outside_subqueries(p.expressions) ~ format('\m%s\(', f.name)
    group by p.object
    union all
    select 'literal_in_policy', 'warning', object, format('names %s', literal), 'Compare with a claim or a row, so that the rule needs no migration when the value changes.'
    from policies
    cross join lateral (
      -- Names of settings, the empty string and lengths of time are no data.
      select (regexp_match(
        regexp_replace(expressions, 'current_setting\(''[^'']*''|''''::|''[^'']*''::interval|\mEXTRACT\([^)]*\)', '', 'g'),
        '''[^'']*''|(?:=|<>|ANY \(ARRAY\[)\s*\(?[0-9]+\M'))[1] as literal
    ) as found
    where literal is not null
    union all
    select 'policy_reads_unprotected_table', 'error', p.object, format('believes %s, which has no row-level security', t.name),
      'alter table … enable row level security, force row level security'
    from policies p
    join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = p.oid and d.refclassid = 'pg_class'::regclass and d.refobjid <> p.polrelid
    join tables t on t.oid = d.refobjid
    where not t.relrowsecurity
    group by p.object, t.name
    union all
    select 'policy_column_without_index', 'warning', p.object, format('asks for %s, which no index has behind a column of this policy', a.attname),
      'create index on … (organization_id, …)'
    from policy_columns pc
    join policies p on p.oid = pc.policy_id
    join pg_attribute a on a.attrelid = pc.polrelid and a.attnum = pc.number
    where not exists (
      select from indexes i
      where i.indrelid = pc.polrelid and i.indisvalid and pc.number = any (i.keys)
        and i.keys[1] in (
          select first.number from policies_beside b join policy_columns first on first.policy_id = b.beside_id where b.oid = pc.policy_id))
    union all

    -- Functions, and what is written in them.

    select 'search_path_mutable', 'warning', object, 'finds what it names in the search path of its caller', 'alter function … set search_path = pg_catalog, pg_temp'
    from functions
    -- A body that is stored parsed names what it found when it was made.
    where not exists (select from unnest(proconfig) as setting where setting like 'search\_path=%') and pg_get_function_sqlbody(oid) is null
    union all
    select 'function_for_everybody', 'error', object, 'may be called by every role', 'revoke execute on function … from public'
    from functions
    where exists (select from aclexplode(coalesce(proacl, acldefault('f', proowner))) acl where acl.grantee = 0)
    union all
    select 'setting_must_exist', 'error', object, 'fails, instead of denying, where the setting was never set', 'current_setting(''…'', true)'
    from (
      select object, body as text from functions
      union all select object, expressions from policies
      -- Of PostgreSQL's 150 views the text would be made before they are left out.
      union all select v.oid::regclass::text, case when v.relnamespace in (select oid from schemas) then pg_get_viewdef(v.oid) end
      from pg_class v where v.relkind in ('v', 'm')
    ) as texts
    -- PostgreSQL's own settings, without a dot, are always there.
    where text ~ '\mcurrent_setting\(\s*''[^''.]+\.[^'']+''(::text)?\s*\)'
    union all
    select 'claim_kept_in_plan', 'error', object, 'is immutable and reads a setting: a prepared statement would keep the claim of its first caller',
      'alter function … stable'
    from functions
    where provolatile = 'i' and body ~ '\mcurrent_setting\('
    union all

    -- Tables, keys and indexes.

    select 'no_primary_key', 'warning', name, 'has no primary key', 'alter table … add primary key (…)'
    from tables t
    where not exists (select from pg_index i where i.indrelid = t.oid and i.indisprimary)
    union all
    select 'foreign_key_without_index', 'info', format('%s on %s', k.conname, t.name),
      'is checked by reading the whole table whenever what it points to is deleted or gets another key', 'create index on … (its columns, in any order)'
    from pg_constraint k
    join tables t on t.oid = k.conrelid
    where k.contype = 'f'
      and not exists (
        select from indexes i
        where i.indrelid = k.conrelid and i.indisvalid
          and i.keys[1:cardinality(k.conkey)] @> k.conkey and i.keys[1:cardinality(k.conkey)] <@ k.conkey)
    union all
    select 'same_index_twice', 'warning', string_agg(name, ', ' order by name), 'are the same', 'drop index …'
    from indexes
    group by indrelid, definition
    having count(*) > 1
    union all
    select 'unique_across_organizations', 'error', i.name, 'tells one organization what another one has',
      'Begin the key with organization_id.'
    from indexes i
    join pg_attribute o on o.attrelid = i.indrelid and o.attname = 'organization_id' and not o.attisdropped
    where i.indisunique and o.attnum <> all (i.keys)
    union all
    select 'reference_across_organizations', 'error', format('%s on %s', k.conname, t.name), 'may point to a row of another organization',
      'Refer to (organization_id, …).'
    from pg_constraint k
    join tables t on t.oid = k.conrelid
    join pg_attribute theirs on theirs.attrelid = k.confrelid and theirs.attname = 'organization_id' and not theirs.attisdropped
    where k.contype = 'f'
      and not exists (
        select from unnest(k.conkey, k.confkey) as pair (own, their)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = pair.own
        where a.attname = 'organization_id' and pair.their = theirs.attnum)
    union all
    -- Without a list `set null` and `set default` set all columns of the key; those of an update have no list.
    select
      'reference_sets_organization', 'error', format('%s on %s', k.conname, t.name),
      format('sets organization_id, too, when what it points to %s: that fails, or gives the row to nobody', happens.event), happens.remedy
    from pg_constraint k
    join tables t on t.oid = k.conrelid
    join pg_attribute o on o.attrelid = k.conrelid and o.attname = 'organization_id' and o.attnum = any (k.conkey)
    cross join lateral (
      select 'is deleted' as event,
        format(
          'on delete %s (%s)', case k.confdeltype when 'n' then 'set null' else 'set default' end,
          (select string_agg(quote_ident(a.attname), ', ' order by array_position(k.conkey, a.attnum)) from pg_attribute a
           where a.attrelid = k.conrelid and a.attnum = any (k.conkey) and a.attnum <> o.attnum)) as remedy
      where k.confdeltype in ('n', 'd') and (k.confdelsetcols is null or o.attnum = any (k.confdelsetcols))
      union all
      select 'gets another key', 'on update no action, or cascade'
      where k.confupdtype in ('n', 'd')
    ) as happens
    where k.contype = 'f' and k.conparentid = 0
    union all
    -- PostgreSQL chooses none of two collations that are both named: a field that follows the key would fail.
    select
      'reference_of_two_collations', 'error', format('%s on %s', k.conname, t.name),
      format('compares %s of collation %s with %s of %s', own.attname, own.attcollation::regcollation, their.attname, their.attcollation::regcollation),
      'alter table … alter column … type … collate …, so that both have the same.'
    from pg_constraint k
    join tables t on t.oid = k.conrelid
    cross join lateral unnest(k.conkey, k.confkey) as pair (own, their)
    join pg_attribute own on own.attrelid = k.conrelid and own.attnum = pair.own
    join pg_attribute their on their.attrelid = k.confrelid and their.attnum = pair.their
    where k.contype = 'f' and k.conparentid = 0 and own.attcollation <> their.attcollation
      and 0 <> all (array[own.attcollation, their.attcollation])
      and (select oid from pg_collation where collname = 'default' and collnamespace = 'pg_catalog'::regnamespace) <> all (array[own.attcollation, their.attcollation])
    union all
    select 'type_that_hinders_upgrades', 'warning', format('%s.%s', c.oid::regclass, a.attname), format('is of type %s, whose values name objects by number', a.atttypid::regtype),
      'Keep the name as text: pg_upgrade refuses this type.'
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace in (select oid from schemas)
      and a.atttypid in (
        'regcollation'::regtype, 'regconfig'::regtype, 'regdictionary'::regtype, 'regnamespace'::regtype, 'regoper'::regtype,
        'regoperator'::regtype, 'regproc'::regtype, 'regprocedure'::regtype)
    union all

    -- Privileges.

    select 'privilege_for_everybody', 'error', object, format('everybody may %s', string_agg(distinct lower(privilege_type), ', ')), 'revoke … from public'
    from (
      select c.oid::regclass::text as object, acl.grantee, acl.privilege_type
      from pg_class c, aclexplode(c.relacl) acl where c.relnamespace in (select oid from schemas)
      union all
      select format('%s.%s', a.attrelid::regclass, a.attname), acl.grantee, acl.privilege_type
      from pg_attribute a join pg_class c on c.oid = a.attrelid, aclexplode(a.attacl) acl where c.relnamespace in (select oid from schemas)
      union all
      select format('schema %I', nspname), acl.grantee, acl.privilege_type
      from schemas, aclexplode(nspacl) acl
      -- PostgreSQL's own: there is nothing in it.
      where not (nspname = 'public' and acl.privilege_type = 'USAGE')
    ) as granted
    where grantee = 0
    group by object
    union all
    select 'default_privilege_for_everybody', 'error', format('%s of %s', kind, pg_get_userbyid(owner)), 'are everybody''s as soon as they are made',
      'alter default privileges revoke … from public'
    from (
      -- Where nothing is said, everybody may execute functions, and have nothing else.
      select 'functions' as kind, o.nspowner as owner
      from (select distinct nspowner from schemas where nspname <> 'public') as o
      where not exists (select from pg_default_acl d where d.defaclrole = o.nspowner and d.defaclnamespace = 0 and d.defaclobjtype = 'f')
      union
      select case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types' else 'schemas' end, d.defaclrole
      from pg_default_acl d, aclexplode(d.defaclacl) acl
      where acl.grantee = 0 and d.defaclobjtype <> 'T'
    ) as defaults
    union all
    select 'secret_readable', 'warning', format('%s.%s', t.name, a.attname),
      format('sounds like a secret, and %s may read it', string_agg(r.role, ', ' order by r.role)),
      'Grant the other columns instead: grant select (…) on … to …'
    from tables t
    join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    -- Not the OAuth server, whose trade they are.
    join request_roles r on r.kind = 'token' and has_column_privilege(r.oid, t.oid, a.attnum, 'select')
      and not exists (select from lent_roles l where l.borrower_id = r.oid and has_column_privilege(l.lender_id, t.oid, a.attnum, 'select'))
    -- It is accepted for those who could read it then.
    left join audit.accepted k on k.kind = 'secret_readable' and k.object = format('%s.%s', t.name, a.attname)
    where r.role <> all (coalesce(k.hash, '{}')::text[])
      and a.attname ~ '(password|passphrase|secret|token|hash|ciphertext|private_key|api_key|credential)'
    group by t.name, a.attname
  )
  select l.name, l.level, l.object, l.detail, l.remedy
  from lints l
  where l.name = 'secret_readable' or not exists (select from audit.accepted a where a.kind = l.name and a.object = l.object);
comment on view audit.lints is 'Mistakes in policies, functions, keys and privileges; empty when all is well.';
comment on column audit.lints.level is '`error`: somebody may see or do too much. `warning`: it invites a mistake, or costs time. `info`: it may be meant so.';

grant select on audit.lints to graph_auditor, graph_admin;
