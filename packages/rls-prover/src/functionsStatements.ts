import { granteesOf, isOwn, isSeen, signature, signatureAndHolder, trustedMembers, typeName } from './fragments.ts';

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
export const functionsStatement = `
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

/** Triggers that fire, those of partitions by their parent's alone. */
export const triggersStatement = `
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
