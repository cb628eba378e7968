import type { ClientBase, QueryResult } from 'pg';
import { isOpen, type Judgement, prove, proveChanged } from 'rls-prover';
import { undone } from '../src/savepoints.ts';
import type { Drawn } from './schemas.ts';
import type { startProving } from './support.ts';
import { idsIn } from './tries/show.ts';

type Proving = Awaited<ReturnType<typeof startProving>>;

/** The judgements of a schema, and what rows show of it. `broken` are violations of what is proven. */
export type Outcome = {
  isValid: boolean;
  open: readonly Judgement[];
  violations: readonly string[];
  broken: readonly string[];
};

/**
 * Judges a schema, and tries to refute what is proven with rows.
 * Tenants A and B have two people each, and each person a note and items. Clients with different claims give commands, and what they see and
 * what has changed is compared with the invariants by this file alone.
 */
export const attack = (proving: Proving, drawn: Drawn): Promise<Outcome> =>
  proving.after('', async (client) => {
    if (!(await create(client, proving, drawn))) return { isValid: false, open: [], violations: [], broken: [] };
    const judgements = await undone(client, () => prove(optionsOf(proving, drawn, client), proving.prover));
    const violations = await findViolations(client, proving, drawn);
    const open = judgements.filter(isOpen);
    const proven = new Set(judgements.filter(({ verdict }) => verdict === 'proven').map(nameOf));
    // A row that a client reads breaks its own goal. Other violations may be those of an open judgement.
    const broken = violations.filter((one) => open.length === 0 || proven.has(goalOf(one)));
    return { isValid: true, open, violations, broken };
  });

/** The judgements of a schema after a change of it. */
export type Changed = {
  isValid: boolean;
  kept: number;
  accepted: number;
  /** Judgements that were kept from before the change, and are other ones now. */
  stale: readonly string[];
  /** Violations that the change brought, and that a judgement accepted before it covers. */
  hidden: readonly string[];
};

/** Judges a schema, accepts what is open, changes the schema and judges it again. */
export const change = (proving: Proving, { before, after }: { before: Drawn; after: Drawn }): Promise<Changed> =>
  proving.after('', async (client) => {
    const none = { isValid: false, kept: 0, accepted: 0, stale: [], hidden: [] };
    const first = await undone(client, async () => {
      if (!(await create(client, proving, before))) return null;
      const options = optionsOf(proving, before, client);
      const judgements = await undone(client, () => proveChanged(options, [], proving.prover));
      return { judgements, violations: await findViolations(client, proving, before) };
    });
    if (!first || !(await create(client, proving, after))) return none;

    const accepted = first.judgements.filter(isOpen).map((one) => ({ ...one, reason: 'For a test.' }));
    const options = { ...optionsOf(proving, after, client), accepted };
    const again = await undone(client, () => proveChanged(options, first.judgements, proving.prover));
    const anew = await undone(client, () => prove(options, proving.prover));
    const violations = await findViolations(client, proving, after);
    const lines = new Set(anew.map(lineOf));
    const earlier = new Map(first.judgements.map((one) => [nameOf(one), one.digest]));
    const covered = new Set(anew.filter(({ accepted }) => accepted !== null).map(nameOf));
    return {
      isValid: true,
      kept: again.filter((one) => one.digest !== null && one.digest === earlier.get(nameOf(one))).length,
      accepted: covered.size,
      stale: again.map(lineOf).filter((line) => !lines.has(line)),
      hidden: violations.filter((one) => !first.violations.includes(one) && covered.has(goalOf(one))),
    };
  });

const nameOf = ({ invariant, command, relation }: Judgement) => `${invariant}: ${command} on ${relation}`;
const lineOf = (one: Judgement) => `${nameOf(one)}: ${one.verdict}, ${one.accepted}`;
const goalOf = (violation: string) => violation.split(' | ')[0] ?? '';

/** Without examples, so that what is not proven is not tried. */
function optionsOf({ options: { examples: _, ...options } }: Proving, { invariants }: Drawn, client: ClientBase) {
  return { ...options, client, invariants: [...options.invariants, ...invariants] };
}

async function create(client: ClientBase, { member }: Proving, { statements }: Drawn): Promise<boolean> {
  await client.query('savepoint drawn; set local check_function_bodies = off');
  try {
    await client.query(idsIn(statements.join(';')).replaceAll(/\bmember\b/g, member));
    return true;
  } catch {
    await client.query('rollback to savepoint drawn');
    return false;
  }
}

/** Each person's item of their own note, A2's of A1's note, and one whose composite is half of nulls. */
const items = `
  insert into app.items (tenant_id, id, author_id, note_id, body, pair) values
    (:A0, :A1, :A1, :A1, 'Text of A1', row(null, null)), (:A0, :A2, :A2, :A2, 'Text of A2', row(1, null)), (:A0, :A3, :A2, :A1, 'Text of A2 too', null),
    (:B0, :B1, :B1, :B1, 'Text of B1', row(null, null)), (:B0, :B2, :B2, :B2, null, row(1, 2))`;

