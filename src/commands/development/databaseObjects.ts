import { hash } from 'node:crypto';
import type { ClientBase } from 'pg';

/** A part of an object: of a table its columns, a key, an index, a policy or a trigger; of a function one signature. */
export type ObjectPart = {
  readonly schema: string;
  /** Of the table, view, function or type; empty for the schema itself. */
  readonly name: string;
  /** As SQL names it, such as `policy select_graph_app on app_public.users`. */
  readonly subject: string;
  readonly definition: string;
  /** Statements that give it another owner, and rights to others than its owner. */
  readonly rights: string | null;
  readonly description: string | null;
  /** The statements of its comments, those of its columns among them. */
  readonly comments: string | null;
};

/**
 * Every part of the database's objects as SQL, by schema and object.
 * Partitions of the history and of the change feed are left out, except the default ones. PostgreSQL prints expressions and views, so
 * another major version may format them otherwise.
 *
 * @param client a session of this function's own, whose search path it empties, so that every name is qualified
 */
export async function readObjectParts(client: ClientBase): Promise<ObjectPart[]> {
  await client.query(`set search_path = ''; set jit = off`);
  return (await client.query<ObjectPart>(objectParts)).rows;
}

/** The full text of each object, by its file in `test/database/objects`. */
export function objectTexts(parts: readonly ObjectPart[]): ReadonlyMap<string, string> {
  const text = ({ definition, comments, rights }: ObjectPart) =>
    [definition, comments, rights].filter(Boolean).join('\n');
  const objects = Map.groupBy(parts, ({ schema, name }) => objectPath(schema, name));
  return new Map([...objects].map(([path, all]) => [path, `${all.map(text).join('\n\n')}\n`]));
}

export const objectPath = (...names: string[]) => `${names.filter(Boolean).map(encodeURIComponent).join('/')}.sql`;

export const readDatabaseObjects = async (client: ClientBase) => objectTexts(await readObjectParts(client));

/** `test/database/catalogue.sql`: each part on lines that name it, with a digest of its comments and of a longer body. */
export function catalogueOf(parts: readonly ObjectPart[]): string {
  const objects = Map.groupBy(parts, ({ schema, name }) => objectPath(schema, name));
  const blocks = [...objects.values()].map((all) => all.map(catalogueEntry).join('\n'));
  return `${[catalogueHeading, ...blocks].join('\n\n')}\n`;
}

const catalogueHeading =
  '-- `npm run schema:update` writes this file. After "--" is a digest of the body, if it is not here, and of the comments.';

function catalogueEntry({ subject, definition, comments, rights }: ObjectPart): string {
  const [first = '', ...others] = definition.split('\n');
  const hasBody = /^(policy|(materialized )?view|function|procedure|rule) /.test(subject);
  const hidden = [hasBody && definition, comments].filter(Boolean).join('\n');
  const digest = hidden && ` -- ${hash('sha256', hidden).slice(0, 12)}`;
  return [first + digest, ...(hasBody ? [] : others), ...(rights ? [rights] : [])].join('\n');
}

/** The owner of the database, written as `current_user`, since its name differs between databases. */
const mainOwner = `(select nspowner from pg_namespace where nspname = 'app_public')`;

const roleName = (oid: string) =>
  `(case ${oid} when 0 then 'public' when ${mainOwner} then 'current_user' else quote_ident(pg_get_userbyid(${oid})) end)`;

const grantee = (acl: string) =>
  `${roleName(`${acl}.grantee`)} || case when ${acl}.is_grantable then ' with grant option' else '' end`;

/** The columns of a table or a composite type, each on a line. */
const columns = (relation: string) => `(
  select E'\\n' || string_agg(format('  %I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
    ' collate ' || nullif(a.attcollation, u.typcollation)::regcollation,
    case
      when a.attgenerated <> '' then format(' generated always as (%s) %s', pg_get_expr(d.adbin, d.adrelid, true),
        case a.attgenerated when 's' then 'stored' else 'virtual' end)
      when a.attidentity <> '' then format(' generated %s as identity', case a.attidentity when 'a' then 'always' else 'by default' end)
      else ' default ' || pg_get_expr(d.adbin, d.adrelid, true)
    end,
    case when a.attnotnull then ' not null' end), E',\\n' order by a.attnum) || E'\\n'
  from pg_attribute a
  join pg_type u on u.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = ${relation} and a.attnum > 0 and not a.attisdropped)`;

/** A view's query. A restored dump names unnamed columns by their types, so these names are left out. */
const viewText = String.raw`regexp_replace(pg_get_viewdef(oid, true),
  '(::\w+(?: with(?:out)? time zone)?(?:\[\])?) AS "?(?:text|bool|int[248]|uuid|timestamptz|jsonb?|name|regclass|interval|bytea|oid)"?(?=,|\n|$)',
  '\1', 'g')`;

