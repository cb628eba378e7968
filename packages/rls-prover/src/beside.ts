import { granteesOf, isOwn, isSeen, signature } from './catalogue.ts';
import type { Options } from './interface.ts';

/** A way to rows, policies or claims on which no policy decides. */
export type Beside = {
  invariant: string;
  object: string;
  command: string;
  who: string;
  problem: string | null;
  /** By which object and role it is accepted; null when it cannot be. */
  about: string | null;
  holder: string | null;
};

/**
 * Checks the facts on which the proofs about policies rest.
 *
 * - A cascade changes rows with the rights of their table's owner. These are rows of the same tenant if the foreign key includes it.
 * - A trigger that runs with its owner's rights does what the reason for accepting it says.
 * - A trigger that runs with the caller's rights does nothing that the caller could not do, unless a cascade runs it.
 * - Claims are constants of the transaction unless something sets them. Known setters are in `broken`; functions that run text are found here.
 * - A client owns no object and may grant no right. It reads only those of PostgreSQL's own objects that everybody may read.
 */
export async function readBeside({
  client,
  roles,
  assumptions: { tenant, ignoredSchemas, broken = [] } = {},
}: Pick<Options, 'client' | 'roles' | 'assumptions'>): Promise<Beside[]> {
  const { invariant = null, column = null, relation = null } = tenant ?? {};
  const values = [roles, ignoredSchemas ?? null, invariant, column, relation, JSON.stringify(broken)];
  return (await client.query(statement, values)).rows;
}

/** Whether a role is one of a client, which it may become, or PUBLIC. */
const isClients = (oid: string) =>
  `(${oid} = 0 or exists (select from unnest($1::text[]) as client where pg_has_role(client, nullif(${oid}, 0::oid), 'member')))`;

