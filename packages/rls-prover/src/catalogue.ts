import type { Options } from './interface.ts';

/**
 * The part of PostgreSQL's catalogue that decides about access.
 * Names of types are canonical: `uuid`, `text[]`, `app_public.kind`.
 */
export type Catalogue = {
  relations: ReadonlyMap<string, Relation>;
  functions: ReadonlyMap<string, readonly Routine[]>;
  triggers: readonly Trigger[];
  roles: ReadonlyMap<string, Role>;
  /** PostgreSQL's own functions: the most volatile overload, and the type by number of arguments. */
  builtins: ReadonlyMap<string, Builtin>;
  /** Types whose equality is identity, by the family within which they are compared. */
  families: ReadonlyMap<string, string>;
  /** Operators between types of PostgreSQL's that are not its own, by name. */
  operators: ReadonlySet<string>;
  /** What PostgreSQL's operators yield for a type on their left, `->> jsonb`, where that does not depend on the right. */
  results: ReadonlyMap<string, Result>;
  /** Casts between these, `from to`. */
  casts: ReadonlySet<string>;
  /** The settings of claims. */
  settings: ReadonlySet<string>;
  /** Functions that are not PostgreSQL's own and have the name of one that is. */
  ownNames: ReadonlySet<string>;
  /** Domains whose check calls a function of the database's own. */
  checkedDomains: ReadonlySet<string>;
  /** Composite types, which are null when their parts are. */
  composites: ReadonlySet<string>;
  /** Whether there is a collation that takes different texts for equal. */
  hasOwnOrders: boolean;
};

/** The suffix of the names of types whose collation takes different texts for equal. */
export const ownOrder = ' of its own order';

export type Relation = {
  name: string;
  kind: 'table' | 'partition' | 'view' | 'materialized view' | 'foreign table';
  owner: string;
  rowSecurity: 'off' | 'on, not forced' | 'forced' | null;
  columns: readonly Column[];
  checks: readonly string[];
  foreignKeys: readonly ForeignKey[];
  /** What foreign keys do to its rows when the rows that they refer to are deleted or get another key. */
  actions: readonly Action[];
  /** Columns that no two rows share, none of them null. */
  keys: readonly (readonly string[])[];
  policies: readonly Policy[];
  /** What it is a partition or child of, at any depth. */
  parents: readonly string[];
  /** A view's query. */
  definition: string | null;
  isInvoker: boolean;
  /** Whether its conditions are asked before those of who reads it. */
  isBarrier: boolean;
  /** Columns that a command writes though nobody names them: triggers assign them, or they are generated. */
  assigned: { insert: readonly string[]; update: readonly string[] };
  /** Whether rules or triggers do something else than what a command says. */
  isRewritten: boolean;
  /** The columns that a role may use, by `command role`; of `delete` and `truncate` all or none. */
  privileges: Readonly<Record<string, readonly string[]>>;
};

