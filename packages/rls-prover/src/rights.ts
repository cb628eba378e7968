import { isOwn, isSeen } from './fragments.ts';
import type { Goal, Options } from './interface.ts';

/** A right or an attribute of a client on which no policy decides. */
type Right = Goal & { why: string };

/**
 * Computes from the catalogue what clients may reach beside tables, views and functions.
 *
 * Each object that has an owner or an access control list is looked at, and each entry of a client or PUBLIC. PostgreSQL's own objects keep
 * the list that `initdb` gave them (`pg_init_privs`, or the default of their kind): a further entry is a right that no policy guards. Rights
 * to read or change rows and to call functions are left out here: goals and functions judge them.
 */
export const readRights = async ({
  client,
  roles,
  assumptions,
}: Pick<Options, 'client' | 'roles' | 'assumptions'>): Promise<Right[]> =>
  (await client.query(statement, [roles, assumptions?.ignoredSchemas ?? null])).rows;

/**
 * Kinds of objects: the catalogue, its columns of owner and list, the default list, and how it is named. `null` is what a kind has not; as
 * a name it is a name that takes long to write, for thousands of objects of which few are shown: `nameOf`.
 */
const kinds: readonly (readonly string[])[] = [
  ['pg_class', 'relowner', 'relacl', `case when x.relkind = 'S' then 's' else 'r' end`, 'null', 'x.relnamespace'],
  ['pg_proc', 'proowner', 'proacl', `'f'`, 'null', 'x.pronamespace'],
  ['pg_namespace', 'nspowner', 'nspacl', `'n'`, 'x.nspname::text', 'x.oid'],
  ['pg_type', 'typowner', 'typacl', `'T'`, 'null', 'x.typnamespace'],
  ['pg_language', 'lanowner', 'lanacl', `'l'`, 'x.lanname::text', 'null'],
  ['pg_foreign_data_wrapper', 'fdwowner', 'fdwacl', `'F'`, 'x.fdwname::text', 'null'],
  ['pg_foreign_server', 'srvowner', 'srvacl', `'S'`, 'x.srvname::text', 'null'],
  ['pg_largeobject_metadata', 'lomowner', 'lomacl', `'L'`, `'large object ' || x.oid`, 'null'],
  ['pg_operator', 'oprowner', 'null', 'null', 'null', 'x.oprnamespace'],
  ['pg_opclass', 'opcowner', 'null', 'null', 'x.opcname::text', 'x.opcnamespace'],
  ['pg_opfamily', 'opfowner', 'null', 'null', 'x.opfname::text', 'x.opfnamespace'],
  ['pg_collation', 'collowner', 'null', 'null', 'x.collname::text', 'x.collnamespace'],
  ['pg_conversion', 'conowner', 'null', 'null', 'x.conname::text', 'x.connamespace'],
  ['pg_statistic_ext', 'stxowner', 'null', 'null', 'x.stxname::text', 'x.stxnamespace'],
  ['pg_ts_config', 'cfgowner', 'null', 'null', 'x.cfgname::text', 'x.cfgnamespace'],
  ['pg_ts_dict', 'dictowner', 'null', 'null', 'x.dictname::text', 'x.dictnamespace'],
  ['pg_event_trigger', 'evtowner', 'null', 'null', 'x.evtname::text', 'null'],
  ['pg_publication', 'pubowner', 'null', 'null', 'x.pubname::text', 'null'],
  ['pg_extension', 'extowner', 'null', 'null', 'x.extname::text', 'null'],
];

const nameOf = `coalesce(name, case class
    when 'pg_class'::regclass then id::regclass::text when 'pg_proc'::regclass then id::regprocedure::text
    when 'pg_type'::regclass then id::regtype::text when 'pg_operator'::regclass then id::regoperator::text end)`;

const objects = kinds
  .map(
    ([catalogue, owner, acl, kind, name, schema]) => `
      select '${catalogue}'::regclass, x.oid, 0, ${kind}::"char", ${name}::text, ${schema}::oid, x.${owner}, ${acl === 'null' ? 'null::aclitem[]' : `x.${acl}`}
      from ${catalogue} x`,
  )
  .join(' union all');

