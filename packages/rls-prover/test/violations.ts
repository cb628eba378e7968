import type { ClientBase, QueryResult } from 'pg';
import type { Drawn } from './schemas.ts';
import type { startProving } from './support.ts';
import { idsIn } from './tries/show.ts';

type Proving = Awaited<ReturnType<typeof startProving>>;

/** A row that a client reads or changes against an invariant. */
export type Violation = {
  /** Such as `tenant: update on app.items`. */
  readonly what: string;
  readonly act: string;
  /** The judgements that may be about it. Empty: these are not known, since a trigger or a function may have done it. */
  readonly goals: readonly string[];
};

/**
 * Gives commands as clients with different claims, and compares what they see and what has changed with the invariants.
 * Tenants A and B have two people each, and each person a note and items. This file shares no code with the prover.
 */
export async function findViolations(
  client: ClientBase,
  proving: Proving,
  { statements, session }: Drawn,
): Promise<Violation[]> {
  await proving.options.examples?.insert(client);
  const has = (text: string) => statements.some((one) => one.includes(text));
  await client.query(idsIn(items));
  // A trigger that was drawn may refuse an update.
  const linked = [...links, ...moreRows].filter(({ part }) => has(part)).map(({ rows }) => rows);
  await client.query(`set local session_replication_role = replica; ${idsIn(linked.join(';'))}`);
  await client.query('set local session_replication_role = origin');
  const snapshot = tables
    .filter((name) => /^(notes|users)$/.test(name) || has(`create table app.${name} `))
    .map((name) => `select '${name} ' || id as key, to_jsonb(t) - 'code' as row from app.${name} t`)
    .join(' union all ');
  const before = rowsOf(await client.query(snapshot));
  const isThere = (name: string) => /^(users|notes|tenant_id|user_id)$/.test(name) || has(`app.${name}`);
  const possible = acts.filter((act) => [...act.matchAll(/\bapp\.(\w+)/g)].every(([, name = '']) => isThere(name)));
  const isIndirect = indirect.some(has) || /^(update|delete) /.test(session);
  const found: Violation[] = [];
  for (const claims of principals)
    for (const act of possible) {
      const shown = await showAct(client, proving.member, claims, { act, session, snapshot });
      found.push(...violationsOf(shown, claims, act, before).map((one) => (isIndirect ? { ...one, goals: [] } : one)));
    }
  return found;
}

/** Each person's item of their own note, A2's of A1's note, and one whose composite is half of nulls. */
const items = `
  insert into app.items (tenant_id, id, author_id, note_id, body, pair) values
    (:A0, :A1, :A1, :A1, 'Text of A1', row(null, null)), (:A0, :A2, :A2, :A2, 'Text of A2', row(1, null)), (:A0, :A3, :A2, :A1, 'Text of A2 too', null),
    (:B0, :B1, :B1, :B1, 'Text of B1', row(null, null)), (:B0, :B2, :B2, :B2, null, row(1, 2))`;

/** A2's item and note of A1's item, where a schema has such a column. */
const links = [
  { part: 'parent_id', rows: 'update app.items set parent_id = :A1 where id = :A3' },
  { part: 'item_id', rows: 'update app.notes set item_id = :A1 where id = :A2' },
];
/** A row of each of three people. */
const moreRows = ['events', 'parts', 'marks'].map((name) => ({
  part: `create table app.${name} `,
  // A check that was drawn may reject them.
  rows: `do $$ begin insert into app.${name} (tenant_id, author_id${name === 'marks' ? ', mark' : ''}) values ${[
    ['A0', 'A1'],
    ['A0', 'A2'],
    ['B0', 'B1'],
  ]
    .map(([tenant, author]) => `(:${tenant}, :${author}${name === 'marks' ? `, :${tenant}` : ''})`)
    .join(', ')}; exception when check_violation then null; end $$`,
}));

const tables = ['items', 'notes', 'users', 'events', 'parts', 'marks'];

/** Where one command sets another in motion, any judgement may be about what it shows. */
const indirect = ['create rule', 'app.tidy', 'set_config', 'execute substr', 'app.go()', 'app.deep_', 'app.moving'];

/** Clients by their claims, each with the texts that it must not see. A person of another tenant has no row at all. */
const principals = [
  { tenant: ':B0', user: ':B1', hidden: /Text of (A|B2|a|bbbbbbbb-0000-7000-8000-000000000002)/ },
  { tenant: ':A0', user: ':A1', hidden: /Text of (A2|B|b|aaaaaaaa-0000-7000-8000-000000000002)/ },
  { tenant: ':A0', user: ':B1', hidden: /Text of/ },
  { tenant: ':A0', user: `''`, hidden: /Text of/ },
  { tenant: `''`, user: `''`, hidden: /Text of/ },
];