export type Column = {
  name: string;
  type: string;
  notNull: boolean;
  default: string | null;
  isGenerated: boolean;
  /** `generated always as identity`: a plain insert does not write it. */
  isIdentity: boolean;
};
export type ForeignKey = { columns: string[]; references: string; referenced: string[] };
/** `null` and `default` set the columns of `sets`. */
export type Action = ForeignKey & { name: string; onDelete: Effect; onUpdate: Effect; sets: string[] };
export type Effect = 'none' | 'cascade' | 'null' | 'default';
/** A trigger that fires. An event trigger is of no relation. */
export type Trigger = {
  name: string;
  relation: string | null;
  signature: string;
  isDefiner: boolean;
  holder: string;
  /** It may change the row that is written. */
  isBefore: boolean;
  events: string[];
};
export type Policy = {
  name: string;
  command: 'select' | 'insert' | 'update' | 'delete' | 'all';
  permissive: boolean;
  roles: string[];
  using: string | null;
  check: string | null;
};
export type Routine = {
  name: string;
  signature: string;
  language: string;
  body: string;
  /** `create function …`, which PL/pgSQL is parsed from; null of an aggregate or window function. */
  source: string | null;
  parameters: { name: string; type: string }[];
  returns: string;
  returnsSet: boolean;
  isDefiner: boolean;
  isStrict: boolean;
  isTrigger: boolean;
  /** An aggregate or a window function. */
  isOfRows: boolean;
  /** A call by its name and this number of arguments can mean nothing else: no defaults, no `variadic`, no results among the parameters. */
  isExact: boolean;
  /** A hash of what it does: its body, language, settings and rights. */
  hash: string;
  owner: string;
  /** Settings that hold while it runs, such as `search_path=pg_catalog, pg_temp`. */
  settings: string[];
  volatility: 'i' | 's' | 'v';
  callers: string[];
  /** All to whom it is granted. */
  holder: string;
};
/** `right` is the type of a literal on the right side. */
export type Result = { type: string; isStrict: boolean; right: string | null };
export type Role = { name: string; bypasses: boolean; has: string[]; mayBecome: string[] };
export type Builtin = { volatility: 'i' | 's' | 'v'; returns: Record<string, string>; isOfRows: boolean };

/** Reads it. PostgreSQL's own objects come unqualified, and all others with their schema. */
export async function readCatalogue({
  client,
  roles,
  claims,
  invariants,
  assumptions,
}: Pick<Options, 'client' | 'roles' | 'claims' | 'invariants' | 'assumptions'>): Promise<Catalogue> {
  await client.query('set local search_path = pg_catalog, pg_temp');
  const read = async <Row>(statement: string, ...values: unknown[]) =>
    (await client.query(statement, values)).rows as Row[];
  // A role that does not exist is an error, which says more than this.
  const known = await read<{ rolname: string }>('select rolname from pg_roles where rolname = any ($1)', roles);
  const seen = [known.map(({ rolname }) => rolname), assumptions?.ignoredSchemas ?? null];
  const named = invariants.flatMap((invariant) => invariant.roles ?? []);
  const functions = new Map<string, Routine[]>();
  for (const routine of await read<Routine>(functionsStatement, ...seen))
    functions.set(routine.name, [...(functions.get(routine.name) ?? []), routine]);
  const [own] = await read<{ operators: string[]; casts: string[]; names: string[]; hasOrders: boolean }>(ownStatement);
  return {
    relations: byName(
      (await read<Relation>(relationsStatement, ...seen, named)).map((relation) => ({
        ...relation,
        assigned: { insert: [], update: [] },
      })),
    ),
    functions,
    triggers: await read<Trigger>(triggersStatement, ...seen),
    checkedDomains: new Set((await read<{ type: string }>(domainsStatement)).map(({ type }) => type)),
    composites: new Set((await read<{ type: string }>(compositesStatement)).map(({ type }) => type)),
    roles: byName(await read<Role>(rolesStatement)),
    builtins: byName(await read<Builtin & { name: string }>(builtinsStatement)),
    families: new Map((await read<{ type: string; family: string }>(familiesStatement)).map((t) => [t.type, t.family])),
    operators: new Set(own?.operators),
    results: new Map((await read<Result & { operator: string }>(resultsStatement)).map((one) => [one.operator, one])),
    casts: new Set(own?.casts),
    settings: new Set(claims.map(({ setting }) => setting)),
    ownNames: new Set(own?.names),
    hasOwnOrders: own?.hasOrders ?? true,
  };
}

const byName = <Named extends { name: string }>(rows: readonly Named[]) => new Map(rows.map((row) => [row.name, row]));