const statement = `
  with client (oid) as (
    select 0::oid union all
    select r.oid from pg_roles r where exists (select from unnest($1::text[]) as client where pg_has_role(client, r.oid, 'member'))
  ),
  object (class, id, part, kind, name, schema, owner, acl) as (
    ${objects}
    union all
    select 'pg_class'::regclass, c.oid, a.attnum, 'c'::"char", c.oid::regclass || '.' || quote_ident(a.attname), c.relnamespace, c.relowner, a.attacl
    from pg_attribute a join pg_class c on c.oid = a.attrelid where a.attacl is not null
    union all
    select 'pg_database'::regclass, d.oid, 0, 'd'::"char", d.datname::text, null, d.datdba, d.datacl from pg_database d where d.datname = current_database()
  ),
  looked_at as (
    select o.*, ${isOwn('o.id')} and o.class <> 'pg_database'::regclass as is_own,
      coalesce(s.is_hidden, false) as is_hidden
    from object o left join (select n.oid, not ${isSeen} as is_hidden from pg_namespace n) s on s.oid = o.schema
  ),
  held as (
    select o.*, r.grantee, r.privilege_type as privilege, r.is_grantable
    from looked_at o, aclexplode(coalesce(o.acl, acldefault(o.kind, o.owner))) r
    where o.kind is not null and r.grantee <> o.owner and r.grantee in (select oid from client)
  ),
  initial (class, id, part, grantee, privilege) as (
    select o.class, o.id, o.part, r.grantee, r.privilege_type
    from looked_at o
    left join pg_init_privs i on i.objoid = o.id and i.classoid = o.class and i.objsubid = o.part and i.privtype = 'i',
    aclexplode(coalesce(i.initprivs, acldefault(o.kind, o.owner))) r
    where not o.is_own and o.kind is not null
    union all
    -- PostgreSQL grants these after it has noted what it granted. They show what the reader may know.
    select o.class, o.id, o.part, 0, case o.kind when 'n' then 'USAGE' else 'SELECT' end
    from looked_at o
    where not o.is_own and (o.kind = 'n' and o.name = 'information_schema' or o.kind = 'r' and o.schema = 'information_schema'::regnamespace
      and exists (select from pg_class c where c.oid = o.id and c.relname ~ '^[a-z]'))
  )
  select 'rights' as invariant, ${nameOf} as relation, 'own' as command, pg_get_userbyid(owner)::text as role, 'a client owns it' as why
  from looked_at where owner in (select oid from client)
  union all
  select 'rights', ${nameOf}, 'grant', coalesce(nullif(grantee, 0::oid)::regrole::text, 'public'), 'a client may pass a right on'
  from held where is_grantable
  union all
  select 'rights', ${nameOf}, lower(privilege), coalesce(nullif(grantee, 0::oid)::regrole::text, 'public'),
    case
      when kind = 'd' then 'a client may make objects, which may stand in the place of others'
      when not is_own then 'it is PostgreSQL''s own, and guarded by no policy'
      when is_hidden and class = 'pg_namespace'::regclass then 'what is in this schema is not looked at'
      when is_hidden then 'it is hidden among PostgreSQL''s own'
      when kind in ('F', 'S', 'L') then 'no policy guards it'
      else 'a client may make objects, or hang its own on those of others'
    end
  from held left join initial using (class, id, part, grantee, privilege)
  where case
    when kind = 'd' then privilege in ('CREATE', 'TEMPORARY')
    when not is_own then initial.id is null
    -- An ignored schema is judged once, by the right to use it.
    when is_hidden then class = 'pg_namespace'::regclass or (select nspname ~ '^(pg_|information_schema$)' from pg_namespace where oid = schema) and kind in ('r', 'c', 'f', 's')
    when kind in ('F', 'S', 'L') then true
    else privilege in ('TRIGGER', 'REFERENCES', 'MAINTAIN', 'CREATE')
  end
  union all
  select 'rights', p.parname, lower(r.privilege_type), coalesce(nullif(r.grantee, 0::oid)::regrole::text, 'public'), 'a client may set what only a superuser may'
  from pg_parameter_acl p, aclexplode(p.paracl) r where r.grantee in (select oid from client)
  union all
  select 'rights', m.roleid::regrole::text, 'become', m.member::regrole::text, 'a client may pass its role on, or has one of PostgreSQL''s'
  from pg_auth_members m
  where m.member in (select oid from client) and (m.admin_option or m.roleid::regrole::text ~ '^pg_')
  union all
  select 'rights', r.rolname::text, 'be', r.rolname::text, 'a client may make roles, pass policies by, or read what is replicated'
  from pg_roles r where r.oid in (select oid from client) and not r.rolsuper and (r.rolcreaterole or r.rolreplication or r.rolbypassrls)
  union all
  select 'rights', p.oid::regprocedure::text, 'call', 'everybody', 'it is leakproof by its own word, and may be asked before policies are'
  from pg_proc p where p.proleakproof and ${isOwn('p.oid')} and exists (
    select from client where client.oid <> 0 and has_function_privilege(client.oid, p.oid, 'execute'))
  order by 2, 3, 4`;
