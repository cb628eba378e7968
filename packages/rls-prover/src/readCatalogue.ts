import type { ClientBase } from 'pg';
import type { Builtin, Catalogue, ForeignKey, Place, Relation, Result, Role, Routine, Trigger } from './catalogue.ts';
import { harmlessSettings } from './effects.ts';
import {
  granteesOf,
  isOwn,
  isSeen,
  signature,
  signatureAndHolder,
  trustedMembers,
  typeName,
  typeNames,
} from './fragments.ts';
import type { Options } from './interface.ts';
import { unquoted } from './parse.ts';

type Own = { operators: string[]; casts: string[]; implicit: string[]; names: string[]; types: string[] };
type Question = Pick<Options, 'client' | 'roles' | 'claims' | 'invariants' | 'assumptions'>;

/** Reads it. PostgreSQL's own objects come unqualified, and all others with their schema. */
export async function readCatalogue(question: Question): Promise<Catalogue> {
  const { client, claims } = question;
  await client.query('set local search_path = pg_catalog, pg_temp');
  const read = async <Row>(statement: string, ...values: unknown[]) =>
    (await client.query(statement, values)).rows as Row[];
  const seen = await readSeen(question);
  const functions = new Map<string, Routine[]>();
  for (const routine of await read<Routine>(functionsStatement, ...seen)) {
    const name = unquoted(routine.name);
    functions.set(name, [...(functions.get(name) ?? []), { ...routine, name }]);
  }
  const [own] = await read<Own>(ownStatement);
  const catalogue: Omit<Catalogue, 'relations' | 'paths'> = {
    functions,
    places: await readPlaces(client, question.assumptions?.ignoredSchemas ?? null),
    triggers: await read<Trigger>(triggersStatement, ...seen),
    checkedTypes: new Set((await read<{ type: string }>(checkedTypesStatement)).map(({ type }) => type)),
    implicitCasts: new Set(own?.implicit),
    simpleTypes: new Set((await read<{ type: string }>(simpleTypesStatement)).map(({ type }) => type)),
    ownTypes: new Set(own?.types),
    roles: byName(await read<Role>(rolesStatement)),
    builtins: byName(await read<Builtin & { name: string }>(builtinsStatement)),
    families: new Map((await read<{ type: string; family: string }>(familiesStatement)).map((t) => [t.type, t.family])),
    collated: new Set((await read<{ type: string }>(collatedStatement)).map(({ type }) => type)),
    operators: new Set(own?.operators),
    results: new Map((await read<Result & { operator: string }>(resultsStatement)).map((one) => [one.operator, one])),
    casts: new Set(own?.casts),
    settings: new Set(claims.map(({ setting }) => setting.toLowerCase())),
    ownNames: new Set(own?.names),
  };
  return withRelations(catalogue, await readRelations(question, null));
}

/** The catalogue with these tables and views. */
export const withRelations = (
  catalogue: Omit<Catalogue, 'relations' | 'paths'>,
  relations: readonly Relation[],
): Catalogue => ({
  ...catalogue,
  relations: byName(relations),
  paths: new Map(relations.map((relation) => [unquoted(relation.name), relation])),
});

/** One table or view as it is now. @throws {Error} when there is none */
export async function readRelation(question: Question, name: string): Promise<Relation> {
  const [relation] = await readRelations(question, name);
  if (!relation) throw new Error(`There is no relation ${name}.`);
  return relation;
}

async function readRelations(question: Question, name: string | null): Promise<Relation[]> {
  const named = question.invariants.flatMap((invariant) => invariant.roles ?? []);
  const { rows } = await question.client.query(relationsStatement, [...(await readSeen(question)), named, name]);
  return rows.map((row) => ({
    ...row,
    actions: row.foreignKeys.filter(({ onDelete, onUpdate }: ForeignKey) => onDelete !== 'none' || onUpdate !== 'none'),
    assigned: { insert: [], update: [] },
  }));
}

/** The roles of clients, of which one that does not exist is an error later, and the schemas that are ignored. */
async function readSeen({ client, roles, assumptions }: Question): Promise<[string[], string | null]> {
  const { rows } = await client.query('select rolname from pg_roles where rolname = any ($1)', [roles]);
  return [rows.map(({ rolname }) => rolname), assumptions?.ignoredSchemas ?? null];
}

