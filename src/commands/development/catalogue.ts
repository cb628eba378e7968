import { partitions } from './permissions.ts';

/** Everything that a migration makes, as text. */
export const catalogue = `
  with ours as (select oid, nspname from pg_namespace where nspname !~ '^(pg_|information_schema$|public$|graphile_)'),
  partitions as (select inhrelid as oid from ${partitions} as p union all select indexrelid from pg_index where indrelid in ${partitions})
  select 'column' as kind, format('%s.%s %s %s %s', a.attrelid::regclass, a.attname, format_type(a.atttypid, a.atttypmod),
      a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) as definition, col_description(a.attrelid, a.attnum) as comment,
      a.attacl::text as privileges
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace in (select oid from ours) and c.relkind in ('r', 'p', 'v') and a.attnum > 0
      and c.oid not in (select oid from partitions)
  union all
  select 'relation', format('%s %s %s %s', c.oid::regclass, c.relkind, c.relrowsecurity, c.relforcerowsecurity),
      obj_description(c.oid), c.relacl::text
    from pg_class c where c.relnamespace in (select oid from ours) and c.oid not in (select oid from partitions)
  union all
  select 'constraint', format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)), obj_description(oid), null
    from pg_constraint where connamespace in (select oid from ours) and conrelid not in (select oid from partitions)
  union all
  select 'index', pg_get_indexdef(i.indexrelid), obj_description(i.indexrelid), null
    from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace in (select oid from ours) and c.oid not in (select oid from partitions)
  union all
  select 'function', pg_get_functiondef(p.oid), obj_description(p.oid), p.proowner::regrole || ' ' || p.proacl::text
    from pg_proc p where p.pronamespace in (select oid from ours)
  union all
  select 'trigger', pg_get_triggerdef(t.oid), obj_description(t.oid), null
    from pg_trigger t join pg_class c on c.oid = t.tgrelid where c.relnamespace in (select oid from ours) and not t.tgisinternal
  union all
  select 'policy', format('%s %s %s %s %s', polrelid::regclass, polname, polcmd, pg_get_expr(polqual, polrelid),
      pg_get_expr(polwithcheck, polrelid)), obj_description(pg_policy.oid), polroles::regrole[]::text
    from pg_policy join pg_class c on c.oid = polrelid
    where c.relnamespace in (select oid from ours) and c.oid not in (select oid from partitions)
  union all
  select 'schema', nspname, obj_description(oid), (select nspacl::text from pg_namespace n where n.oid = ours.oid) from ours
  union all
  select 'view', pg_get_viewdef(c.oid), null, c.reloptions::text
    from pg_class c where c.relnamespace in (select oid from ours) and c.relkind = 'v'
  union all
  select 'time zone', name, null, null from app_hidden.time_zones
  order by 1, 2`;
