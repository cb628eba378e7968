import { isSeen, typeName } from './fragments.ts';

/** A policy `p` in JSON. */
const policy = `jsonb_build_object(
  'name', p.polname, 'permissive', p.polpermissive,
  'command', case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
  'roles', array(select case role when 0 then 'public' else pg_get_userbyid(role)::text end from unnest(p.polroles) as role order by 1),
  'using', pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid))`;

const columnsOf = (relation: string, numbers: string) => `array(
  select a.attname::text from unnest(${numbers}) with ordinality as listed (number, place)
  join pg_attribute a on a.attrelid = ${relation} and a.attnum = listed.number order by place)`;

const effect = (type: string) =>
  `case ${type} when 'c' then 'cascade' when 'n' then 'null' when 'd' then 'default' else 'none' end`;

/** Nothing is asked of the rows of a foreign table, which may be a child. */
const isHeld = `c.relkind in ('r', 'p') and not (c.relhassubclass and exists (select from pg_class f join pg_inherits i on i.inhrelid = f.oid where f.relkind = 'f'))`;

/**
 * Reads tables and views. `$1` are the roles of clients, and `$3` others whose privileges are asked for. `$4` is the only one that is read, or null.
 * Where a foreign key is not enforced on the rows of children, it says nothing about what a query of the parent finds.
 */
export const relationsStatement = `
  with roles as (
    select oid, rolname from pg_roles
    where rolname = any ($1) or exists (select from unnest($1::text[]) as client where pg_has_role(client, pg_roles.oid, 'member'))
      or oid in (select c.relowner from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f') and ${isSeen})
      or rolname = any ($3)
  )
  select
    format('%I.%I', n.nspname, c.relname) as name, pg_get_userbyid(c.relowner)::text as owner,
    case
      when c.relispartition then 'partition'
      else case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end
    end as kind,
    case
      when c.relkind not in ('r', 'p') then null
      when not c.relrowsecurity then 'off'
      when c.relforcerowsecurity then 'forced'
      else 'on, not forced'
    end as "rowSecurity",
    (select coalesce(jsonb_agg(jsonb_build_object(
        'name', a.attname, 'notNull', a.attnotnull and ${isHeld} and not exists (
          select from pg_constraint k
          where k.conrelid = c.oid and k.contype = 'n' and a.attnum = any (k.conkey) and (not k.convalidated or k.connoinherit)),
        'type', ${typeName('a.atttypid')}, 'isGenerated', a.attgenerated <> '', 'isIdentity', a.attidentity = 'a',
        'default', (select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d where d.adrelid = c.oid and d.adnum = a.attnum)) order by a.attnum), '[]')
      from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    (select coalesce(jsonb_agg(jsonb_build_object('columns', ${columnsOf('k.conrelid', 'k.conkey')},
        'references', format('%I.%I', fn.nspname, f.relname), 'referenced', ${columnsOf('k.confrelid', 'k.confkey')}) order by k.conname), '[]')
      from pg_constraint k join pg_class f on f.oid = k.confrelid join pg_namespace fn on fn.oid = f.relnamespace
      where k.conrelid = c.oid and k.contype = 'f' and k.convalidated and k.conparentid = 0 and not k.condeferrable
        and not exists (select from pg_trigger t where t.tgconstraint = k.oid and t.tgenabled not in ('O', 'A'))
        and (c.relkind = 'p' or not exists (select from pg_inherits i where i.inhparent = c.oid))) as "foreignKeys",
    (select coalesce(jsonb_agg(jsonb_build_object('name', k.conname, 'columns', ${columnsOf('k.conrelid', 'k.conkey')},
        'references', format('%I.%I', fn.nspname, f.relname), 'referenced', ${columnsOf('k.confrelid', 'k.confkey')},
        'sets', ${columnsOf('k.conrelid', 'coalesce(k.confdelsetcols, k.conkey)')},
        'onDelete', ${effect('k.confdeltype')}, 'onUpdate', ${effect('k.confupdtype')}) order by k.conname), '[]')
      from pg_constraint k join pg_class f on f.oid = k.confrelid join pg_namespace fn on fn.oid = f.relnamespace
      where k.conrelid = c.oid and k.contype = 'f' and (k.confdeltype in ('c', 'n', 'd') or k.confupdtype in ('c', 'n', 'd'))
        and not exists (select from pg_constraint of where of.oid = k.conparentid and of.conrelid = k.conrelid)) as actions,
    (select coalesce(jsonb_agg(${columnsOf('i.indrelid', 'i.indkey::int2[]')} order by i.indexrelid), '[]')
      from pg_index i
      where i.indrelid = c.oid and i.indisunique and i.indimmediate and i.indisvalid and i.indpred is null and i.indexprs is null and not i.indisexclusion
        and (c.relkind = 'p' or not exists (select from pg_inherits h where h.inhparent = c.oid))
        and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attnum = any (i.indkey) and not a.attnotnull)) as keys,
    (select coalesce(jsonb_agg(${policy} order by p.polname), '[]') from pg_policy p where p.polrelid = c.oid) as policies,
    case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end as definition,
    array(
      with recursive above (oid) as (
        select inhparent from pg_inherits where inhrelid = c.oid
        union select i.inhparent from above join pg_inherits i on i.inhrelid = above.oid)
      select format('%I.%I', an.nspname, a.relname) from above join pg_class a using (oid) join pg_namespace an on an.oid = a.relnamespace) as parents,
    coalesce((select option_value::boolean from pg_options_to_table(c.reloptions) where option_name = 'security_invoker'), false) as "isInvoker",
    coalesce((select option_value::boolean from pg_options_to_table(c.reloptions) where option_name = 'security_barrier'), false) as "isBarrier",
    exists (select from pg_rewrite w where w.ev_class = c.oid and w.ev_type <> '1')
      or exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgtype & 64 <> 0) as "isRewritten",
    (select jsonb_object_agg(command || ' ' || rolname, columns)
      from roles
      cross join lateral (
        select command, array(
          select a.attname::text from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            and case when command in ('delete', 'truncate') then has_table_privilege(roles.oid, c.oid, command)
              else has_column_privilege(roles.oid, c.oid, a.attnum, command) end
          order by a.attnum) as columns
        from unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as command) as granted) as privileges
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and ${isSeen} and ($4::text is null or c.oid = to_regclass($4))
  order by name`;