/** The name of a type; a domain is compared as what it is made of, and a text by its collation. */
const typeName = (oid: string, collation = 'named.typcollation') => `(
  select case when element.oid is null
    then case when ns.nspname = 'pg_catalog' then '' else ns.nspname || '.' end || base.typname
    else case when ens.nspname = 'pg_catalog' then '' else ens.nspname || '.' end || element.typname || '[]' end
    || case when exists (select from pg_collation l where l.oid = ${collation} and not l.collisdeterministic) then '${ownOrder}' else '' end
  from pg_type named
  join pg_type base on base.oid = case when named.typtype = 'd' then named.typbasetype else named.oid end
  join pg_namespace ns on ns.oid = base.typnamespace
  left join pg_type element on element.oid = base.typelem and base.typcategory = 'A'
  left join pg_namespace ens on ens.oid = element.typnamespace
  where named.oid = ${oid})`;

/** Whether an object was made in this database, whatever its schema (`FirstNormalObjectId`). */
export const isOwn = (oid: string) => `(${oid} >= 16384)`;

/** Whether a schema `n` is looked at; `$2` are those that are not, beside PostgreSQL's own. */
export const isSeen = `(n.nspname !~ '^(pg_|information_schema$)' and ($2::text is null or n.nspname !~ $2))`;

/** The roles to which a function `p` is granted. */
export const granteesOf = `array(
  select case acl.grantee when 0 then 'public' else pg_get_userbyid(acl.grantee)::text end
  from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl where acl.grantee <> p.proowner order by 1)`;

/** The name of a function `p` of a schema `n`. */
export const signature = `format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes))`;

const signatureAndHolder = (oid: string) => `
  select ${signature.replaceAll('n.nspname', 'pn.nspname')} as signature, p.prosecdef as is_definer, array_to_string(${granteesOf}, ', ') as holder
  from pg_proc p join pg_namespace pn on pn.oid = p.pronamespace where p.oid = ${oid}`;

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

// `$3` are roles beside those of clients whose privileges are asked for.
// Where a foreign key is not enforced on the rows of children, it says nothing about what a query of the parent finds.
const relationsStatement = `
  with roles as (
    select oid, rolname from pg_roles
    where rolname = any ($1) or exists (select from unnest($1::text[]) as client where pg_has_role(client, pg_roles.oid, 'member'))
      or oid in (select c.relowner from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f') and ${isSeen})
      or rolname = any ($3)
  )
  select
    format('%I.%I', n.nspname, c.relname) as name, c.relowner::regrole::text as owner,
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
        'type', ${typeName('a.atttypid', 'a.attcollation')}, 'isGenerated', a.attgenerated <> '', 'isIdentity', a.attidentity = 'a',
        'default', (select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d where d.adrelid = c.oid and d.adnum = a.attnum)) order by a.attnum), '[]')
      from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    array(select pg_get_expr(k.conbin, k.conrelid) from pg_constraint k
      where k.conrelid = c.oid and k.contype = 'c' and k.convalidated and not k.connoinherit and ${isHeld} order by k.conname) as checks,
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
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and ${isSeen}
  order by name`;

/**
 * What PostgreSQL calls by itself, whoever may: parts of aggregates, of types, of operator classes and the like.
 * Its manual says of `create aggregate` that the owner needs the right to call them, and asks nobody later.
 */
const partsStatement = `
  select unnest(array[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[]) from pg_aggregate
  union select unnest(array[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript]::oid[]) from pg_type
  union select unnest(array[rngcanonical, rngsubdiff]::oid[]) from pg_range
  union select unnest(array[oprrest, oprjoin]::oid[]) from pg_operator
  union select unnest(array[prsstart, prstoken, prsend, prsheadline, prslextype]::oid[]) from pg_ts_parser
  union select unnest(array[tmplinit, tmpllexize]::oid[]) from pg_ts_template
  union select unnest(array[trffromsql, trftosql]::oid[]) from pg_transform
  union select unnest(array[lanplcallfoid, laninline, lanvalidator]::oid[]) from pg_language
  union select unnest(array[fdwhandler, fdwvalidator]::oid[]) from pg_foreign_data_wrapper
  union select amproc::oid from pg_amproc union select amhandler::oid from pg_am
  union select conproc::oid from pg_conversion union select prosupport::oid from pg_proc`;