const byName = <Named extends { name: string }>(rows: readonly Named[]) => new Map(rows.map((row) => [row.name, row]));

/** By their own names; a check that depends on no function of the database's own reads nothing. */
const checkedTypesStatement = `
  with recursive checked (oid) as (
    select t.oid from pg_type t
    where t.typtype = 'd' and exists (
      select from pg_constraint k join pg_depend d on d.classid = 'pg_constraint'::regclass and d.objid = k.oid
      where k.contypid = t.oid and d.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass))
    union
    select t.oid from checked c join pg_type t on c.oid in (t.typbasetype, t.typelem)
      or exists (select from pg_attribute a where a.attrelid = t.typrelid and a.atttypid = c.oid and not a.attisdropped)
      or exists (select from pg_range r where r.rngsubtype = c.oid and t.oid in (r.rngtypid, r.rngmultitypid)))
  select n.nspname || '.' || t.typname as type from checked join pg_type t using (oid) join pg_namespace n on n.oid = t.typnamespace`;

const simpleTypesStatement = `select ${typeName('t.oid')} as type from pg_type t
  where (t.typtype in ('b', 'e', 'r', 'm') or t.typtype = 'd' and t.typtypmod <> -1) and t.typname <> '_record'`;

const rolesStatement = `
  select r.rolname as name, r.rolsuper or r.rolbypassrls as bypasses,
    array(select o.rolname::text from pg_roles o where pg_has_role(r.oid, o.oid, 'usage')) as has,
    array(select o.rolname::text from pg_roles o where pg_has_role(r.oid, o.oid, 'member')) as "mayBecome"
  from pg_roles r`;

const builtinsStatement = `
  with ${typeNames(`select prorettype from pg_proc where pronamespace = 'pg_catalog'::regnamespace`)}
  select name, max(volatility) as volatility, jsonb_object_agg(arity, type) as returns, bool_or(of_rows) as "isOfRows"
  from (
    select p.proname as name, p.pronargs::text as arity, min(t.name) as type,
      -- 'i', 's' and 'v' are in this order.
      max(p.provolatile::text) as volatility, bool_or(p.prokind <> 'f' or p.proretset) as of_rows
    from pg_proc p join type_names t on t.oid = p.prorettype
    where p.pronamespace = 'pg_catalog'::regnamespace and not ${isOwn('p.oid')}
    group by 1, 2
    having count(distinct p.prorettype) = 1
    union all
    select p.proname, 'any', '', max(p.provolatile::text), bool_or(p.prokind <> 'f' or p.proretset)
    from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace and not ${isOwn('p.oid')} group by 1
  ) as overloads
  group by name`;

/** For `mayBeOwn`. */
const ownName = (name: string, isFound: string) => `case when ${isFound} then 'pg_catalog.' else '' end || ${name}`;

/** PostgreSQL finds such an operator by the type, to sort, to group, to compare arrays. */
const isOfDefaultClass = (operator: string) => `exists (
  select from pg_amop m join pg_opclass c on c.opcfamily = m.amopfamily and c.opcdefault join pg_am on pg_am.oid = c.opcmethod
  where m.amopopr = ${operator} and pg_am.amname in ('btree', 'hash'))`;

