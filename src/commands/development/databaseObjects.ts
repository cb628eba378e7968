import type { ClientBase } from 'pg';

/**
 * Every object of the database as SQL, by its file in `test/database/objects`.
 * A file has all objects of one name in one schema: a table with its columns, keys, indexes, policies, triggers and privileges, or a
 * function with all its signatures. Partitions of the history and of the change feed are left out, except the default ones.
 * PostgreSQL prints expressions and views, so another major version may format them otherwise.
 *
 * @param client a session of this function's own, whose search path it empties, so that every name is qualified
 */
export async function readDatabaseObjects(client: ClientBase): Promise<ReadonlyMap<string, string>> {
  await client.query(`set search_path = ''; set jit = off`);
  const { rows } = await client.query<{ schema: string; name: string; text: string }>(databaseObjects);
  return new Map(
    rows.map(({ schema, name, text }) => [
      `${[schema, ...(name ? [name] : [])].map(encodeURIComponent).join('/')}.sql`,
      `${text}\n`,
    ]),
  );
}

/** The owner of the database, written as `current_user`, since its name differs between databases. */
const mainOwner = `(select nspowner from pg_namespace where nspname = 'app_public')`;

const roleName = (oid: string) =>
  `(case ${oid} when 0 then 'public' when ${mainOwner} then 'current_user' else quote_ident(pg_get_userbyid(${oid})) end)`;

const grantee = (acl: string) =>
  `${roleName(`${acl}.grantee`)} || case when ${acl}.is_grantable then ' with grant option' else '' end`;

/** A line for each role except the owner; null without any. */
const grants = (object: string, acl: string, owner: string) => `(
  select string_agg(format('grant %s on %s to %s;', privileges, ${object}, who), E'\\n' order by who collate "C")
  from (
    select ${grantee('a')} as who, string_agg(lower(a.privilege_type), ', ' order by a.privilege_type collate "C") as privileges
    from aclexplode(${acl}) a
    where a.grantee <> ${owner}
    group by who
  ) as granted)`;

/** Null without a comment. */
const comment = (object: string, text: string) =>
  `'comment on ' || ${object} || ' is ' || quote_literal(${text}) || ';'`;

/** A view's query. A restored dump names unnamed columns by their types, so these names are left out. */
const viewText = String.raw`regexp_replace(
  pg_get_viewdef(r.oid, true),
  '(::\w+(?: with(?:out)? time zone)?(?:\[\])?) AS "?(?:text|bool|int2|int4|int8|uuid|timestamptz|jsonb|json|name|regclass|interval|bytea|oid)"?(?=,|\n|$)',
  '\1', 'g')`;

const enabling = (state: string) =>
  `case ${state} when 'D' then 'disable' when 'R' then 'enable replica' when 'A' then 'enable always' else 'enable' end`;

/** Whether an object belongs to no extension. */
const isOwn = (catalog: string, oid: string) =>
  `not exists (select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e')`;

