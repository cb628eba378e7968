import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inOrder } from '../../src/command/inOrder.ts';
import { labelsOf, valuesFor } from '../../src/command/inventValue.ts';
import { people } from '../../src/command/people.ts';
import { readAcceptances, readInvariants } from '../../src/command/readFiles.ts';
import type { Column, Table } from '../../src/command/readTables.ts';
import { parseSettings } from '../../src/command/usage.ts';
import { run } from '../foreign/openForeign.ts';

// The command without a database.

const url = 'postgres://localhost/x';

it('prints its help', async () => {
  const { code, out } = await run('--help');

  expect(code).toBe(0);
  expect(out).toMatch(/^Usage: rls-prover \[options\] <postgres:/);
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});

it.each([
  [[], /one URL/],
  [['mysql://localhost/x'], /one URL/],
  [[url, url], /one URL/],
  [[url, '--preset', 'hasura'], /--preset is one of supabase, postgrest, postgraphile/],
  [[url, '--format', 'xml'], /--format is one of table, json/],
  [[url, '--fail-on', 'proven'], /--fail-on is one of refuted, unproven/],
  [[url, '--claims', 'app.user_id'], /--claims app.user_id is not NAME=SETTING:TYPE/],
  [[url, '--colour'], /--colour/],
])('exits with 64 for %j', async (args, message) => {
  const { code, error } = await run(...args);

  expect(code).toBe(64);
  expect(error).toMatch(message);
});

it('exits with 69 when the database cannot be reached', async () => {
  const { code, error } = await run('postgres://nobody@127.0.0.1:1/nothing');

  expect(code).toBe(69);
  expect(error).toMatch(/the database cannot be reached: /);
});

it('reads the arguments', () => {
  expect(
    parseSettings([url, '--roles', 'a, b', '--claims', 'who=app.who:uuid', '--claims', 'of=app.of']),
  ).toMatchObject({
    ...{ url, roles: ['a', 'b'], failOn: 'refuted', format: 'table', isReadOnly: false },
    claims: [
      { name: 'who', setting: 'app.who', type: 'uuid' },
      { name: 'of', setting: 'app.of', type: 'text' },
    ],
  });
});

describe('a file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rls-prover-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const file = async (text: string) => {
    const path = join(folder, 'file');
    await writeFile(path, text);
    return path;
  };

  it('states invariants as policies', async () => {
    const path = await file(`
      -- Äpfel: bytes are not characters.
      create policy tenant on "*" using (old.tenant_id = claims.tenant_id /* ) */);
      create policy own on app.notes for update to a, b using ((new.id) = (old.id))`);

    expect(await readInvariants(path)).toEqual([
      { name: 'tenant', relation: '*', expression: 'old.tenant_id = claims.tenant_id /* ) */' },
      {
        name: 'own',
        relation: 'app.notes',
        expression: '(new.id) = (old.id)',
        commands: ['update'],
        roles: ['a', 'b'],
      },
    ]);
  });

  it.each([
    ['create policy a on notes using (true)', /a needs the schema of its table/],
    ['create policy a on app.notes with check (true)', /a needs its expression in `using/],
    ['select 1', /a statement that is no `create policy`/],
    ['create policy', /syntax error/],
  ])('with %j is refused', async (text, message) => {
    await expect(readInvariants(await file(text))).rejects.toThrow(message);
  });

  it.each([
    ['{}', /has to be a list/],
    ['[{"invariant": "own"}]', /entry 1 needs relation, command, role, reason/],
    ['[', /is no JSON/],
  ])('of acceptances with %j is refused', async (text, message) => {
    await expect(readAcceptances(await file(text))).rejects.toThrow(message);
  });
});

describe('an invented value', () => {
  const column = (changes: Partial<Column>): Column => ({
    ...{ name: 'status', type: 'text', base: 'text', category: 'S', labels: [], maxLength: null },
    ...{ isRequired: true, hasDefault: false, isIdentity: false, isGenerated: false, ...changes },
  });
  const table = (changes: Partial<Table> = {}): Table => ({
    ...{
      name: 'app.notes',
      schema: 'app',
      bare: 'notes',
      columns: [],
      primaryKey: ['id'],
      unique: [],
      foreignKeys: [],
    },
    ...{ checks: [], policies: [], rows: 0, ...changes },
  });
  const [ann, bob, cyd] = people as [(typeof people)[0], (typeof people)[0], (typeof people)[0]];
  const first = (one: Column, of: Table, person = ann) => valuesFor(one, of, person, 1, '')[0];

  it('is one of those that a check lists, another one for each person', () => {
    const checks = [`CHECK ((status = ANY (ARRAY['draft'::text, 'listed'::text])))`];

    expect(labelsOf(column({}), table({ checks }), '')).toEqual(['draft', 'listed']);
    expect([ann, bob].map((person) => first(column({}), table({ checks }), person))).toEqual(['draft', 'listed']);
  });

  it('gives more rights to nobody but who has them', () => {
    const role = column({ name: 'role', labels: ['admin', 'member'], category: 'E' });

    expect([ann, bob, cyd].map((person) => first(role, table(), person))).toEqual(['member', 'member', 'admin']);
  });

  it('fits into its column', () => {
    expect(first(column({ name: 'title', maxLength: 5 }), table())).toBe('title');
  });

  it('comes after those to which its row refers, also in a cycle that may be broken', () => {
    const refersTo = (references: string, ...columns: string[]) => [{ columns, references, referenced: ['id'] }];
    const a = table({
      name: 'app.a',
      foreignKeys: refersTo('app.b', 'b_id'),
      columns: [column({ name: 'b_id', isRequired: false })],
    });
    const b = table({ name: 'app.b', foreignKeys: refersTo('app.a', 'a_id'), columns: [column({ name: 'a_id' })] });
    const c = table({ name: 'app.c', foreignKeys: refersTo('app.d', 'd_id') });
    const d = table({ name: 'app.d' });
    const identity = { user: '', type: 'uuid', table: null, column: null, functions: [] };

    expect(inOrder([c, b, a, d], { identity }).map(({ name }) => name)).toEqual(['app.d', 'app.c', 'app.a', 'app.b']);
  });
});
