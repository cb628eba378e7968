import type { Builtin, Catalogue, Relation, Result, Role, Routine, Trigger } from './catalogue.ts';
import { isOwn, signature, trustedMembers, typeName, typeNames } from './fragments.ts';
import { functionsStatement, triggersStatement } from './functionsStatements.ts';
import type { Options } from './interface.ts';
import { unquoted } from './names.ts';
import { readPlaces } from './places.ts';
import { relationsStatement } from './relationsStatement.ts';

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
  return rows.map((row) => ({ ...row, assigned: { insert: [], update: [] } }));
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

const simpleTypesStatement = `select ${typeName('t.oid')} as type from pg_type t where t.typtype in ('b', 'e', 'r', 'm') and t.typname <> '_record'`;

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
  select o.oprname || ' ' || l.name as operator, min(t.name) as type, bool_and(p.proisstrict) as "isStrict",
    -- A literal has the type of the other side, or else is a text (Type Conversion, Operators).
    case when bool_or(o.oprright = o.oprleft) then min(l.name) when bool_or(o.oprright = 'text'::regtype) then 'text'
      when count(distinct o.oprright) = 1 then min(r.name) end as right
  from pg_operator o join pg_proc p on p.oid = o.oprcode
  join type_names l on l.oid = o.oprleft join type_names r on r.oid = o.oprright join type_names t on t.oid = o.oprresult
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
      and (t.typcollation = 0 or not exists (select from pg_collation where not collisdeterministic))
      and t.typname in ('bool', 'uuid', 'text', 'varchar', 'name', 'int2', 'int4', 'int8', 'bytea', 'oid', 'date', 'timestamp', 'timestamptz', 'xid8', 'pg_lsn')
    or t.typtype = 'e'`;