/** One query of the catalogue for each kind of object, with rows `(schema, name, part, key, text)`. */
const kinds = {
  schemas: `
    select nspname, '', 0, '', concat_ws(E'\\n',
      format('create schema %I%s;', nspname, case when nspowner <> ${mainOwner} then ' authorization ' || ${roleName('nspowner')} end),
      ${comment(`format('schema %I', nspname)`, `obj_description(oid, 'pg_namespace')`)},
      ${grants(`format('schema %I', nspname)`, 'nspacl', 'nspowner')})
    from ours where nspname <> 'public'`,
  // In one schema, or by the owner everywhere.
  defaultPrivileges: `
    select coalesce(n.nspname, 'database'), '', 1, '', format('alter default privileges%s%s %s;',
        case when d.defaclrole <> ${mainOwner} then format(' for role %I', pg_get_userbyid(d.defaclrole)) end, ' in schema ' || quote_ident(n.nspname), change)
    from pg_default_acl d
    left join ours n on n.oid = d.defaclnamespace
    cross join lateral (values (case d.defaclobjtype
      when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types' when 'n' then 'schemas' else 'large objects' end)) as o (objects)
    cross join lateral (
      select format('grant %s on %s to %s', string_agg(lower(privilege_type), ', ' order by privilege_type collate "C"), objects, ${roleName('grantee')})
      from aclexplode(d.defaclacl) where grantee <> d.defaclrole group by grantee
      union all
      select format('revoke %s on %s from public', lower(privilege_type), objects)
      from aclexplode(acldefault((case d.defaclobjtype when 'S' then 's' else d.defaclobjtype end)::"char", d.defaclrole))
      where grantee = 0 and d.defaclnamespace = 0
        and not exists (select from aclexplode(d.defaclacl) given where given.grantee = 0)
    ) as changes (change)
    where d.defaclnamespace = 0 or n.oid is not null`,
  eventTriggers: `
    select 'database', '', 2, evtname, format('create event trigger %I on %s%s execute function %s();%s', evtname, evtevent,
      ' when tag in (' || (select string_agg(quote_literal(tag), ', ') from unnest(evttags) as tag) || ')', evtfoid::regproc,
      case when evtenabled <> 'O' then format(E'\\nalter event trigger %I %s;', evtname, ${enabling('evtenabled')}) end)
    from pg_event_trigger where ${isOwn('pg_event_trigger', 'pg_event_trigger.oid')}`,
  tables: `
    select r.schema, r.name, 0, '', concat_ws(E'\\n',
      (select format('-- A partition of %s: %s.', inhparent::regclass, pg_get_expr(r.relpartbound, r.oid)) from pg_inherits where inhrelid = r.oid and r.relispartition),
      format('create %s %s (%s)%s;',
        case r.relkind when 'f' then 'foreign table' else case r.relpersistence when 'u' then 'unlogged table' else 'table' end end, r.oid::regclass,
        E'\\n' || nullif(concat_ws(E',\\n', columns, constraints), '') || E'\\n', concat(
          ' inherits (' || (select string_agg(inhparent::regclass::text, ', ' order by inhseqno) from pg_inherits where inhrelid = r.oid and not r.relispartition) || ')',
          E'\\npartition by ' || pg_get_partkeydef(r.oid),
          E'\\nserver ' || (select quote_ident(srvname) from pg_foreign_table join pg_foreign_server s on s.oid = ftserver where ftrelid = r.oid),
          E'\\nwith (' || options || ')')),
      case when r.relowner <> ${mainOwner} then format('alter table %s owner to %s;', r.oid::regclass, ${roleName('r.relowner')}) end,
      case r.relreplident when 'd' then null else format('alter table %s replica identity %s;', r.oid::regclass,
        case r.relreplident when 'f' then 'full' when 'n' then 'nothing'
          else 'using index ' || (select quote_ident(c.relname) from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = r.oid and i.indisreplident) end) end,
      column_options,
      ${comment(`case r.relkind when 'f' then 'foreign table ' else 'table ' end || r.oid::regclass`, 'r.comment')},
      column_comments)
    from relations r
    left join lateral (
      select
        string_agg(format('  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
          ' collate ' || nullif(a.attcollation, t.typcollation)::regcollation,
          case
            when a.attgenerated <> '' then format(' generated always as (%s)%s', pg_get_expr(d.adbin, d.adrelid, true), case a.attgenerated when 's' then ' stored' else ' virtual' end)
            when a.attidentity <> '' then format(' generated %s as identity', case a.attidentity when 'a' then 'always' else 'by default' end)
            else ' default ' || pg_get_expr(d.adbin, d.adrelid, true)
          end,
          case when a.attnotnull then ' not null' end), E',\\n' order by a.attnum) as columns,
        string_agg(option, E'\\n' order by a.attnum) as column_options,
        string_agg(${comment(`format('column %s.%I', r.oid::regclass, a.attname)`, 'col_description(r.oid, a.attnum)')}, E'\\n' order by a.attnum) as column_comments
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      cross join lateral (
        select string_agg(format('alter table %s alter column %I set %s;', r.oid::regclass, a.attname, change), E'\\n') as option
        from (values
          ('statistics ' || case when a.attstattarget >= 0 then a.attstattarget end),
          ('storage ' || case when a.attstorage <> t.typstorage then
            case a.attstorage when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end end),
          ('compression ' || case a.attcompression when 'p' then 'pglz' when 'l' then 'lz4' end),
          ('(' || array_to_string(a.attoptions, ', ') || ')')) as changes (change)
        where change is not null
      ) as options
      where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    ) as attributes on true
    left join lateral (
      select string_agg(format('  constraint %I %s', conname, pg_get_constraintdef(oid, true)), E',\\n' order by strpos('puxfc', contype::text), conname collate "C") as constraints
      from pg_constraint where conrelid = r.oid and contype in ('p', 'u', 'x', 'f', 'c')
    ) as rules on true
    left join lateral (
      select string_agg(option, ', ' order by option collate "C") as options
      from (
        select unnest(r.reloptions)
        union all
        select 'toast.' || unnest(t.reloptions) from pg_class t where t.oid = r.reltoastrelid
      ) as all_options (option)
    ) as storage on true
    where r.relkind in ('r', 'p', 'f')`,
  constraintComments: `
    select r.schema, r.name, 1, conname, ${comment(`format('constraint %I on %s', conname, r.oid::regclass)`, `obj_description(c.oid, 'pg_constraint')`)}
    from pg_constraint c join relations r on r.oid = c.conrelid`,
  views: `
    select r.schema, r.name, 0, '', concat_ws(E'\\n',
      format(E'create %s %s%s as\\n%s', kind, r.oid::regclass, ' with (' || array_to_string(r.reloptions, ', ') || ')', ${viewText}),
      case when r.relowner <> ${mainOwner} then format('alter %s %s owner to %s;', kind, r.oid::regclass, ${roleName('r.relowner')}) end,
      ${comment(`kind || ' ' || r.oid::regclass`, 'r.comment')},
      (select string_agg(format('alter view %s alter column %I set default %s;', r.oid::regclass, a.attname, pg_get_expr(d.adbin, d.adrelid, true)), E'\\n' order by a.attnum)
       from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum where a.attrelid = r.oid),
      (select string_agg(${comment(`format('column %s.%I', r.oid::regclass, a.attname)`, 'col_description(r.oid, a.attnum)')}, E'\\n' order by a.attnum)
       from pg_attribute a where a.attrelid = r.oid and a.attnum > 0))
    from relations r
    cross join lateral (values (case r.relkind when 'm' then 'materialized view' else 'view' end)) as k (kind)
    where r.relkind in ('v', 'm')`,
  sequences: `
    select r.schema, r.name, 0, '', concat_ws(E'\\n',
      format('create sequence %s as %s start %s increment %s minvalue %s maxvalue %s cache %s%s;', r.oid::regclass, format_type(seqtypid, null),
        seqstart, seqincrement, seqmin, seqmax, seqcache, case when seqcycle then ' cycle' end),
      ${comment(`'sequence ' || r.oid::regclass`, 'r.comment')})
    from relations r join pg_sequence on seqrelid = r.oid
    where not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = r.oid and d.deptype = 'i')`,
  rowSecurity: `
    select schema, name, 2, '', format('alter table %s %s;', oid::regclass, concat_ws(', ',
      case when relrowsecurity then 'enable row level security' end, case when relforcerowsecurity then 'force row level security' end))
    from relations where relrowsecurity or relforcerowsecurity`,
  indexes: `
    select r.schema, r.name, 3, i.indexrelid::regclass::text, concat_ws(E'\\n',
      pg_get_indexdef(i.indexrelid, 0, true) || case when i.indisvalid then ';' else '; -- invalid' end,
      ${comment(`'index ' || i.indexrelid::regclass`, `obj_description(i.indexrelid, 'pg_class')`)})
    from pg_index i join relations r on r.oid = i.indrelid
    where not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))
    union all
    select r.schema, r.name, 3, stxname, pg_get_statisticsobjdef(s.oid) || ';'
    from pg_statistic_ext s join relations r on r.oid = s.stxrelid`,
  policies: `
    select r.schema, r.name, 4, p.polname, concat_ws(E'\\n',
      format('create policy %I on %s%s for %s to %s%s%s;', p.polname, r.oid::regclass, case when not p.polpermissive then ' as restrictive' end,
        case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
        (select string_agg(${roleName('role')}, ', ' order by ${roleName('role')}) from unnest(p.polroles) as role),
        E'\\n  using (' || pg_get_expr(p.polqual, r.oid, true) || ')', E'\\n  with check (' || pg_get_expr(p.polwithcheck, r.oid, true) || ')'),
      ${comment(`format('policy %I on %s', p.polname, r.oid::regclass)`, `obj_description(p.oid, 'pg_policy')`)})
    from pg_policy p join relations r on r.oid = p.polrelid`,
  triggers: `
    select r.schema, r.name, 5, t.tgname, concat_ws(E'\\n',
      pg_get_triggerdef(t.oid, true) || ';',
      case when t.tgenabled <> 'O' then format('alter table %s %s trigger %I;', r.oid::regclass, ${enabling('t.tgenabled')}, t.tgname) end,
      ${comment(`format('trigger %I on %s', t.tgname, r.oid::regclass)`, `obj_description(t.oid, 'pg_trigger')`)})
    from pg_trigger t join relations r on r.oid = t.tgrelid
    where not t.tgisinternal and t.tgparentid = 0`,
  rules: `
    select r.schema, r.name, 6, w.rulename, pg_get_ruledef(w.oid, true)
    from pg_rewrite w join relations r on r.oid = w.ev_class
    where w.rulename <> '_RETURN'`,
  // Privileges on the table or view and on its columns, a line for each role.
  privileges: `
    select schema, name, 7, '', string_agg(format('grant %s on %s%s to %s;', privileges, case relkind when 'S' then 'sequence ' end, oid::regclass, who), E'\\n' order by who collate "C")
    from (
      select schema, name, oid, relkind, who, string_agg(privilege, ', ' order by privilege collate "C") as privileges
      from (
        select r.schema, r.name, r.oid, r.relkind, ${grantee('acl')} as who, lower(acl.privilege_type) as privilege
        from relations r, aclexplode(r.relacl) acl
        where acl.grantee <> r.relowner
        union all
        select r.schema, r.name, r.oid, r.relkind, ${grantee('acl')} as who,
          format('%s (%s)', lower(acl.privilege_type), string_agg(quote_ident(a.attname), ', ' order by a.attnum))
        from relations r join pg_attribute a on a.attrelid = r.oid and not a.attisdropped, aclexplode(a.attacl) acl
        group by r.schema, r.name, r.oid, r.relkind, who, acl.privilege_type
      ) as each
      group by schema, name, oid, relkind, who
    ) as granted
    group by schema, name, oid, relkind`,
  functions: `
    select n.nspname, p.proname, 8, p.oid::regprocedure::text, concat_ws(E'\\n',
      case p.prokind
        when 'a' then (
          select format('create aggregate %s (sfunc = %s, stype = %s%s%s);', p.oid::regprocedure, g.aggtransfn, format_type(g.aggtranstype, null),
            ', finalfunc = ' || nullif(g.aggfinalfn, 0), ', initcond = ' || quote_literal(g.agginitval))
          from pg_aggregate g where g.aggfnoid = p.oid)
        else rtrim(pg_get_functiondef(p.oid), E'\\n') || ';'
      end,
      case when p.proowner <> ${mainOwner} then format('alter %s %s owner to %s;', kind, p.oid::regprocedure, ${roleName('p.proowner')}) end,
      ${comment(`kind || ' ' || p.oid::regprocedure`, `obj_description(p.oid, 'pg_proc')`)},
      ${grants(`replace(kind, 'aggregate', 'function') || ' ' || p.oid::regprocedure`, `coalesce(p.proacl, acldefault('f', p.proowner))`, 'p.proowner')})
    from pg_proc p
    join ours n on n.oid = p.pronamespace
    cross join lateral (values (case p.prokind when 'p' then 'procedure' when 'a' then 'aggregate' else 'function' end)) as k (kind)
    where ${isOwn('pg_proc', 'p.oid')}
      -- Not what a range type brings along.
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'i')`,
  types: `
    select n.nspname, t.typname, 0, '', concat_ws(E'\\n',
      case t.typtype
        when 'c' then format(E'create type %s as (\\n%s\\n);', t.oid::regtype, (
          select string_agg(format('  %I %s%s', a.attname, format_type(a.atttypid, a.atttypmod), ' collate ' || nullif(a.attcollation, u.typcollation)::regcollation), E',\\n' order by a.attnum)
          from pg_attribute a join pg_type u on u.oid = a.atttypid where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped))
        when 'e' then format('create type %s as enum (%s);', t.oid::regtype, (
          select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder) from pg_enum where enumtypid = t.oid))
        when 'd' then format('create domain %s as %s%s%s%s%s;', t.oid::regtype, format_type(t.typbasetype, t.typtypmod),
          ' collate ' || nullif(t.typcollation, (select typcollation from pg_type where oid = t.typbasetype))::regcollation,
          ' default ' || t.typdefault, case when t.typnotnull then ' not null' end, (
          select string_agg(format(E'\\n  constraint %I %s', conname, pg_get_constraintdef(oid, true)), '' order by conname collate "C")
          from pg_constraint where contypid = t.oid and contype = 'c'))
        when 'r' then (select format('create type %s as range (subtype = %s);', t.oid::regtype, format_type(rngsubtype, null)) from pg_range where rngtypid = t.oid)
        else format('create type %s;', t.oid::regtype)
      end,
      case when t.typowner <> ${mainOwner} then format('alter %s %s owner to %s;', kind, t.oid::regtype, ${roleName('t.typowner')}) end,
      ${comment(`kind || ' ' || t.oid::regtype`, `obj_description(t.oid, 'pg_type')`)},
      (select string_agg(${comment(`format('column %s.%I', t.oid::regtype, a.attname)`, 'col_description(t.typrelid, a.attnum)')}, E'\\n' order by a.attnum)
       from pg_attribute a where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0),
      ${grants(`kind || ' ' || t.oid::regtype`, 't.typacl', 't.typowner')})
    from pg_type t
    join ours n on n.oid = t.typnamespace
    cross join lateral (values (case t.typtype when 'd' then 'domain' else 'type' end)) as k (kind)
    where ${isOwn('pg_type', 't.oid')} and t.typtype in ('b', 'c', 'd', 'e', 'r') and t.typelem = 0
      and (t.typrelid = 0 or exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c'))`,
  collations: `
    select n.nspname, c.collname, 0, '', concat_ws(E'\\n',
      format('create collation %s (provider = %s, deterministic = %s%s);', c.oid::regcollation,
        case c.collprovider when 'i' then 'icu' when 'c' then 'libc' when 'b' then 'builtin' else 'default' end, c.collisdeterministic,
        -- PostgreSQL 15 has it as colliculocale, 16 too, 17 and later as colllocale.
        ', locale = ' || quote_literal(coalesce(to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'colliculocale', c.collcollate))),
      ${comment(`'collation ' || c.oid::regcollation`, `obj_description(c.oid, 'pg_collation')`)})
    from pg_collation c join ours n on n.oid = c.collnamespace
    where ${isOwn('pg_collation', 'c.oid')}`,
  // Operators, their classes and text search are named in the file of the schema.
  others: `
    select n.nspname, '', 2, description, '-- ' || description
    from ours n
    join pg_depend d on d.refclassid = 'pg_namespace'::regclass and d.refobjid = n.oid and d.objsubid = 0
    cross join lateral pg_describe_object(d.classid, d.objid, 0) as description
    where d.classid not in ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass, 'pg_collation'::regclass, 'pg_default_acl'::regclass,
      'pg_statistic_ext'::regclass, 'pg_constraint'::regclass, 'pg_extension'::regclass)
      and not exists (select from pg_depend e where e.classid = d.classid and e.objid = d.objid and e.deptype in ('e', 'i'))`,
} as const;

const databaseObjects = `
  with ours as (select * from pg_namespace where nspname !~ '^(pg_|information_schema$|graphile_)'),
  relations as (
    select n.nspname as schema, c.relname as name, c.*, obj_description(c.oid, 'pg_class') as comment
    from pg_class c
    join ours n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'f', 'v', 'm', 'S') and ${isOwn('pg_class', 'c.oid')}
      and not exists (
        select from pg_inherits
        where inhrelid = c.oid and inhparent in (to_regclass('audit.changes'), to_regclass('feed.changes')) and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT')
  ),
  parts (schema, name, part, key, text) as (${Object.values(kinds).join('\n    union all')})
  select schema, name, string_agg(text, E'\\n\\n' order by part, key collate "C", text collate "C") as text
  from parts
  where text <> ''
  group by schema, name
  order by schema collate "C", name collate "C"`;
