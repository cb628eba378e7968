import type { ClientBase } from 'pg';
import type { Catalogue, Place } from './catalogue.ts';
import { effectsOf, harmlessSettings, isHarmless } from './effects.ts';
import { isOwn, isSeen, signature } from './fragments.ts';
import type { Parser } from './parse.ts';

/** Reads each expression and query that PostgreSQL keeps as a parse tree, the rules, and the settings of roles and of the database. */
export const readPlaces = async (client: ClientBase, ignored: string | null): Promise<Place[]> => [
  ...(await client.query<Place>(placesStatement, [null, ignored])).rows,
  ...(await client.query<{ name: string; setting: string }>(settingsStatement)).rows
    .filter(({ setting }) => !harmlessSettings.test(setting))
    .map(({ name, setting }) => ({ name, written: null, unknown: `the setting ${setting}`, builtins: [], own: [] })),
];

/**
 * Why a place may do more than compute a value, or null.
 *
 * Sound by an allowlist of nodes, settings and functions. A function of the database's own runs with the rights of the client, who needs the
 * right to execute it: it has a judgement of its own. But the action of a foreign key writes rows with the rights of their owner.
 */
export function problemAt(place: Place, catalogue: Catalogue, parser: Parser): string | null {
  if (place.unknown !== null) return place.unknown;
  const called = place.builtins.find(({ name, volatility }) => !isHarmless(name, volatility));
  if (called) return `call of ${called.name}`;
  if (!catalogue.relations.get(place.written ?? '')?.actions.length) return null;
  const asOwner = [...catalogue.functions.values()].flat().find((routine) => {
    if (!place.own.includes(routine.signature)) return false;
    const { unknown, reads, writes } = effectsOf(routine, catalogue, parser);
    return unknown !== null || reads || writes;
  });
  return asOwner ? `call of ${asOwner.name} with the rights of the owner when a foreign key changes its rows` : null;
}

/** Nodes of stored trees (`primnodes.h`, `parsenodes.h`) that only compute. The first two are parts of lists. */
const nodes =
  `,(,AGGREF,ALIAS,ARRAYCOERCEEXPR,ARRAYEXPR,BOOLEANTEST,BOOLEXPR,CASEEXPR,CASETESTEXPR,CASEWHEN,COALESCEEXPR,COERCETODOMAIN,
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
    union all select 'the check ' || k.conname || ' of ' || format('%I.%I', n.nspname, t.typname), n.oid, null, false, k.conbin::text
    from pg_constraint k join pg_type t on t.oid = k.contypid join pg_namespace n on n.oid = t.typnamespace where k.conbin is not null
    union all select 'the default of ' || format('%I.%I', n.nspname, t.typname), n.oid, null, false, t.typdefaultbin::text
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
    select place.name, case when is_written then format('%I.%I', n.nspname, c.relname) end, node, split_part(node, ' ', 1)
    from place join pg_namespace n on n.oid = place.schema left join pg_class c on c.oid = place.class,
    string_to_table(replace(tree, '\\{', ''), '{') node
    where ${isSeen} and $1::text is null
  ),
  called (name, oid) as (
    select name, oid from node, unnest(array[${after('funcid')}, ${after('aggfnoid')}, ${after('winfnoid')}]) oid where oid <> ''
  )
  select name, min(written) as written,
    min(case when ${after('funcformat')} = '2' and ${isOwn(`${after('funcid')}::oid`)} then 'a cast that is not written'
      when kind = 'QUERY' and node !~ '^QUERY :commandType 1 ' then 'a statement' when not kind = any (string_to_array('${nodes}', ',')) then lower(kind) end) as unknown,
    (select coalesce(jsonb_agg(distinct jsonb_build_object('name', p.proname, 'volatility', p.provolatile)), '[]')
      from called c join pg_proc p on p.oid = c.oid::oid where c.name = node.name and not ${isOwn('p.oid')}) as builtins,
    array(select ${signature} from called c join pg_proc p on p.oid = c.oid::oid join pg_namespace n on n.oid = p.pronamespace
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
