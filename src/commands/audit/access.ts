import { type ClientBase, escapeLiteral } from 'pg';

/** The access that a database gives: who may do what, and what decides it. */
export type Access = {
  /** Columns, or principals and rows, by `["object", "role", "what"]` as JSON; `*` stands for all. */
  rights: Map<string, Set<string>>;
  /** Policies, views, and functions that policies call or that run as their owner, by object. */
  texts: Map<string, AccessText>;
  /** Tables for which there is no example row. */
  notProbed: string[];
};

/** `isPermissive` is null for what is no policy. */
type AccessText = { role: string; command: string; isPermissive: boolean | null; text: string };

/** One change of access. */
export type Difference = { verdict: 'wider' | 'narrower' | 'unclear'; object: string; role: string; detail: string };

/** Reads what each principal may do, and tries it on every row of a database of examples. */
export async function readAccess(client: ClientBase): Promise<Access> {
  const read = async <Row>(statement: string) => (await client.query(statement)).rows as Row[];
  const tables = await read<{ name: string }>(tablesStatement);
  const rights = new Map<string, Set<string>>();
  for (const statement of [grants, attempts(tables.map(({ name }) => name))])
    for (const { key, members } of await read<{ key: string; members: string[] }>(statement))
      rights.set(key, new Set([...(rights.get(key) ?? []), ...members]));
  const probed = await read<{ name: string }>(
    tables
      .map(({ name }) => `select ${escapeLiteral(name)} as name where exists (select from ${name})`)
      .join(' union all '),
  );
  const isProbed = new Set(probed.map(({ name }) => name));
  return {
    rights,
    texts: new Map((await read<AccessText & { object: string }>(texts)).map(({ object, ...text }) => [object, text])),
    notProbed: tables.map(({ name }) => name).filter((name) => !isProbed.has(name)),
  };
}

/** Compares two accesses: what only `after` allows is wider, what only `before` does is narrower. */
export function compareAccess(before: Access, after: Access): Difference[] {
  const rights = keysOf(before.rights, after.rights).flatMap((key) => {
    const [object = '', role = '', what = ''] = JSON.parse(key) as string[];
    const [old, current] = [before.rights.get(key) ?? none, after.rights.get(key) ?? none];
    const changes = [
      { verdict: 'wider' as const, members: [...current.difference(old)] },
      { verdict: 'narrower' as const, members: [...old.difference(current)] },
    ];
    return changes
      .filter(({ members }) => members.length > 0)
      .map(({ verdict, members }) => ({ verdict, object, role, detail: describeRight(what, members) }));
  });
  return [...rights, ...compareTexts(before.texts, after.texts, rights)];
}

function describeRight(what: string, members: readonly string[]): string {
  const rows = `${members.length} example row${members.length === 1 ? '' : 's'}`;
  if (what.endsWith(tried)) return `${what}: ${rows}, such as for ${members[0]}`;
  return members[0] === '*' ? what : `${what} ${members.join(', ')}`;
}

const tried = ', tried';

/** A changed policy is judged by what the examples of its command and roles lost or gained; any other text is unclear. */
function compareTexts(before: Access['texts'], after: Access['texts'], rights: readonly Difference[]): Difference[] {
  return keysOf(before, after).flatMap((object): Difference[] => {
    const [old, current] = [before.get(object), after.get(object)];
    const { role = '', command = '', isPermissive = null } = current ?? old ?? {};
    if (isPermissive === null)
      return old && current && old.text !== current.text
        ? [{ verdict: 'unclear', object, role, detail: 'what it does has changed' }]
        : [];
    if (old && current) {
      if (old.text === current.text) return [];
      const found = new Set(
        rights
          .filter((right) => object.startsWith(`${right.object}.`) && role.split(', ').includes(right.role))
          .filter(({ detail }) => detail.includes(tried) && (command === 'all' || detail.startsWith(command)))
          .map(({ verdict }) => verdict),
      );
      const [only = 'unclear', ...others] = found;
      const verdict = others.length > 0 ? 'unclear' : only;
      return [{ verdict, object, role, detail: `${old.text} became ${current.text}` }];
    }
    const kind = isPermissive ? 'a policy' : 'a restrictive policy';
    const verdict = isPermissive === (current !== undefined) ? 'wider' : 'narrower';
    return [
      { verdict, object, role, detail: `${kind} ${current ? 'was added' : 'is gone'}: ${(current ?? old)?.text}` },
    ];
  });
}

