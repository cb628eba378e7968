import type { ClientBase } from 'pg';
import { isOpen, type Judgement, prove } from 'rls-prover';
import type { Drawn } from './schemas.ts';
import type { startProving } from './support.ts';
import { idsIn } from './tries/show.ts';

type Proving = Awaited<ReturnType<typeof startProving>>;

/** What came of a schema. `broken` are violations that PostgreSQL's rows show although nothing is open. */
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
export async function attack(proving: Proving, { statements, invariants }: Drawn): Promise<Outcome> {
  const isValid = await proving.after('', (client) => create(client, proving, statements));
  if (!isValid) return { isValid, open: [], violations: [], broken: [] };
  const { examples, ...options } = proving.options;
  const judgements = await proving.after('', async (client) => {
    await create(client, proving, statements);
    return prove({ ...options, client, invariants: [...options.invariants, ...invariants] }, proving.prover);
  });
  const violations = await proving.after('', async (client) => {
    await create(client, proving, statements);
    await examples?.insert(client);
    await client.query(idsIn(items));
    const found: string[] = [];
    for (const claims of principals)
      for (const act of acts) found.push(...(await violationsOf(client, proving.member, claims, act)));
    return found;
  });
  const open = judgements.filter(isOpen);
  const isProven = (name: string) =>
    judgements.some(
      (one) => one.verdict === 'proven' && `${one.invariant}: ${one.command} on ${one.relation}` === name,
    );
  // Of a single goal, what a client reads at once; of the others, only when nothing is open on which they rest.
  return {
    isValid,
    open,
    violations,
    broken: violations.filter((one) => open.length === 0 || isProven(one.split(' | ')[0] ?? '')),
  };
}

async function create(client: ClientBase, { member }: Proving, statements: readonly string[]): Promise<boolean> {
  await client.query('savepoint drawn; set local check_function_bodies = off');
  try {
    for (const statement of statements) await client.query(idsIn(statement).replaceAll(/\bmember\b/g, member));
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

const principals = [
  { tenant: ':A0', user: ':A1' },
  { tenant: ':A0', user: `''` },
  { tenant: `''`, user: `''` },
];

const become = `select set_config(''app.tenant_id'', ''bbbbbbbb-0000-7000-8000-000000000000'', true)`;
const acts: readonly string[] = [
  ...['items', 'notes', 'users', 'base', 'notices', 'seen', 'kept'].map(
    (name) => `select to_jsonb(t) as row from app.${name} t`,
  ),
  ...['items', 'seen', 'kept', 'notices'].map((name) => `select body from app.${name}`),
  ...[
    'select app.texts()',
    'select app.inner_text()',
    'select app.total(name) from app.users',
    'select app.may(tenant_id) from app.users',
  ],
  ...['items', 'notes', 'base', 'notices'].map((name) => `delete from app.${name}`),
  ...[
    'delete from app.notes where id = :A1',
    'update app.notes set id = gen_random_uuid() where id = :A1',
    'truncate app.items',
    'truncate app.items, app.notices',
  ],
  ...[
    `update app.items set body = 'x'`,
    'update app.items set tenant_id = :B0',
    'update app.items set author_id = :A2',
    'update app.items set tenant_id = :B0, author_id = :B1, note_id = :B1',
  ],
  ...[
    'update app.items set note_id = :A2',
    `update app.items set body = 'x' where id = :A1`,
    'update app.items set author_id = :A2 where id = :A1',
  ],
  ...[
    ':A0, gen_random_uuid(), :A1',
    ':A0, gen_random_uuid(), :A2',
    ':B0, gen_random_uuid(), :B1',
    ':B0, gen_random_uuid(), :A1',
  ].map((row) => `insert into app.items (tenant_id, id, author_id) values (${row})`),
  `update app.items set body = 'run ${become}' where id = :A1; select to_jsonb(t) as row from app.items t`,
  `update app.items set body = 'bbbbbbbb-0000-7000-8000-000000000001' where id = :A1; select to_jsonb(t) as row from app.items t`,
  `select body from app.seen where case when body = 'Text of B1' then body::int is null else true end`,
];

/** What an act shows or changes of what the claims do not give. */
async function violationsOf(
  client: ClientBase,
  member: string,
  claims: { tenant: string; user: string },
  act: string,
): Promise<string[]> {
  await client.query('savepoint attack');
  try {
    const before = await snapshot(client);
    await client.query(
      idsIn(
        `set local app.tenant_id = ${claims.tenant}; set local app.user_id = ${claims.user}; set local role ${member}`,
      ),
    );
    const shown = await answer(client, idsIn(act));
    await client.query('reset role');
    const after = await snapshot(client);
    const [mine, own] = [idsIn(claims.tenant).slice(1, -1), idsIn(claims.user).slice(1, -1)];
    const found: string[] = [];
    const [, table] = /^select to_jsonb\(t\) as row from app\.(items|notes|users) t$/.exec(act) ?? [];
    for (const row of shown.rows) {
      const seen = row as Row;
      if (seen.tenant_id && seen.tenant_id !== mine) found.push(`tenant: select on app.${table}`);
      if (seen.author_id && seen.author_id !== own) found.push(`author: select on app.${table}`);
    }
    const texts = own ? /Text of (A2|B)|Text of [b]|Text of aaaaaaaa-0000-7000-8000-000000000002/ : /Text of/;
    if (texts.test(shown.text)) found.push(`author: text of ${act}`);
    for (const [key, row] of before) {
      const now = after.get(key);
      if (now && JSON.stringify(now) === JSON.stringify(row)) continue;
      for (const one of now ? [row, now] : [row]) found.push(...breaks(one, mine, own, now ? 'update' : 'delete'));
    }
    for (const [key, row] of after) if (!before.has(key)) found.push(...breaks(row, mine, own, 'insert'));
    return [...new Set(found)].map((one) => `${one} | ${act}`);
  } finally {
    await client.query('rollback to savepoint attack; release savepoint attack');
  }
}

type Row = { readonly tenant_id?: string; readonly author_id?: string; readonly id?: string };

const breaks = ({ tenant_id: tenant, author_id: author }: Row, mine: string, own: string, how: string): string[] => [
  ...(tenant === mine ? [] : [`tenant: ${how}`]),
  ...(author === undefined || author === own ? [] : [`author: ${how}`]),
];

async function snapshot(client: ClientBase): Promise<Map<string, Row>> {
  const { rows } = await client.query(
    `select 'items ' || id as key, to_jsonb(t) as row from app.items t union all select 'notes ' || id, to_jsonb(t) from app.notes t
     union all select 'users ' || id, to_jsonb(t) from app.users t`,
  );
  return new Map(rows.map(({ key, row }) => [key, row]));
}

async function answer(client: ClientBase, text: string): Promise<{ rows: unknown[]; text: string }> {
  await client.query('savepoint act');
  try {
    const rows = [await client.query(text)].flat().at(-1)?.rows ?? [];
    return { rows: rows.map(({ row }) => row ?? {}), text: JSON.stringify(rows) };
  } catch (error) {
    await client.query('rollback to savepoint act');
    return { rows: [], text: (error as Error).message };
  }
}