const statement = `
  with owned (object, owner, acl, system, described) as (
    select c.oid::regclass::text, c.relowner, c.relacl, n.nspname in ('pg_catalog', 'information_schema'), c.relkind::text
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    union all
    select c.oid::regclass || '.' || a.attname, c.relowner, a.attacl, n.nspname in ('pg_catalog', 'information_schema'), 'c'
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace where a.attacl is not null
    union all
    select p.oid::regprocedure::text, p.proowner, p.proacl, n.nspname in ('pg_catalog', 'information_schema'), 'f'
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    union all
    select n.nspname, n.nspowner, n.nspacl, false, 'n' from pg_namespace n
    union all
    select t.oid::regtype::text, t.typowner, t.typacl, false, 't' from pg_type t where t.typtype in ('b', 'd', 'e', 'r')
    union all
    select o.oid::regoperator::text, o.oprowner, null, false, 'o' from pg_operator o
    union all
    select d.datname, d.datdba, d.datacl, false, 'd' from pg_database d where d.datname = current_database()
  ),
  rights as (
    select o.*, r.grantee, r.privilege_type as privilege, r.is_grantable
    from owned o, aclexplode(o.acl) r
    where r.grantee <> o.owner and ${isClients('r.grantee')}
  ),
  functions as (
    select p.*, ${signature} as name, array_to_string(${granteesOf}, ', ') as holder
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${isSeen}
  ),
  tables as (
    select c.oid, format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${isSeen}
  )
  select 'rights' as invariant, object, 'own' as command, pg_get_userbyid(owner)::text as who, 'a client owns it' as problem, null as about, null as holder
  from owned where ${isClients('owner')}
  union all
  select 'rights', object, 'grant', coalesce(nullif(grantee, 0::oid)::regrole::text, 'public'), 'a client may pass a right on', null, null
  from rights where is_grantable
  union all
  select 'rights', object, lower(privilege), coalesce(nullif(grantee, 0::oid)::regrole::text, 'public'), 'a client may make objects, or hang its own on those of others', null, null
  from rights where described <> 'd' and not system and privilege in ('TRIGGER', 'REFERENCES', 'MAINTAIN', 'CREATE') or described = 'd' and privilege = 'CREATE'
  union all
  select 'rights', object, lower(privilege), grantee::regrole::text, 'it is PostgreSQL''s own, and guarded by no policy', null, null
  from rights where system and grantee <> 0
  union all
  select 'rights', c.oid::regclass::text, lower(r.privilege_type), 'public', 'it is PostgreSQL''s own, and guarded by no policy', null, null
  from pg_class c
  join pg_init_privs i on i.objoid = c.oid and i.classoid = 'pg_class'::regclass and i.objsubid = 0
  cross join aclexplode(c.relacl) r
  where r.grantee = 0 and not exists (select from aclexplode(i.initprivs) f where f.grantee = 0 and f.privilege_type = r.privilege_type)
  union all
  select 'rights', object, lower(privilege), grantee::regrole::text, 'what is in this schema is not looked at', null, null
  from rights where described = 'n' and object ~ $2
  union all
  select 'rights', p.oid::regprocedure::text, 'call', 'everybody', 'it is hidden among PostgreSQL''s own', null, null
  from pg_proc p
  where ${isOwn('p.oid')} and p.pronamespace::regnamespace::text ~ '^(pg_|information_schema$)'
    and exists (select from unnest($1::text[]) as client where has_function_privilege(client, p.oid, 'execute'))
  union all
  select 'rights', m.roleid::regrole::text, 'become', m.member::regrole::text, 'a client may pass its role on, or has one of PostgreSQL''s', null, null
  from pg_auth_members m
  where ${isClients('m.member')} and (m.admin_option or m.roleid::regrole::text ~ '^pg_')
  union all
  select 'claims', f.name, 'call', f.holder, 'runs text, or changes settings or the role', f.name, f.holder
  from functions f
  join pg_language l on l.oid = f.prolang
  where not f.prosecdef and f.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
    and (
      f.prosrc ~* '\\yexecute\\y|pg_settings|\\y(re)?set\\s+((local|session)\\s+)*(role|session|all)\\y|set_config\\s*\\(\\s*''(role|session_authorization)'
      or array_to_string(f.proconfig, ',') ~ '(^|,)(role|session_authorization)=' or (not l.lanpltrusted and l.lanname not in ('c', 'internal')))
    and exists (select from unnest($1::text[]) as client where has_function_privilege(client, f.oid, 'execute'))
  union all
  select 'definer', format('%s on %s', t.tgname, r.name), 'trigger', 'everybody', 'runs with the rights of the owner when rows go along with others',
    format('%s on %s', t.tgname, r.name), 'everybody'
  from pg_trigger t
  join tables r on r.oid = t.tgrelid
  join pg_proc p on p.oid = t.tgfoid
  where not t.tgisinternal and not p.prosecdef and t.tgparentid = 0 and exists (
    select from pg_constraint k
    where k.conrelid = t.tgrelid and k.contype = 'f'
      and ((t.tgtype & 8 <> 0 and k.confdeltype = 'c') or (t.tgtype & 16 <> 0 and (k.confdeltype in ('n', 'd') or k.confupdtype in ('c', 'n', 'd')))))
  union all
  select coalesce($3::text, 'cascade') as invariant, format('%s on %s', k.conname, r.name) as object, 'cascade' as command, 'everybody' as who,
    case
      when $3 is null then 'changes rows with the rights of their owner'
      when not exists (
        select from unnest(k.conkey, k.confkey) as pair (own, other)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = pair.own
        join pg_attribute b on b.attrelid = k.confrelid and b.attnum = pair.other
        where a.attname = $4::text and (b.attname = $4::text or k.confrelid = to_regclass($5::text)))
      then format('reaches rows of other %ss', $3)
    end as problem,
    r.name, 'everybody'
  from pg_constraint k
  join tables r on r.oid = k.conrelid
  where k.contype = 'f' and k.conparentid = 0 and (k.confdeltype in ('c', 'n', 'd') or k.confupdtype in ('c', 'n', 'd'))
  union all
  select 'definer', f.name, 'trigger', 'everybody', 'runs with the rights of its owner', f.name, coalesce(nullif(f.holder, ''), 'nobody')
  from functions f
  where f.prosecdef and exists (select from pg_trigger t where t.tgfoid = f.oid)
  union all
  select b.invariant, b.relation, b.command, b.role, b.why, null, null
  from jsonb_to_recordset($6) as b (invariant text, relation text, command text, role text, why text)
  order by 1, 2`;