/** The client roles, among `$1`, that may call a function `p`, or that PostgreSQL lets. */
export const callersOf = `array(
  select client from unnest($1::text[]) as client
  where p.oid in (select oid from part)
    or exists (select from pg_roles b where pg_has_role(client, b.oid, 'member') and has_function_privilege(b.oid, p.oid, 'execute')))`;

const functionsStatement = `
  with part (oid) as (${partsStatement})
  select
    n.nspname || '.' || p.proname as name, ${signature} as signature,
    l.lanname as language, p.prosrc as body, case when p.prokind in ('f', 'p') then pg_get_functiondef(p.oid) end as source,
    (select coalesce(jsonb_agg(jsonb_build_object('name', coalesce(p.proargnames[place], ''), 'type', ${typeName('k.type')}) order by place), '[]')
      from unnest(p.proargtypes::oid[]) with ordinality as k (type, place)) as parameters,
    p.provariadic = 0 and p.pronargdefaults = 0 and not coalesce(p.proargmodes && '{o,b,v,t}', false) and not exists (
      select from unnest(p.proargtypes::oid[]) as k (type) join pg_type t on t.oid = k.type where t.typtype = 'p') as "isExact",
    left(encode(sha256(convert_to(concat_ws(chr(10), p.prosrc, pg_get_function_sqlbody(p.oid), l.lanname, p.proconfig, p.prosecdef, pg_get_userbyid(p.proowner)), 'UTF8')), 'hex'), 16) as hash,
    ${typeName('p.prorettype')} as returns, p.proretset as "returnsSet", p.prosecdef as "isDefiner", p.prokind <> 'f' as "isOfRows", p.proisstrict as "isStrict",
    p.prorettype in ('trigger'::regtype, 'event_trigger'::regtype) as "isTrigger",
    pg_get_userbyid(p.proowner)::text as owner, coalesce(p.proconfig, '{}') as settings, p.provolatile::text as volatility,
    ${callersOf} as callers, array_to_string(${granteesOf}, ', ') as holder
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  join pg_language l on l.oid = p.prolang
  where ${isSeen}
  order by 2`;

/** Triggers that fire, those of partitions by their parent's alone. */
const triggersStatement = `
  select t.tgname as name, format('%I.%I', n.nspname, c.relname) as relation, f.signature, f.is_definer as "isDefiner", f.holder,
    t.tgtype & 3 = 3 as "isBefore",
    array_remove(array[case when t.tgtype & 4 <> 0 then 'insert' end, case when t.tgtype & 8 <> 0 then 'delete' end,
      case when t.tgtype & 16 <> 0 then 'update' end, case when t.tgtype & 32 <> 0 then 'truncate' end], null) as events
  from pg_trigger t
  join pg_class c on c.oid = t.tgrelid
  join pg_namespace n on n.oid = c.relnamespace
  join lateral (${signatureAndHolder('t.tgfoid')}) f on true
  where not t.tgisinternal and t.tgenabled <> 'D' and t.tgparentid = 0 and ${isSeen}
  union all
  select e.evtname, null, f.signature, f.is_definer, f.holder, false, array[e.evtevent]
  from pg_event_trigger e join lateral (${signatureAndHolder('e.evtfoid')}) f on true
  where e.evtenabled <> 'D' and $1::text[] is not null
  order by 1, 2`;

/** By their own names; a check that depends on no function of the database's own reads nothing. */
const domainsStatement = `
  select n.nspname || '.' || t.typname as type from pg_type t join pg_namespace n on n.oid = t.typnamespace
  where t.typtype = 'd' and exists (
    select from pg_constraint k join pg_depend d on d.classid = 'pg_constraint'::regclass and d.objid = k.oid
    where k.contypid = t.oid and d.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass))`;