const ownStatement = `
  select
    array(
      select ${ownName('o.oprname', `o.oprnamespace = 'pg_catalog'::regnamespace or ${isOfDefaultClass('o.oid')}`)} from pg_operator o join pg_proc p on p.oid = o.oprcode join pg_language l on l.oid = p.prolang
      where ${isOwn('o.oid')} and (l.lanname not in ('c', 'internal') or not exists (
        select from pg_type t where t.oid in (o.oprleft, o.oprright) and t.typnamespace <> 'pg_catalog'::regnamespace and t.typtype not in ('e', 'd')))) as operators,
    array(
      select ${typeName('k.castsource')} || ' ' || ${typeName('k.casttarget')} from pg_cast k
      join pg_type s on s.oid = k.castsource join pg_type t on t.oid = k.casttarget
      left join pg_proc p on p.oid = k.castfunc left join pg_language l on l.oid = p.prolang
      -- To or from a type of its own, a cast without a function is the same bytes.
      where ${isOwn('k.oid')} and not (${isOwn('greatest(s.oid, t.oid)')} and (k.castmethod = 'b'
        or p.provolatile = 'i' and p.proisstrict and l.lanname in ('c', 'internal') and p.oid in ${trustedMembers}))) as casts,
    array(
      select ${signature} from pg_cast k join pg_proc p on p.oid = k.castfunc join pg_namespace n on n.oid = p.pronamespace
      where ${isOwn('k.oid')} and k.castcontext <> 'e') as implicit,
    array(
      select distinct ${ownName('p.proname', `p.pronamespace = 'pg_catalog'::regnamespace`)} from pg_proc p
      where ${isOwn('p.oid')}
        and exists (select from pg_proc b where not ${isOwn('b.oid')} and b.proname = p.proname)) as names,
    array(
      select distinct ${ownName('t.typname', `t.typnamespace = 'pg_catalog'::regnamespace`)} from pg_type t
      where ${isOwn('t.oid')} and exists (select from pg_type b where not ${isOwn('b.oid')} and b.typname = t.typname)) as types`;

