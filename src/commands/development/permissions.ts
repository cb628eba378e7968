// Statements about the catalogue, for people to review their results.

/** Whether a namespace is one of this service's. */
export const ours = (namespace: string) =>
  `${namespace} in (select oid from pg_namespace where nspname !~ '^(pg_|information_schema|graphile_)')`;

/** Partitions of the history and of the change feed come and go; tests hold what guards them. */
export const partitions = `(
  select inhrelid from pg_inherits where inhparent in (to_regclass('audit.changes'), to_regclass('feed.changes')))`;

/** Every policy as text, one row each. */
export const policies = `
  select format(
    E'%s.%s\\n  %s: %s to %s\\n  %s%s%s\\n',
    p.polrelid::regclass,
    p.polname,
    case when p.polpermissive then 'permissive' else 'restrictive' end,
    case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
    (select string_agg(role::regrole::text, ', ') from unnest(p.polroles) as role),
    coalesce(obj_description(p.oid, 'pg_policy'), 'WITHOUT COMMENT'),
    E'\\n  using ' || regexp_replace(pg_get_expr(p.polqual, p.polrelid), '\\s+', ' ', 'g'),
    E'\\n  with check ' || regexp_replace(pg_get_expr(p.polwithcheck, p.polrelid), '\\s+', ' ', 'g'))
  from pg_policy p
  where p.polrelid not in ${partitions} and p.polrelid in (select oid from pg_class where ${ours('relnamespace')})
  order by p.polrelid::regclass::text, p.polname`;

/** Who may do what with which object, as text, one row for each object and role. */
export const privileges = `
  with granted as (
    select 'schema ' || n.nspname as object, acl.grantee, lower(acl.privilege_type) as privilege
    from pg_namespace n, aclexplode(n.nspacl) acl
    where ${ours('n.oid')} and n.nspname <> 'public' and acl.grantee <> n.nspowner
    union all
    select c.oid::regclass::text, acl.grantee, lower(acl.privilege_type)
    from pg_class c, aclexplode(c.relacl) acl
    where ${ours('c.relnamespace')} and acl.grantee <> c.relowner
    union all
    select c.oid::regclass::text, acl.grantee,
      format('%s (%s)', lower(acl.privilege_type), string_agg(a.attname, ', ' order by a.attnum))
    from pg_class c join pg_attribute a on a.attrelid = c.oid, aclexplode(a.attacl) acl
    where ${ours('c.relnamespace')}
    group by c.oid, acl.grantee, acl.privilege_type
    union all
    select 'function ' || p.oid::regprocedure, acl.grantee, lower(acl.privilege_type)
    from pg_proc p, aclexplode(p.proacl) acl
    where ${ours('p.pronamespace')} and acl.grantee <> p.proowner
  )
  select format('%s: %s: %s', object, grantee::regrole, string_agg(privilege, ', ' order by privilege))
  from granted
  group by object, grantee
  order by object, grantee::regrole::text`;