const none: ReadonlySet<string> = new Set();

const keysOf = (before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>) =>
  [...new Set([...before.keys(), ...after.keys()])].sort();

/** Partitions of the history and of the feed are left out: their examples depend on the day. */
const tablesStatement = `
  select name from audit.relations
  where kind in ('table', 'partition')
    and relation not in (select inhrelid from pg_inherits where inhparent in (to_regclass('audit.changes'), to_regclass('feed.changes')))
  order by name`;

/** A change that leaves no trace gives no access, so of the bypasses those of the history are left out. */
const grants = `
  select jsonb_build_array(r.name, m.role, m.command)::text as key,
    case
      when m.command = 'delete' then array['*']
      when m.columns <> '{}' then m.columns
      else array(select attname::text from pg_attribute where attrelid = m.relation and attnum > 0 and not attisdropped)
    end as members
  from audit.matrix m
  join audit.relations r using (relation)
  where m.granted
  union all
  select jsonb_build_array(name, caller, 'call')::text, '{*}' from audit.functions cross join unnest(callers) as caller
  union all
  select jsonb_build_array(object, who, 'escapes the policies: ' || kind)::text, '{*}'
  from audit.bypasses
  where kind not in ('history', 'owner')
  union all
  select jsonb_build_array(name, '', 'row-level security is ' || row_security)::text, '{*}'
  from audit.relations
  where row_security <> 'forced'`;

/** The policies' expressions as one text: PostgreSQL would print them again for each function. */
const texts = `
  with expressions as materialized (select string_agg(concat_ws(' ', using_expression, check_expression), ' ') as text from audit.policies)
  select format('%s.%I', r.name, p.policy) as object, array_to_string(p.roles, ', ') as role, p.command, p.permissive as "isPermissive",
    concat_ws(' ', case when not p.permissive then 'restrictive' end, p.command, 'to', array_to_string(p.roles, ', '),
      'using ' || p.using_expression, 'with check ' || p.check_expression) as text
  from audit.policies p
  join audit.relations r using (relation)
  union all
  select r.name, '', '', null, pg_get_viewdef(r.relation) from audit.relations r where r.kind like '%view'
  union all
  select f.name, '', '', null, pg_get_functiondef(f.function)
  from audit.functions f, expressions e
  where f.definer or strpos(e.text, split_part(f.name, '(', 1) || '(') > 0`;

/**
 * All principals, and each role without claims: no request has such a role, and no policy may give it access.
 * The rows of all tables are one relation, so that principals and rights are read once and not for each table.
 */
const attempts = (tables: readonly string[]) => `
  with asker as materialized (
    select p as who from audit.principals p
    union all
    select row('nobody:' || role, null, role, '', null, null, null, false)::audit.principals
    from audit.request_roles
  ),
  example as materialized (${tables
    .map(
      (table) =>
        `select ${escapeLiteral(table)} as name, ${escapeLiteral(table)}::regclass as relation, to_jsonb(t) as value from ${table} t`,
    )
    .join(' union all ')}),
  tried as (
    select jsonb_build_array(e.name, m.role, m.command || '${tried}')::text as key,
      (a.who).principal || ' ' || audit.condition_of(e.relation, e.value) as member,
      audit.attempt(a.who, e.relation, e.value, m.command) as outcome
    from audit.matrix m
    join asker a on (a.who).role = m.role
    join example e using (relation)
    where m.granted
  )
  select key, array_agg(member order by member) as members from tried where outcome = 'allowed' group by key`;
