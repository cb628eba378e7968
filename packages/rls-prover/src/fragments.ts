/** A part of a name, in quotes if it has a dot, so that no name is read as another one. */
const part = (name: string) => `case when ${name} ~ '[."]' then to_json(${name}::text)::text else ${name} end`;

/** The name of a type; a domain is compared as what it is made of, at any depth, unless it cuts or rounds values. */
export const typeName = (oid: string) => `(
  with recursive made (oid, typbasetype, typtype, typtypmod, typname, typnamespace, typelem, typcategory) as (
    select named.oid, typbasetype, typtype, typtypmod, typname, typnamespace, typelem, typcategory from pg_type named where named.oid = ${oid}
    union all
    select b.oid, b.typbasetype, b.typtype, b.typtypmod, b.typname, b.typnamespace, b.typelem, b.typcategory
    from made join pg_type b on made.typtype = 'd' and made.typtypmod = -1 and b.oid = made.typbasetype)
  select case when ns.nspname = 'pg_catalog' then '' else ${part('ns.nspname')} || '.' end
    || case when element.oid is null then ${part('base.typname')} else ${part('element.typname')} || '[]' end
  from made base
  left join pg_type element on element.oid = base.typelem and base.typcategory = 'A'
  join pg_namespace ns on ns.oid = coalesce(element.typnamespace, base.typnamespace)
  where base.typtype <> 'd' or base.typtypmod <> -1)`;

/** The names of those types, each computed once: PostgreSQL's own functions and operators have few types and are many. */
export const typeNames = (oids: string) =>
  `type_names (oid, name) as materialized (select t.oid, ${typeName('t.oid')} from pg_type t where t.oid in (${oids}))`;

/** Whether an object was made in this database, whatever its schema (`FirstNormalObjectId`). */
export const isOwn = (oid: string) => `(${oid} >= 16384)`;

/**
 * The functions of extensions that PostgreSQL marks as trusted: nothing in them goes beyond what an owner of the database may do.
 * The mark is in the server's files, and no owner of an extension can set it.
 */
export const trustedMembers = `(
  select d.objid from pg_extension e
  join pg_available_extension_versions v on v.name = e.extname and v.version = e.extversion and v.trusted
  join pg_depend d on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.classid = 'pg_proc'::regclass and d.deptype = 'e')`;

/** Whether a schema `n` is looked at; `$2` are those that are not, beside PostgreSQL's own. */
export const isSeen = `(n.nspname !~ '^(pg_|information_schema$)' and ($2::text is null or n.nspname !~ $2))`;

/** The roles to which a function `p` is granted. */
export const granteesOf = `array(
  select case acl.grantee when 0 then 'public' else pg_get_userbyid(acl.grantee)::text end
  from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl where acl.grantee <> p.proowner order by 1)`;

/** The name of a function `p` of a schema `n`. */
export const signature = `format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes))`;

/** The name of a function by its oid, whether it runs with its owner's rights, and all to whom it is granted. */
export const signatureAndHolder = (oid: string) => `
  select ${signature.replaceAll('n.nspname', 'pn.nspname')} as signature, p.prosecdef as is_definer, array_to_string(${granteesOf}, ', ') as holder
  from pg_proc p join pg_namespace pn on pn.oid = p.pronamespace where p.oid = ${oid}`;