type Client = (typeof principals)[number];

/** Sets another tenant's claim, where a trigger runs text. */
const become = `select set_config(''app.tenant_id'', ''bbbbbbbb-0000-7000-8000-000000000000'', true)`;

const people = ['A0 A1', 'A0 A2', 'B0 B1', 'B0 A1'].map((one) =>
  one
    .split(' ')
    .map((id) => `:${id}`)
    .join(', '),
);
const thenReads = '; select to_jsonb(t) as row from app.users t';

/** Of tables and views that only some schemas have; each may change what a later statement shows. */
const moreActs: readonly string[] = [
  ...['events', 'parts', 'parts_2', 'marks'].flatMap((name) => [
    ...people.flatMap((ids) => {
      const insert = `insert into app.${name} (tenant_id, author_id) values (${ids})`;
      return name === 'events' ? [insert, insert + thenReads] : [insert];
    }),
    `delete from app.${name}`,
  ]),
  ...people.map(
    (ids) => `insert into app.doors (tenant_id, id, author_id) select ${ids.replace(',', ', gen_random_uuid(),')}`,
  ),
  ...['doors', 'deep_1', 'deep_2', 'deep_3'].flatMap((name) => [
    ...[`update app.${name} set body = 'x'`, `update app.${name} set author_id = :A2`, `delete from app.${name}`],
    `insert into app.${name} (tenant_id, id, author_id) values (:A0, gen_random_uuid(), :A2)`,
  ]),
  ...['kind = 2', `body = 'x'`, 'tenant_id = :B0', 'kind = 2, author_id = :A2'].map(
    (set) => `update app.parts set ${set}`,
  ),
  ...['parts_1', 'parts_2'].map((name) => `update app.${name} set body = 'x'`),
  `select more from app.listed${thenReads}`,
  `update app.items set body = 'x'${thenReads}`,
  ...[':A0', ':B0'].map((mark) => `insert into app.marks (tenant_id, author_id, mark) values (:B0, :A1, ${mark})`),
  `update app.marks set mark = 'x'`,
  `update app.marks set mark = :A0, tenant_id = :B0, at = '2024-01-02'`,
];

const acts: readonly string[] = [
  ...[
    ...['items', 'notes', 'users', 'base', 'notices', 'seen', 'owned', 'kept', 'events', 'listed', 'marks'],
    ...['parts', 'parts_1', 'parts_2', 'doors', 'deep_1', 'deep_2', 'deep_3'],
  ].map((name) => `select to_jsonb(t) as row from app.${name} t`),
  ...moreActs,
  ...['items', 'seen', 'owned', 'kept', 'notices'].map((name) => `select body from app.${name}`),
  ...[
    'select app.texts()',
    'set local search_path = app; select app.texts()',
    'select app.inner_text()',
    'select app.total(name) from app.users',
    'select app.may(tenant_id) from app.users',
    ...['select app.first(0)', 'select app.first(1)', 'select app.second(1)', `select app.checking('ask')`],
    `update app.items set label = 'ask' where id = :A1`,
    `insert into app.items (tenant_id, id, author_id, label) values (:A0, gen_random_uuid(), :A1, 'ask')`,
  ],
  ...['items', 'notes', 'users', 'base', 'notices', 'seen', 'owned'].map((name) => `delete from app.${name}`),
  ...[
    'delete from app.notes where id = :A1',
    'update app.notes set id = gen_random_uuid() where id = :A1',
    'truncate app.items',
    'truncate app.items, app.notices',
  ],
  ...['items', 'seen', 'owned'].flatMap((name) => [
    `update app.${name} set body = 'x'`,
    `update app.${name} set tenant_id = :B0`,
    `update app.${name} set author_id = :A2`,
    `update app.${name} set tenant_id = :B0, author_id = :B1`,
  ]),
  ...[
    'update app.items set tenant_id = :B0, author_id = :B1, note_id = :B1',
    'update app.items set note_id = :A2',
    `update app.items set body = 'x' where id = :A1`,
    'update app.items set author_id = :A2 where id = :A1',
  ],
  ...[
    ':A0, gen_random_uuid(), :A1',
    ':A0, gen_random_uuid(), :A2',
    ':B0, gen_random_uuid(), :B1',
    ':B0, gen_random_uuid(), :A1',
  ].flatMap((row) =>
    ['items', 'owned'].map((name) => `insert into app.${name} (tenant_id, id, author_id) values (${row})`),
  ),
  `update app.items set body = 'run ${become}' where id = :A1; select to_jsonb(t) as row from app.items t`,
  `update app.items set body = 'bbbbbbbb-0000-7000-8000-000000000001' where id = :A1; select to_jsonb(t) as row from app.items t`,
  `select body from app.seen where case when body = 'Text of B1' then body::int is null else true end`,
];