const compositesStatement = `
  select ${typeName('t.oid')} as type from pg_type t
  where t.typtype = 'c' or t.typtype = 'p' or t.typtype = 'd' and exists (select from pg_type b where b.oid = t.typbasetype and b.typtype = 'c')`;

const rolesStatement = `
  select r.rolname as name, r.rolsuper or r.rolbypassrls as bypasses,
    array(select o.rolname::text from pg_roles o where pg_has_role(r.oid, o.oid, 'usage')) as has,
    array(select o.rolname::text from pg_roles o where pg_has_role(r.oid, o.oid, 'member')) as "mayBecome"
  from pg_roles r`;

const builtinsStatement = `
  select name, max(volatility) as volatility, jsonb_object_agg(arity, type) as returns, bool_or(of_rows) as "isOfRows"
  from (
    select p.proname as name, p.pronargs::text as arity, min(${typeName('p.prorettype')}) as type, 
      -- 'i', 's' and 'v' are in this order.
      max(p.provolatile::text) as volatility, bool_or(p.prokind <> 'f' or p.proretset) as of_rows
    from pg_proc p
    where p.pronamespace = 'pg_catalog'::regnamespace and not ${isOwn('p.oid')}
    group by 1, 2
    having count(distinct p.prorettype) = 1
    union all
    select p.proname, 'any', '', max(p.provolatile::text), bool_or(p.prokind <> 'f' or p.proretset)
    from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace and not ${isOwn('p.oid')} group by 1
  ) as overloads
  group by name`;

const ownStatement = `
  select
    array(
      select o.oprname::text from pg_operator o
      where ${isOwn('o.oid')} and not exists (
        select from pg_type t where t.oid in (o.oprleft, o.oprright) and t.typnamespace <> 'pg_catalog'::regnamespace and t.typtype not in ('e', 'd'))) as operators,
    array(
      select ${typeName('k.castsource')} || ' ' || ${typeName('k.casttarget')} from pg_cast k
      join pg_type s on s.oid = k.castsource join pg_type t on t.oid = k.casttarget
      where ${isOwn('k.oid')}) as casts,
    array(
      select distinct p.proname::text from pg_proc p
      where ${isOwn('p.oid')}
        and exists (select from pg_proc b where not ${isOwn('b.oid')} and b.proname = p.proname)) as names,
    exists (select from pg_collation where not collisdeterministic) as "hasOrders"`;

const resultsStatement = `
  select o.oprname || ' ' || ${typeName('o.oprleft')} as operator, min(${typeName('o.oprresult')}) as type, bool_and(p.proisstrict) as "isStrict",
    -- A literal has the type of the other side, or else is a text (Type Conversion, Operators).
    case when bool_or(o.oprright = o.oprleft) then min(${typeName('o.oprleft')}) when bool_or(o.oprright = 'text'::regtype) then 'text'
      when count(distinct o.oprright) = 1 then min(${typeName('o.oprright')}) end as right
  from pg_operator o join pg_proc p on p.oid = o.oprcode
  where o.oprkind = 'b' and not ${isOwn('o.oid')}
  group by 1 having count(distinct o.oprresult) = 1`;

// Absent on purpose: numeric, float, interval, char(n), citext and the like, of which two that are equal may still differ.
const familiesStatement = `
  select ${typeName('t.oid')} as type,
    case
      when t.typname in ('text', 'varchar', 'name') then 'text'
      when t.typname in ('int2', 'int4', 'int8') then 'int'
      else ${typeName('t.oid')}
    end as family
  from pg_type t
  where t.typnamespace = 'pg_catalog'::regnamespace
      and t.typname in ('bool', 'uuid', 'text', 'varchar', 'name', 'int2', 'int4', 'int8', 'bytea', 'oid', 'date', 'timestamp', 'timestamptz', 'xid8', 'pg_lsn')
    or t.typtype = 'e'`;
