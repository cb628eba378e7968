import { type ClientBase, escapeLiteral } from 'pg';

/** The access that a database gives: who may do what, in sets by object. */
export type Access = {
  /** Columns that a role may use in a command, by `["command", "role", "table"]` as JSON. `*` stands for whole rows. */
  grants: Map<string, Set<string>>;
  /** The roles that may call a function. */
  callers: Map<string, Set<string>>;
  /** `off`, `on, not forced` or `forced`, by table. */
  rowSecurity: Map<string, string>;
  policies: Map<string, Policy>;
  /** Roles that escape the policies, by `["kind", "object"]` as JSON. */
  bypasses: Map<string, Set<string>>;
  /** Text beside policies that affects access, by object: views, functions of policies, definers. */
  definitions: Map<string, string>;
  /** The principals and rows for which a command succeeded, by `["command", "role", "table"]` as JSON. */
  outcomes: Map<string, Set<string>>;
  /** Tables for which there is no example row. */
  notProbed: string[];
};

export type Policy = {
  permissive: boolean;
  command: string;
  roles: string[];
  using: string | null;
  check: string | null;
  /** The principals and rows for which the expressions hold. */
  holds: Set<string>;
};

/** Reads what each principal may do, and tries it on every row of a database of examples. */
export async function readAccess(client: ClientBase): Promise<Access> {
  const read = async <Row>(statement: string) => (await client.query(statement)).rows as Row[];
  const sets = async (statement: string) => {
    const rows = await read<{ name: string; members: string[] }>(statement);
    return new Map(rows.map(({ name, members }) => [name, new Set(members)]));
  };
  const texts = async (statement: string) => {
    const rows = await read<{ name: string; text: string }>(statement);
    return new Map(rows.map(({ name, text }) => [name, text]));
  };
  const tables = await read<{ name: string }>(tablesStatement);
  const policies = await read<Policy & { name: string }>(policiesStatement);

  const examples = examplesOf(tables.map(({ name }) => name));
  const holds = await sets(expressions(examples));
  const probed = await read<{ name: string }>(`with ${examples} select distinct name from example`);
  const isProbed = new Set(probed.map(({ name }) => name));
  return {
    grants: await sets(grants),
    callers: await sets("select name, callers as members from audit.functions where callers <> '{}'"),
    rowSecurity: await texts('select name, row_security as text from audit.relations where row_security is not null'),
    policies: new Map(
      policies.map((policy) => [policy.name, { ...policy, holds: holds.get(policy.name) ?? new Set() }]),
    ),
    bypasses: await sets(bypasses),
    definitions: await texts(definitions),
    outcomes: await sets(attempts(examples)),
    notProbed: tables.map(({ name }) => name).filter((name) => !isProbed.has(name)),
  };
}

/** Partitions of the history and of the feed are left out: their examples depend on the day. */
const tablesStatement = `
  select name from audit.relations
  where kind in ('table', 'partition')
    and relation not in (select inhrelid from pg_inherits where inhparent in (to_regclass('audit.changes'), to_regclass('feed.changes')))
  order by name`;

const grants = `
  select jsonb_build_array(m.command, m.role, r.name)::text as name,
    case
      when m.command = 'delete' then array['*']
      when m.columns <> '{}' then m.columns
      else array(select attname::text from pg_attribute where attrelid = m.relation and attnum > 0 and not attisdropped)
    end as members
  from audit.matrix m
  join audit.relations r using (relation)
  where m.granted`;

const policiesStatement = `
  select format('%s.%I', r.name, p.policy) as name, p.permissive, p.command, p.roles,
    p.using_expression as using, p.check_expression as check
  from audit.policies p
  join audit.relations r using (relation)`;

// A change that leaves no trace gives no access.
const bypasses = `
  select jsonb_build_array(kind, object)::text as name, array_agg(who) as members
  from audit.bypasses
  where kind not in ('history', 'owner')
  group by 1`;

// The policies' expressions as one text: PostgreSQL would print them again for each function.
const definitions = `
  with expressions as materialized (select string_agg(concat_ws(' ', using_expression, check_expression), ' ') as text from audit.policies)
  select r.name, pg_get_viewdef(r.relation) as text from audit.relations r where r.kind like '%view'
  union all
  select f.name, pg_get_functiondef(f.function)
  from audit.functions f, expressions e
  where f.definer or strpos(e.text, split_part(f.name, '(', 1) || '(') > 0`;

/**
 * All principals, and each role without claims.
 * No request has such a role, and no policy may give it access.
 */
const askers = `
  asker as materialized (
    select p as who from audit.principals p
    union all
    select row('nobody:' || role, null, role, '', null, null, null, false)::audit.principals
    from audit.request_roles
  )`;

/** The rows of all tables as one relation, so that the principals and rights are read once and not for each table. */
const examplesOf = (tables: readonly string[]) => {
  const rows = (table: string) =>
    `select ${escapeLiteral(table)} as name, ${escapeLiteral(table)}::regclass as relation, to_jsonb(t) as value from ${table} t`;
  return `example as materialized (${tables.map(rows).join(' union all ')})`;
};

const attempts = (examples: string) => `
  with ${askers},
  ${examples},
  tried as (
    select jsonb_build_array(m.command, m.role, e.name)::text as subject,
      (a.who).principal || ' ' || audit.condition_of(e.relation, e.value) as member,
      audit.attempt(a.who, e.relation, e.value, m.command) as outcome
    from audit.matrix m
    join asker a on (a.who).role = m.role
    join example e using (relation)
    where m.granted
  )
  select subject as name, array_agg(member order by member) as members from tried where outcome = 'allowed' group by 1`;

const expressions = (examples: string) => `
  with ${askers},
  ${examples},
  asked as (
    select format('%s.%I', e.name, p.policy) as subject,
      format('%s %s %s', (a.who).principal, kind, audit.condition_of(e.relation, e.value)) as member,
      audit.holds(a.who, e.relation, e.value, expression) as holds
    from audit.policies p
    cross join lateral (values ('using', p.using_expression), ('check', p.check_expression)) as part (kind, expression)
    join asker a on (a.who).role = any (p.roles) or 'public' = any (p.roles)
    join example e using (relation)
    where expression is not null
  )
  select subject as name, array_agg(member order by member) as members from asked where holds group by 1`;