/** Clients by their claims, each with the texts that it must not see. A person of another tenant has no row at all. */
const principals = [
  { tenant: ':A0', user: ':A1', hidden: /Text of (A2|B|b|aaaaaaaa-0000-7000-8000-000000000002)/ },
  { tenant: ':A0', user: ':B1', hidden: /Text of/ },
  { tenant: ':A0', user: `''`, hidden: /Text of/ },
  { tenant: `''`, user: `''`, hidden: /Text of/ },
];

type Client = (typeof principals)[number];

const become = `select set_config(''app.tenant_id'', ''bbbbbbbb-0000-7000-8000-000000000000'', true)`;
const acts: readonly string[] = [
  ...['items', 'notes', 'users', 'base', 'notices', 'seen', 'owned', 'kept'].map(
    (name) => `select to_jsonb(t) as row from app.${name} t`,
  ),
  ...['items', 'seen', 'owned', 'kept', 'notices'].map((name) => `select body from app.${name}`),
  ...[
    'select app.texts()',
    'select app.inner_text()',
    'select app.total(name) from app.users',
    'select app.may(tenant_id) from app.users',
    ...['select app.first(0)', 'select app.first(1)', 'select app.second(1)', `select app.checking('ask')`],
    `update app.items set label = 'ask' where id = :A1`,
    `insert into app.items (tenant_id, id, author_id, label) values (:A0, gen_random_uuid(), :A1, 'ask')`,
  ],
  ...['items', 'notes', 'base', 'notices', 'seen', 'owned'].map((name) => `delete from app.${name}`),
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

/** Clients' violations of the invariants, as `tenant: select on app.items | …`. */
async function findViolations(client: ClientBase, proving: Proving, { statements }: Drawn): Promise<string[]> {
  await proving.options.examples?.insert(client);
  await client.query(idsIn(items));
  const before = rowsOf(await client.query(snapshot));
  const found: string[] = [];
  const isThere = (name: string) =>
    /^(users|notes|tenant_id|user_id)$/.test(name) || statements.some((one) => one.includes(`app.${name}`));
  const possible = acts.filter((act) => [...act.matchAll(/\bapp\.(\w+)/g)].every(([, name = '']) => isThere(name)));
  for (const claims of principals)
    for (const act of possible) found.push(...(await violationsOf(client, proving.member, claims, act, before)));
  return found;
}

/** The violations by one act, which is undone. */
async function violationsOf(
  client: ClientBase,
  member: string,
  claims: Client,
  act: string,
  before: ReadonlyMap<string, Row>,
): Promise<string[]> {
  await client.query(
    idsIn(
      `savepoint attack; set local app.tenant_id = ${claims.tenant}; set local app.user_id = ${claims.user}; set local role ${member}`,
    ),
  );
  let shown: { rows: readonly Row[]; text: string };
  let after = before;
  try {
    const rows = [await client.query(idsIn(act))].flat().at(-1)?.rows ?? [];
    shown = { rows: rows.map(({ row }) => row ?? {}), text: JSON.stringify(rows) };
    // A statement that fails changes nothing.
    after = rowsOf(await client.query(`reset role; ${snapshot}`));
  } catch (error) {
    shown = { rows: [], text: (error as Error).message };
  }
  await client.query('rollback to savepoint attack; release savepoint attack');

  const [mine, own] = [idsIn(claims.tenant).slice(1, -1), idsIn(claims.user).slice(1, -1)];
  const found: string[] = [];
  const [, table] = /^select to_jsonb\(t\) as row from app\.(\w+) t$/.exec(act) ?? [];
  for (const seen of shown.rows) {
    if (seen.tenant_id && seen.tenant_id !== mine) found.push(`tenant: select on app.${table}`);
    if (seen.author_id && seen.author_id !== own) found.push(`author: select on app.${table}`);
  }
  if (claims.hidden.test(shown.text)) found.push(`author: text of ${act}`);
  for (const [key, row] of before) {
    const now = after.get(key);
    if (now && JSON.stringify(now) === JSON.stringify(row)) continue;
    for (const one of now ? [row, now] : [row]) found.push(...breaks(one, mine, own, now ? 'update' : 'delete'));
  }
  for (const [key, row] of after) if (!before.has(key)) found.push(...breaks(row, mine, own, 'insert'));
  return [...new Set(found)].map((one) => `${one} | ${act}`);
}

type Row = { readonly tenant_id?: string; readonly author_id?: string; readonly id?: string };

const breaks = ({ tenant_id: tenant, author_id: author }: Row, mine: string, own: string, how: string): string[] => [
  ...(tenant === mine ? [] : [`tenant: ${how}`]),
  ...(author === undefined || author === own ? [] : [`author: ${how}`]),
];

const snapshot = `
  select 'items ' || id as key, to_jsonb(t) as row from app.items t union all select 'notes ' || id, to_jsonb(t) from app.notes t
  union all select 'users ' || id, to_jsonb(t) from app.users t`;

/** The rows of the last of some statements. */
const rowsOf = (results: QueryResult | QueryResult[]): ReadonlyMap<string, Row> =>
  new Map(
    [results]
      .flat()
      .at(-1)
      ?.rows.map(({ key, row }) => [key, row]),
  );