const resultsStatement = `
  with ${typeNames(`select unnest(array[oprleft, oprright, oprresult]) from pg_operator where oprkind = 'b'`)}
  select o.oprname || ' ' || l.name as operator, case when count(distinct o.oprresult) = 1 then min(t.name) else '' end as type, bool_and(p.proisstrict) as "isStrict",
    bool_and(p.provolatile = 'i') as "isImmutable",
    -- A literal has the type of the other side, or else is a text (Type Conversion, Operators).
    case when bool_or(o.oprright = o.oprleft) then min(l.name) when bool_or(o.oprright = 'text'::regtype) then 'text'
      when count(distinct o.oprright) = 1 then min(r.name) end as right
  from pg_operator o join pg_proc p on p.oid = o.oprcode
  join type_names l on l.oid = o.oprleft join type_names r on r.oid = o.oprright join type_names t on t.oid = o.oprresult
  where o.oprkind = 'b' and not ${isOwn('o.oid')}
  group by 1`;

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
      and (t.typcollation = 0 or not exists (select from pg_collation where not collisdeterministic))
      and t.typname in ('bool', 'uuid', 'text', 'varchar', 'name', 'int2', 'int4', 'int8', 'bytea', 'oid', 'date', 'timestamp', 'timestamptz', 'xid8', 'pg_lsn')
    or t.typtype = 'e'`;

const collatedStatement = `select ${typeName('t.oid')} as type from pg_type t where t.typcollation <> 0`;

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

/** A child may have other rows than its parent, and nothing is asked of those of a foreign table. */
const isHeld = `(c.relkind = 'r' and not c.relhassubclass
  or c.relkind = 'p' and not exists (select from pg_class f join pg_inherits i on i.inhrelid = f.oid where f.relkind = 'f'))`;

/**
 * Reads tables and views. `$1` are the roles of clients, and `$3` others whose privileges are asked for. `$4` is the only one that is read, or null.
 */
const relationsStatement = `
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
    (select coalesce(jsonb_agg(jsonb_build_object('name', k.conname, 'columns', ${columnsOf('k.conrelid', 'k.conkey')},
        'references', format('%I.%I', fn.nspname, f.relname), 'referenced', ${columnsOf('k.confrelid', 'k.confkey')},
        'sets', ${columnsOf('k.conrelid', 'coalesce(k.confdelsetcols, k.conkey)')},
        'onDelete', ${effect('k.confdeltype')}, 'onUpdate', ${effect('k.confupdtype')}) order by k.conname), '[]')
      from pg_constraint k join pg_class f on f.oid = k.confrelid join pg_namespace fn on fn.oid = f.relnamespace
      where k.conrelid = c.oid and k.contype = 'f'
        and not exists (select from pg_constraint of where of.oid = k.conparentid and of.conrelid = k.conrelid)) as "foreignKeys",
    (select coalesce(jsonb_agg(${columnsOf('i.indrelid', 'i.indkey::int2[]')} order by i.indexrelid), '[]')
      from pg_index i
      where i.indrelid = c.oid and i.indisunique and i.indpred is null and i.indexprs is null
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

/**
 * Functions that PostgreSQL calls without a right to execute them: parts of aggregates, of types, of operator classes and the like.
 * Its manual says of `create aggregate` that only the owner needs this right.
 */
const partsStatement = `
  select unnest(array[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[]) from pg_aggregate
  union select unnest(array[typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typsubscript]::oid[]) from pg_type
  union select unnest(array[rngcanonical, rngsubdiff]::oid[]) from pg_range
  union select unnest(array[oprrest, oprjoin]::oid[]) from pg_operator
  union select o.oprcode::oid from pg_operator o join pg_amop m on m.amopopr = o.oid
  union select unnest(array[prsstart, prstoken, prsend, prsheadline, prslextype]::oid[]) from pg_ts_parser
  union select unnest(array[tmplinit, tmpllexize]::oid[]) from pg_ts_template
  union select unnest(array[trffromsql, trftosql]::oid[]) from pg_transform
  union select unnest(array[lanplcallfoid, laninline, lanvalidator]::oid[]) from pg_language
  union select unnest(array[fdwhandler, fdwvalidator]::oid[]) from pg_foreign_data_wrapper
  union select amproc::oid from pg_amproc union select amhandler::oid from pg_am
  union select conproc::oid from pg_conversion union select prosupport::oid from pg_proc`;

/** The client roles, among `$1`, that may call a function `p`, or that PostgreSQL lets. */
const callersOf = `array(
  select client from unnest($1::text[]) as client
  where p.oid in (select oid from part)
    or exists (select from pg_roles b where pg_has_role(client, b.oid, 'member') and has_function_privilege(b.oid, p.oid, 'execute')))`;

/** Reads functions, aggregates and procedures. */
const functionsStatement = `
  with part (oid) as (${partsStatement}), trusted (oid) as materialized ${trustedMembers}
  select
    format('%I.%I', n.nspname, p.proname) as name, ${signature} as signature,
    l.lanname as language,
    -- Of an aggregate, PostgreSQL's own functions that it calls.
    case when p.prokind <> 'a' then p.prosrc else (select string_agg(b.proname, ' ') from pg_aggregate a, unnest(array[
      a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn]::oid[]) part (oid)
      join pg_proc b on b.oid = part.oid where a.aggfnoid = p.oid and not ${isOwn('b.oid')}) end as body, case when p.prokind in ('f', 'p') then pg_get_functiondef(p.oid) end as source,
    (select coalesce(jsonb_agg(jsonb_build_object('name', coalesce(p.proargnames[place], ''), 'type', ${typeName('k.type')}) order by place), '[]')
      from unnest(p.proargtypes::oid[]) with ordinality as k (type, place)) as parameters,
    array(
      select distinct tn.nspname || '.' || t.typname from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]) || p.prorettype) as k (type)
      join pg_type t on t.oid = k.type join pg_namespace tn on tn.oid = t.typnamespace) as types,
    p.provariadic = 0 and p.pronargdefaults = 0 and not coalesce(p.proargmodes && '{o,b,v,t}', false) and not exists (
      select from unnest(p.proargtypes::oid[]) as k (type) join pg_type t on t.oid = k.type where t.typtype = 'p') as "isExact",
    ${typeName('p.prorettype')} as returns, p.proretset as "returnsSet", p.prosecdef as "isDefiner", p.prokind <> 'f' as "isOfRows", p.proisstrict as "isStrict",
    p.prorettype in ('trigger'::regtype, 'event_trigger'::regtype) as "isTrigger",
    p.prokind = 'f' and l.lanname in ('c', 'internal') and p.oid in (select oid from trusted) and (p.provolatile = 'i' or p.oid in (select oid from part)
      or p.provolatile = 's' and exists (select from pg_operator o where o.oprcode = p.oid)) as "isTrusted",
    pg_get_userbyid(p.proowner)::text as owner, coalesce(p.proconfig, '{}') as settings, p.provolatile::text as volatility,
    ${callersOf} as callers, array_to_string(${granteesOf}, ', ') as holder
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  join pg_language l on l.oid = p.prolang
  where ${isSeen}
  order by 2`;

/** Triggers that fire; those of partitions by their parent's alone, unless that is disabled. */
const triggersStatement = `
  select t.tgname as name, format('%I.%I', n.nspname, c.relname) as relation, f.signature, f.is_definer as "isDefiner", f.holder,
    t.tgtype & 3 = 3 as "isBefore",
    array_remove(array[case when t.tgtype & 4 <> 0 then 'insert' end, case when t.tgtype & 8 <> 0 then 'delete' end,
      case when t.tgtype & 16 <> 0 then 'update' end, case when t.tgtype & 32 <> 0 then 'truncate' end], null) as events
  from pg_trigger t
  join pg_class c on c.oid = t.tgrelid
  join pg_namespace n on n.oid = c.relnamespace
  join lateral (${signatureAndHolder('t.tgfoid')}) f on true
  where not t.tgisinternal and t.tgenabled <> 'D' and ${isSeen}
    and not exists (select from pg_trigger above where above.oid = t.tgparentid and above.tgenabled <> 'D')
  union all
  select e.evtname, null, f.signature, f.is_definer, f.holder, false, array[e.evtevent]
  from pg_event_trigger e join lateral (${signatureAndHolder('e.evtfoid')}) f on true
  where e.evtenabled <> 'D' and $1::text[] is not null
  order by 1, 2`;

/** Reads each expression and query that PostgreSQL keeps as a parse tree, the rules, and the settings of roles and of the database. */
const readPlaces = async (client: ClientBase, ignored: string | null): Promise<Place[]> => [
  ...(await client.query<Place>(placesStatement, [null, ignored])).rows,
  ...(await client.query<{ name: string; setting: string }>(settingsStatement)).rows
    .filter(({ setting }) => !harmlessSettings.test(setting))
    .map(({ name, setting }) => ({ name, written: null, unknown: `the setting ${setting}`, builtins: [], own: [] })),
];

/** Nodes of stored trees (`primnodes.h`, `parsenodes.h`) that only compute. The first three are parts of lists. */
const nodes =
  `,(,((,AGGREF,ALIAS,ARRAYCOERCEEXPR,ARRAYEXPR,BOOLEANTEST,BOOLEXPR,CASEEXPR,CASETESTEXPR,CASEWHEN,COALESCEEXPR,COERCETODOMAIN,
  COERCETODOMAINVALUE,COERCEVIAIO,COLLATEEXPR,COMMONTABLEEXPR,CONST,DISTINCTEXPR,FIELDSELECT,FROMEXPR,FUNCEXPR,GROUPINGFUNC,GROUPINGSET,
  JOINEXPR,MINMAXEXPR,NAMEDARGEXPR,NEXTVALUEEXPR,NULLIFEXPR,NULLTEST,OPEXPR,PARAM,QUERY,RANGETBLENTRY,RANGETBLFUNCTION,RANGETBLREF,
  RELABELTYPE,ROWCOMPAREEXPR,ROWEXPR,ROWMARKCLAUSE,RTEPERMISSIONINFO,SCALARARRAYOPEXPR,SETOPERATIONSTMT,SORTGROUPCLAUSE,SQLVALUEFUNCTION,
  SUBLINK,SUBSCRIPTINGREF,TARGETENTRY,VAR,WINDOWCLAUSE,WINDOWFUNC`.replaceAll(/\s/g, '');

const on = `' on ' || format('%I.%I', n.nspname, c.relname)`;
const ofTable = (table: string, oid: string) =>
  `${table} join pg_class c on c.oid = ${oid} join pg_namespace n on n.oid = c.relnamespace`;

/** The number after a field of a node. */
const after = (field: string) => `split_part(split_part(node, ':${field} ', 2), ' ', 1)`;

const placesStatement = `
  with place (name, schema, class, is_written, tree) as (
    select 'the default of ' || a.attname || ${on}, n.oid, c.oid, true, d.adbin::text
    from ${ofTable('pg_attrdef d', 'd.adrelid')} join pg_attribute a on a.attrelid = c.oid and a.attnum = d.adnum
    union all select 'the check ' || k.conname || ${on}, n.oid, c.oid, true, k.conbin::text from ${ofTable('pg_constraint k', 'k.conrelid')} where k.conbin is not null
    union all select 'the check ' || k.conname || ' of ' || format('%I.%I', n.nspname, t.typname), n.oid, null, true, k.conbin::text
    from pg_constraint k join pg_type t on t.oid = k.contypid join pg_namespace n on n.oid = t.typnamespace where k.conbin is not null
    union all select 'the default of ' || format('%I.%I', n.nspname, t.typname), n.oid, null, true, t.typdefaultbin::text
    from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.typdefaultbin is not null
    union all select 'the trigger ' || t.tgname || ${on}, n.oid, c.oid, true, t.tgqual::text from ${ofTable('pg_trigger t', 't.tgrelid')} where t.tgqual is not null
    union all select 'the policy ' || p.polname || ${on}, n.oid, c.oid, false, concat(p.polqual::text, p.polwithcheck::text) from ${ofTable('pg_policy p', 'p.polrelid')}
    union all select 'the index ' || i.indexrelid::regclass || ${on}, n.oid, c.oid, true, concat(i.indexprs::text, i.indpred::text) from ${ofTable('pg_index i', 'i.indrelid')}
    union all select 'the partitions' || ${on}, n.oid, c.oid, true, p.partexprs::text from ${ofTable('pg_partitioned_table p', 'p.partrelid')} where p.partexprs is not null
    union all select 'the statistics ' || s.stxname || ${on}, n.oid, c.oid, true, s.stxexprs::text from ${ofTable('pg_statistic_ext s', 's.stxrelid')} where s.stxexprs is not null
    union all select 'the arguments of ' || ${signature}, n.oid, null, false, concat(p.proargdefaults::text, p.prosqlbody::text)
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.proargdefaults is not null or p.prosqlbody is not null
    -- A view is a rule that replaces what is read; any other rule adds or replaces a command.
    union all select case when r.ev_type = '1' then 'the query' else 'the rule ' || r.rulename end || ${on}, n.oid, c.oid, false,
      case when r.ev_type = '1' then r.ev_action::text else '{RULE ' end from ${ofTable('pg_rewrite r', 'r.ev_class')}
  ),
  node (name, written, node, kind) as materialized (
    select place.name, case when not is_written then null when c.oid is null then '*' else format('%I.%I', n.nspname, c.relname) end, node, split_part(node, ' ', 1)
    from place join pg_namespace n on n.oid = place.schema left join pg_class c on c.oid = place.class,
    string_to_table(replace(tree, '\\{', ''), '{') node
    where ${isSeen} and $1::text is null
  ),
  called (name, oid) as (
    select name, oid::oid from node, unnest(array[${after('funcid')}, ${after('aggfnoid')}, ${after('winfnoid')}]) oid where oid <> ''
    union all select name, o.oprcode from node join pg_operator o on o.oid::text = ${after('opno')} where ${isOwn('o.oid')}
  )
  select name, min(written) as written,
    min(case when ${after('funcformat')} = '2' and ${isOwn(`${after('funcid')}::oid`)} then 'a cast that is not written'
      when kind = 'QUERY' and node !~ '^QUERY :commandType 1 ' then 'a statement' when not kind = any (string_to_array('${nodes}', ',')) then lower(kind) end) as unknown,
    (select coalesce(jsonb_agg(distinct jsonb_build_object('name', p.proname, 'volatility', p.provolatile)), '[]')
      from called c join pg_proc p on p.oid = c.oid where c.name = node.name and not ${isOwn('p.oid')}) as builtins,
    array(select ${signature} from called c join pg_proc p on p.oid = c.oid join pg_namespace n on n.oid = p.pronamespace
      where c.name = node.name and ${isOwn('p.oid')}) as own
  from node group by name order by name`;

/** Settings that a role or the database has by itself, and the server's that change what an expression means. */
const settingsStatement = `
  select coalesce('the settings of the role ' || r.rolname, 'the settings of the database') as name, setting
  from pg_db_role_setting s left join pg_roles r on r.oid = s.setrole, unnest(s.setconfig) as setting
  where s.setdatabase in (0, (select oid from pg_database where datname = current_database())) and not coalesce(r.rolsuper, false)
  union all
  select 'the settings of the server', name || '=' || current_setting(name, true)
  from (values ('transform_null_equals', 'off'), ('array_nulls', 'on'), ('standard_conforming_strings', 'on'), ('plpgsql.variable_conflict', 'error'))
    as usual (name, value)
  where current_setting(name, true) <> value`;