/** Whether an object belongs to no extension, and was not made for another object. */
const isOwn = (catalog: string, oid: string) => `not exists (
  select from pg_depend d where d.classid = ${catalog} and d.objid = ${oid} and d.objsubid = 0 and d.deptype in ('e', 'i'))`;

/** One query of the catalogue for each kind of part; `relation` has the columns whose comments and rights belong to it. */
const kinds = {
  schemas: `
    select 'pg_namespace'::regclass, oid, 0::oid, nspname::text, ''::text, 0, format('schema %I', nspname),
      format('create schema %I;', nspname), nspowner, nspacl
    from ours where nspname <> 'public'`,
  // In one schema, or by the owner everywhere: these replace PostgreSQL's own, by which every role executes functions.
  defaultPrivileges: `
    select 'pg_default_acl', d.oid, 0, coalesce(n.nspname, 'database'), '', 1, objects,
      format('-- Default privileges on %s of %s%s:', objects, ${roleName('d.defaclrole')}, ' in schema ' || quote_ident(n.nspname)),
      null, d.defaclacl
    from pg_default_acl d
    left join ours n on n.oid = d.defaclnamespace
    cross join lateral (values (case d.defaclobjtype
      when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions' when 'T' then 'types' else 'schemas' end)) as o (objects)
    where d.defaclnamespace = 0 or n.oid is not null`,
  relations: `
    select 'pg_class', oid, oid, schema, name, 0, subject, case
        when relkind in ('v', 'm') then
          format(E'create %s%s as\\n%s', subject, ' with (' || array_to_string(reloptions, ', ') || ')', ${viewText})
        when relkind = 'S' then format('create %s;', subject)
        else concat_ws(E'\\n',
          (select format('-- A partition of %s: %s.', inhparent::regclass, pg_get_expr(relpartbound, oid))
            from pg_inherits where inhrelid = oid and relispartition),
          format('create %s%s (%s)%s%s;', case relpersistence when 'u' then 'unlogged ' end, subject, ${columns('relations.oid')},
            E'\\npartition by ' || pg_get_partkeydef(oid), E'\\nwith (' || array_to_string(reloptions, ', ') || ')'),
          format('alter table %s ', full_name) || nullif(concat_ws(', ', case when relrowsecurity then 'enable row level security' end,
            case when relforcerowsecurity then 'force row level security' end), '') || ';')
      end, relowner, relacl
    from relations`,
  constraints: `
    select 'pg_constraint', c.oid, 0, schema, name, 1, format('constraint %I on %s', conname, full_name),
      format('alter table %s add constraint %I %s;', full_name, conname, pg_get_constraintdef(c.oid, true)), null, null
    from pg_constraint c join relations r on r.oid = conrelid
    where contype in ('p', 'u', 'x', 'f', 'c')`,
  indexes: `
    select 'pg_class', indexrelid, 0, schema, name, 3, 'index ' || indexrelid::regclass,
      pg_get_indexdef(indexrelid, 0, true) || case when indisvalid then ';' else '; -- invalid' end, null, null
    from pg_index join relations r on r.oid = indrelid`,
  policies: `
    select 'pg_policy', p.oid, 0, schema, name, 4, format('policy %I on %s', polname, full_name),
      format('create policy %I on %s%s for %s to %s%s%s;', polname, full_name, case when not polpermissive then ' as restrictive' end,
        case polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
        (select string_agg(${roleName('role')}, ', ' order by ${roleName('role')}) from unnest(polroles) as role),
        E'\\n  using (' || pg_get_expr(polqual, r.oid, true) || ')',
        E'\\n  with check (' || pg_get_expr(polwithcheck, r.oid, true) || ')'), null, null
    from pg_policy p join relations r on r.oid = polrelid`,
  triggers: `
    select 'pg_trigger', t.oid, 0, schema, name, 5, format('trigger %I on %s', tgname, full_name),
      format('%s;%s', pg_get_triggerdef(t.oid, true), ' -- tgenabled: ' || nullif(tgenabled::text, 'O')), null, null
    from pg_trigger t join relations r on r.oid = tgrelid
    where not tgisinternal and tgparentid = 0`,
  rules: `
    select 'pg_rewrite', w.oid, 0, schema, name, 6, format('rule %I on %s', rulename, full_name), pg_get_ruledef(w.oid, true), null, null
    from pg_rewrite w join relations r on r.oid = ev_class
    where rulename <> '_RETURN'`,
  functions: `
    select 'pg_proc', p.oid, 0, nspname, proname, 8,
      case prokind when 'p' then 'procedure ' when 'a' then 'aggregate ' else 'function ' end || p.oid::regprocedure,
      case prokind
        when 'a' then (select format('create aggregate %s (sfunc = %s, stype = %s);', p.oid::regprocedure, aggtransfn, aggtranstype::regtype)
          from pg_aggregate where aggfnoid = p.oid)
        else rtrim(pg_get_functiondef(p.oid), E'\\n') || ';'
      end,
      proowner, coalesce(proacl, acldefault('f', proowner))
    from pg_proc p join ours n on n.oid = pronamespace`,
  types: `
    select 'pg_type', t.oid, typrelid, nspname, typname, 0, case typtype when 'd' then 'domain ' else 'type ' end || t.oid::regtype,
      case typtype
        when 'c' then format('create type %s as (%s);', t.oid::regtype, ${columns('t.typrelid')})
        when 'e' then format('create type %s as enum (%s);', t.oid::regtype, (
          select string_agg(quote_literal(enumlabel), ', ' order by enumsortorder) from pg_enum where enumtypid = t.oid))
        when 'd' then format('create domain %s as %s%s%s%s%s;', t.oid::regtype, format_type(typbasetype, typtypmod),
          ' collate ' || nullif(typcollation, (select typcollation from pg_type where oid = t.typbasetype))::regcollation,
          ' default ' || typdefault, case when typnotnull then ' not null' end, (
          select string_agg(format(E'\\n  constraint %I %s', conname, pg_get_constraintdef(oid, true)), '' order by conname collate "C")
          from pg_constraint where contypid = t.oid and contype = 'c'))
        else format('create type %s;', t.oid::regtype)
      end, typowner, typacl
    from pg_type t join ours n on n.oid = typnamespace
    where typtype in ('b', 'c', 'd', 'e', 'r') and typelem = 0
      and (typrelid = 0 or exists (select from pg_class where oid = typrelid and relkind = 'c'))`,
  // Collations, operators, statistics and text search are named with the schema.
  others: `
    select d.classid::regclass, d.objid, 0, nspname, '', 2, description, '-- ' || description, null, null
    from ours n
    join pg_depend d on d.refclassid = 'pg_namespace'::regclass and d.refobjid = n.oid and d.objsubid = 0
    cross join lateral pg_describe_object(d.classid, d.objid, 0) as description
    where d.classid::regclass::text not in ('pg_class', 'pg_proc', 'pg_type', 'pg_default_acl', 'pg_constraint', 'pg_extension')`,
} as const;