/** The rows that an act shows, its text, and all rows after it. The act is undone. */
type Shown = { readonly seen: readonly Row[]; readonly text: string; readonly after: ReadonlyMap<string, Row> | null };

/** One round trip: a statement that fails ends the others, and has changed nothing. */
async function showAct(
  client: ClientBase,
  member: string,
  { tenant, user }: Client,
  { act, session, snapshot }: { act: string; session: string; snapshot: string },
): Promise<Shown> {
  const first = `savepoint attack; set local app.tenant_id = ${tenant}; set local app.user_id = ${user}; set local role ${member}`;
  try {
    const results = (await client.query(
      idsIn([first, session, act, 'reset role', snapshot].join(';')),
    )) as unknown as QueryResult[];
    const rows = results.at(-3)?.rows ?? [];
    return { seen: rows.map(({ row }) => row ?? {}), text: JSON.stringify(rows), after: rowsOf(results) };
  } catch (error) {
    return { seen: [], text: (error as Error).message, after: null };
  } finally {
    await client.query('rollback to savepoint attack; release savepoint attack');
  }
}

function violationsOf(
  { seen, text, after }: Shown,
  { tenant, user, hidden }: Client,
  act: string,
  before: ReadonlyMap<string, Row>,
): Violation[] {
  const [mine, own] = [idsIn(tenant).slice(1, -1), idsIn(user).slice(1, -1)];
  const found = new Map<string, Violation>();
  const add = (what: string, goals: readonly string[]) => found.set(what, { what, act, goals });
  const [, read] = /(?:^|; )select (?:to_jsonb\(t\) as row|body) from app\.(\w+)(?: t)?$/.exec(act) ?? [];
  for (const row of seen) {
    if (row.tenant_id && row.tenant_id !== mine)
      add(`tenant: select on app.${read}`, [`tenant: select on app.${read}`]);
    if (row.author_id && row.author_id !== own) add(`author: select on app.${read}`, [`author: select on app.${read}`]);
  }
  if (hidden.test(text))
    add('author: text', read ? ['tenant', 'author'].map((name) => `${name}: select on app.${read}`) : calledBy(act));
  if (!after) return [...found.values()];

  const [, command = '', , target] = /^(insert|update|delete|truncate)( into| from)? app\.(\w+)/.exec(act) ?? [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(key), after.get(key)];
    if (was && is && JSON.stringify(was) === JSON.stringify(is)) continue;
    const table = key.split(' ')[0];
    const change = was ? (is ? 'update' : 'delete') : 'insert';
    // The command on the table, a view of it or a parent may be the cause. So may an action of a foreign key, also one that comes back to the
    // table.
    const isPlain = command === change || (command === 'truncate' && change === 'delete');
    const byAction = table === target ? (isPlain ? [] : [change]) : ['delete', 'update'];
    const places = [`${command} on app.${target}`, ...byAction.map((action) => `${action} on app.${table}`)];
    for (const name of brokenBy(was, is, mine, own))
      add(`${name}: ${change} on app.${table}`, target ? places.map((place) => `${name}: ${place}`) : []);
  }
  return [...found.values()];
}

/** The judgement of the function that is called. */
const calledBy = (act: string): string[] => {
  const [, name] = /^(?:set local search_path = app; )?select app\.(\w+)\(/.exec(act) ?? [];
  return ['', 'integer', 'text', 'app.checked'].map((type) => `definer: call on app.${name}(${type})`);
};

type Row = {
  readonly tenant_id?: string;
  readonly author_id?: string;
  readonly id?: string;
  readonly note_id?: string;
};

/** The invariants that a change breaks. */
function brokenBy(was: Row | undefined, is: Row | undefined, mine: string, own: string): string[] {
  const rows = [was, is].filter((row) => row !== undefined);
  const isKept = !was || !is || !('note_id' in was) || was.author_id === is.author_id;
  return [
    ...(rows.every(({ tenant_id }) => tenant_id === mine) ? [] : ['tenant']),
    ...(rows.every(({ author_id }) => author_id === undefined || author_id === own) ? [] : ['author']),
    ...(isKept ? [] : ['fixed']),
  ];
}

/** The rows of the last of some statements. */
const rowsOf = (results: QueryResult | QueryResult[]): ReadonlyMap<string, Row> =>
  new Map(
    [results]
      .flat()
      .at(-1)
      ?.rows.map(({ key, row }) => [key, row]),
  );