const objectParts = `
  with ours as (select * from pg_namespace where nspname !~ '^(pg_|information_schema$|graphile_)'),
  relations as (
    select n.nspname::text as schema, c.relname::text as name, c.oid::regclass as full_name, c.*,
      case relkind when 'v' then 'view ' when 'm' then 'materialized view ' when 'S' then 'sequence ' when 'f' then 'foreign table '
        else 'table ' end || c.oid::regclass as subject
    from pg_class c join ours n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'f', 'v', 'm', 'S') and ${isOwn(`'pg_class'::regclass`, 'c.oid')}
      and not exists (
        select from pg_inherits
        where inhrelid = c.oid and inhparent in (to_regclass('audit.changes'), to_regclass('feed.changes'))
          and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT')
  ),
  parts (catalog, oid, relation, schema, name, place, subject, definition, owner, acl) as (${Object.values(kinds).join('\n    union all')})
  select schema, name, subject, definition, description,
    nullif(concat_ws(E'\\n', case when owner <> ${mainOwner} then format('alter %s owner to %s;', subject, ${roleName('owner')}) end, (
      select string_agg(format('grant %s on %s to %s;', privileges,
        replace(regexp_replace(subject, '^((materialized )?view|(foreign )?table) ', ''), 'aggregate ', 'function '), who),
        E'\\n' order by who collate "C")
      from (
        select who, string_agg(privilege, ', ' order by privilege collate "C") as privileges
        from (
          select ${grantee('a')} as who, lower(a.privilege_type) as privilege
          from aclexplode(acl) a
          where a.grantee is distinct from owner
          union all
          select ${grantee('a')}, format('%s (%s)', lower(privilege_type), string_agg(quote_ident(attname), ', ' order by attnum))
          from pg_attribute, aclexplode(attacl) a
          where attrelid = relation and not attisdropped
          group by 1, privilege_type
        ) as given
        group by who
      ) as granted)), '') as rights,
    nullif(concat_ws(E'\\n', format('comment on %s is ', subject) || quote_literal(description) || ';', (
      select string_agg(format('comment on column %s.%I is %L;', relation::regclass, attname, col_description(relation, attnum)),
        E'\\n' order by attnum)
      from pg_attribute
      where attrelid = relation and attnum > 0 and col_description(relation, attnum) is not null)), '') as comments
  from parts
  cross join lateral (select obj_description(parts.oid, parts.catalog::text::name)) as described (description)
  where ${isOwn('parts.catalog', 'parts.oid')}
  order by schema collate "C", name collate "C", place, subject collate "C"`;
