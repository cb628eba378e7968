import { readFile } from 'node:fs/promises';
import { createTenant, createUser, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { audit, undone } from './support.ts';

// The rights to write the history, and the tables that it records.

let database: TestDatabase;
let tenant: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  tenant = await createTenant({ database });
  await createUser(tenant);
});
afterAll(() => database.drop());

const organization = '00000000-0000-7000-8000-000000000001';
const query = async (statement: string, values: unknown[] = []) => (await database.owner.query(statement, values)).rows;

describe('no role rewrites it', () => {
  const roles = ['graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'graph_admin', 'graph_auditor'];
  const entry = `insert into audit.changes (organization_id, subject_id, relation, row_id, command, columns, role, login)
    values (gen_random_uuid(), gen_random_uuid(), 'x', 'x', 'insert', '{}', 'x', 'x')`;

  it.each(roles)('%s can neither write, change nor delete an entry', async (role) => {
    for (const statement of [
      entry,
      `update audit.changes set role = 'x'`,
      'update audit.changes set before = null',
      'delete from audit.changes',
      'truncate audit.changes',
    ])
      await expect(undone(database.owner, `set local role ${role}`, statement)).rejects.toMatchObject({
        code: '42501',
      });
  });

  it('graph_helper takes values away, and that is all', async () => {
    const asHelper = (...statements: string[]) => undone(database.owner, 'set local role graph_helper', ...statements);

    await expect(asHelper(`update audit.changes set after = '{"full_name": "Forged"}'`)).rejects.toMatchObject({
      code: '42501',
    });
    await expect(asHelper(`update audit.changes set login = 'somebody else'`)).rejects.toMatchObject({ code: '42501' });
    await expect(asHelper('delete from audit.changes')).rejects.toMatchObject({ code: '42501' });
    expect(
      await asHelper(
        'update audit.changes set before = null, after = null',
        'select count(after)::int from audit.changes',
      ),
    ).toEqual([{ count: 0 }]);
  });

  it('cannot be called but by the triggers', async () => {
    for (const role of roles) {
      const rows = await query(
        `select p.proname from pg_proc p where p.pronamespace = 'audit'::regnamespace and p.prosecdef and has_function_privilege($1, p.oid, 'execute')`,
        [role],
      );
      expect(rows).toEqual([]);
    }
  });
});

describe('audit.record', () => {
  const statements = [
    `create table app_public.lockers (organization_id uuid not null, id uuid not null default app_hidden.uuid_v7(), user_id uuid,
       name text, pin_hash text, primary key (organization_id, id))`,
    `select audit.record('app_public.lockers', subject_id => 'user_id', secrets => '{pin_hash}')`,
  ];

  it('records a new table, by the person it belongs to', async () => {
    const user = await createUser(tenant);
    const rows = await undone(
      database.owner,
      ...statements,
      `insert into app_public.lockers (organization_id, user_id, name, pin_hash) values ('${tenant.organizationId}', '${user.uuid}', 'Hall', 'hashed')`,
      `update app_public.lockers set name = 'Attic', pin_hash = 'other'`,
      'delete from app_public.lockers',
      `select command, columns, before, after from audit.changes where relation = 'app_public.lockers' and subject_id = '${user.uuid}' order by id`,
    );

    const whole = { name: 'Attic', user_id: user.uuid };
    expect(rows).toEqual([
      {
        command: 'insert',
        columns: expect.arrayContaining(['name', 'pin_hash']),
        before: null,
        after: expect.objectContaining({ ...whole, name: 'Hall' }),
      },
      { command: 'update', columns: ['name', 'pin_hash'], before: { name: 'Hall' }, after: { name: 'Attic' } },
      {
        command: 'delete',
        columns: expect.arrayContaining(['name', 'pin_hash']),
        before: expect.objectContaining(whole),
        after: null,
      },
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/hashed|other/);
  });

  it('refuses a column that is not there', async () => {
    await expect(
      undone(database.owner, `select audit.record('app_public.cards', secrets => '{pin}')`),
    ).rejects.toMatchObject({ code: '42703' });
  });

  it('is missed where it is not called', async () => {
    const rows = await undone(
      database.owner,
      statements[0] ?? '',
      `select object from audit.findings where name = 'bypass_history'`,
    );
    expect(rows).toEqual([{ object: 'app_public.lockers' }]);
    const recorded = await undone(
      database.owner,
      ...statements,
      `select object from audit.findings where name = 'bypass_history'`,
    );
    expect(recorded).toEqual([]);
  });
});

describe('a column of a recorded table', () => {
  const safes = [
    `create table app_public.safes (organization_id uuid not null, id uuid not null default app_hidden.uuid_v7(), gone int, owner_id uuid,
       pin_hash text, label text, made_at timestamptz default now(), primary key (organization_id, id));
     alter table app_public.safes drop column gone`,
    `select audit.record('app_public.safes', subject_id => 'owner_id', secrets => '{pin_hash}', derived => '{made_at}')`,
  ];
  const write = (names: string) => [
    `insert into app_public.safes (organization_id, ${names}) values ('${organization}', '${organization}', 'hashed', 'Hall')`,
    `update app_public.safes set (${names}) = ('${organization}', 'hashed again', 'Attic')`,
    'delete from app_public.safes',
  ];
  const written = `select string_agg(distinct subject_id::text, ' ') as subjects, string_agg(before::text || coalesce(after::text, ''), ' ') as values,
      bool_or('made_at' = any (columns) or 'made' = any (columns)) as has_derived, count(*)::int as count
    from audit.changes where relation in ('app_public.safes', 'app_hidden.vaults')`;

  it.each([
    [
      'is renamed in a block',
      ['do $$ begin alter table app_public.safes rename column pin_hash to pin_digest; end $$'],
      'owner_id, pin_digest, label',
    ],
    [
      'changes names with another',
      ['pin_hash to old', 'label to pin_hash', 'old to label'].map(
        (names) => `alter table app_public.safes rename column ${names}`,
      ),
      'owner_id, label, pin_hash',
    ],
    [
      'is renamed, as are those of persons and derived ones',
      ['pin_hash to pin_digest', 'owner_id to holder_id', 'made_at to made'].map(
        (names) => `alter table app_public.safes rename column ${names}`,
      ),
      'holder_id, pin_digest, label',
    ],
    [
      'is renamed, and another one is called as it was',
      [
        'alter table app_public.safes rename column pin_hash to pin_digest',
        'alter table app_public.safes add column pin_hash text',
      ],
      'owner_id, pin_digest, label',
    ],
    [
      'is renamed together with its key, and audit.record is called again',
      [
        'alter table app_public.safes rename column pin_hash to pin_digest',
        'alter table app_public.safes rename column id to safe_id',
        `select audit.record('app_public.safes')`,
      ],
      'owner_id, pin_digest, label',
    ],
    [
      'is renamed in a partition of another order',
      [
        'drop table app_public.safes',
        `create table app_public.safes (organization_id uuid, id uuid default app_hidden.uuid_v7(), gone int, owner_id uuid, pin_hash text,
           label text, made_at timestamptz default now(), primary key (organization_id, id)) partition by hash (id)`,
        'alter table app_public.safes drop column gone',
        `create table app_public.safes_all (made_at timestamptz, label text, pin_hash text, owner_id uuid, id uuid not null, organization_id uuid not null)`,
        `select audit.record('app_public.safes', subject_id => 'owner_id', secrets => '{pin_hash}', derived => '{made_at}')`,
        'alter table app_public.safes attach partition app_public.safes_all for values with (modulus 1, remainder 0)',
        'alter table app_public.safes rename column pin_hash to pin_digest',
      ],
      'owner_id, pin_digest, label',
    ],
    [
      'is renamed along with its table, in another schema',
      [
        'alter table app_public.safes rename column pin_hash to pin_digest',
        'alter table app_public.safes rename to vaults',
        'alter table app_public.vaults set schema app_hidden',
        `create view app_public.safes as select * from app_hidden.vaults`,
      ],
      'owner_id, pin_digest, label',
    ],
  ])('keeps its secret when it %s', async (_, statements, names) => {
    const [told] = await undone(database.owner, ...safes, ...statements, ...write(names), written);

    expect(told).toMatchObject({ subjects: organization, has_derived: false, count: 3 });
    expect(told?.values).toContain('Attic');
    expect(told?.values).not.toContain('hashed');
  });

  it('keeps its secret from a transaction that began before it was renamed', async () => {
    const [reader, migration] = [await database.owner.connect(), await database.owner.connect()];
    for (const statement of safes) await migration.query(statement);
    await reader.query('begin isolation level repeatable read; select from app_public.units');
    await migration.query('alter table app_public.safes rename column pin_hash to pin_digest');
    for (const statement of write('owner_id, pin_digest, label')) await reader.query(statement);
    const { rows } = await reader.query(written);
    await reader.query('rollback');
    await migration.query('drop table app_public.safes');
    for (const client of [reader, migration]) client.release();

    expect(rows[0].values).toContain('Attic');
    expect(rows[0].values).not.toContain('hashed');
  });

  it('is not dropped or changed while it is secret', async () => {
    const renamed = [...safes, 'alter table app_public.safes rename column pin_hash to pin_digest'];
    const named = `select audit.record('app_public.safes', secrets => '{}')`;

    for (const [change, code] of [
      ['drop column pin_digest', '2BP01'],
      ['alter column pin_digest type varchar(100)', '0A000'],
    ] as const) {
      const statement = `alter table app_public.safes ${change}`;
      await expect(undone(database.owner, ...renamed, statement)).rejects.toMatchObject({ code });
      await undone(
        database.owner,
        ...renamed,
        named,
        statement,
        `insert into app_public.safes (organization_id) values ('${organization}')`,
      );
    }
  });

  it('stops all writes, and is a finding, when it was dropped with the trigger that has it', async () => {
    const dropped = [
      ...safes,
      'alter table app_public.safes drop column made_at cascade',
      'alter table app_public.safes add column made_at text',
    ];
    const insert = write('owner_id, pin_hash, label');
    const again = `select audit.record('app_public.safes', subject_id => 'owner_id', secrets => '{pin_hash}', derived => '{}')`;
    const finding = `select level, object from audit.findings where name = 'recorder_out_of_date'`;

    await expect(undone(database.owner, ...dropped, ...insert)).rejects.toMatchObject({
      code: '55000',
      message: expect.stringMatching(/audit_columns/),
    });
    await expect(undone(database.owner, ...dropped, `select audit.record('app_public.safes')`)).rejects.toMatchObject({
      message: 'app_public.safes lost its trigger audit_columns: name derived, secrets, subject_id again',
    });
    expect(await undone(database.owner, ...dropped, finding)).toEqual([{ level: 'error', object: 'app_public.safes' }]);
    expect(await undone(database.owner, ...dropped, again, finding)).toEqual([]);
    const [told] = await undone(database.owner, ...dropped, again, ...insert, written);
    expect(told?.values).not.toContain('hashed');
  });
});

describe('a key of any type', () => {
  const things = (columns: string, key: string, given = '') => [
    `create table app_public.things (organization_id uuid not null default '${organization}', name text, user_id uuid, ${columns}${key && `, primary key (${key})`})`,
    `select audit.record('app_public.things'${given})`,
  ];

  it.each([
    ['a number', things('id bigint generated always as identity', 'organization_id, id'), '1'],
    [
      'a domain of text',
      [
        `create domain app_public.plate as text check (value <> '')`,
        ...things("plate app_public.plate not null default 'B-1'", '', `, subject_id => 'user_id', row_id => 'plate'`),
      ],
      'B-1',
    ],
    ['a date', things(`day date default '2026-11-29'`, 'organization_id, day'), '2026-11-29'],
    [
      'two columns',
      things(`zone text default 'a "b"', number smallint default 7`, 'organization_id, zone, number'),
      String.raw`{"zone": "a \"b\"", "number": 7}`,
    ],
    ['one with columns that only its index has', things(`id int default 3`, 'organization_id, id) include (name'), '3'],
    [
      'a generated column',
      things(`a int default 4, b int generated always as (a * 2) stored`, 'organization_id, b'),
      '8',
    ],
    ['the organization', things('a int', 'organization_id'), organization],
  ])('%s names the row', async (_, statements, key) => {
    const rows = await undone(
      database.owner,
      ...statements,
      `insert into app_public.things (name) values ('first')`,
      `update app_public.things set name = 'second'`,
      `delete from app_public.things`,
      `select row_id, subject_id, command, coalesce(after, before) ->> 'name' as name from audit.changes where relation = 'app_public.things' order by id`,
    );

    const of = { row_id: key, subject_id: organization };
    expect(rows).toEqual([
      { ...of, command: 'insert', name: 'first' },
      { ...of, command: 'update', name: 'second' },
      { ...of, command: 'delete', name: 'second' },
    ]);
  });

  it.each([
    ['a number', things('id bigint generated always as identity', 'organization_id, id')],
    ['two columns', things(`zone text default 'a', number smallint default 7`, 'organization_id, zone, number')],
    ['a time', things(`at timestamptz default '2026-11-29 10:00+01'`, 'organization_id, at')],
  ])('%s finds the row as it was', async (_, statements) => {
    const rows = await undone(
      database.owner,
      ...statements,
      `insert into app_hidden.organizations (id, name) values ('${organization}', 'Things') on conflict do nothing`,
      `insert into app_public.things (name) values ('first')`,
      `select set_config('test.at', clock_timestamp()::text, true)`,
      `update app_public.things set name = 'second'`,
      `delete from app_public.things`,
      `select audit.rebuild(current_setting('test.at')::timestamptz, '${organization}')`,
      `select name from app_public.things`,
    );

    expect(rows).toEqual([{ name: 'first' }]);
  });

  it.each([
    ['without one', things('id int', ''), /has no primary key: give row_id/],
    [
      'with a secret in it',
      things('pin text', 'organization_id, pin', `, secrets => '{pin}'`),
      /has a secret in its primary key: give row_id/,
    ],
    [
      'by a secret',
      things('id int, pin text not null', 'organization_id, id', `, secrets => '{pin}', row_id => 'pin'`),
      /things\.pin cannot be row_id and secrets/,
    ],
    ['by a column that may be null', things('id int', '', `, row_id => 'id'`), /things\.id may be null/],
    [
      'by columns that are not there',
      things('key int', 'organization_id, key', `, subject_id => 'id', row_id => 'id'`),
      /has no column id$/,
    ],
    [
      'of a person who is no uuid',
      things('id int', 'organization_id, id', `, subject_id => 'name'`),
      /things\.name names a person, and is no uuid/,
    ],
  ])('a table %s is refused', async (_, statements, message) => {
    await expect(undone(database.owner, ...statements)).rejects.toMatchObject({
      message: expect.stringMatching(message),
    });
  });
});

describe('audit.backfill', () => {
  const doors = [
    `create table app_public.doors (organization_id uuid, id uuid default app_hidden.uuid_v7(), name text, label text, primary key (organization_id, id))`,
    `select audit.record('app_public.doors'), feed.follow('app_public.doors')`,
    `insert into app_public.doors (organization_id, name) select '${organization}', 'Door ' || n from generate_series(1, 25) as n`,
  ];
  const update = 'update app_public.doors set label = upper(name)';
  const told = `select
      (select count(*)::int from audit.changes where relation = 'app_public.doors' and command = 'update') as history,
      (select count(*)::int from feed.changes where relation = 'app_public.doors' and operation = 'UPDATE') as feed,
      (select jsonb_agg(after) from audit.changes where relation = 'app_public.doors' and command = 'backfill') as backfills`;
  const sessions = [
    ...[
      'graph_app',
      'graph_user',
      'graph_basic',
      'graph_oauth',
      'graph_worker',
      'graph_purger',
      'graph_helper',
      'graph_admin',
      'graph_auditor',
    ].map((role) => [role, 'role'] as const),
    [new URL(process.env.TEST_AUTH_URL ?? '').username, 'session authorization'] as const,
  ];

  it('leaves updates out of history and feed, and says so', async () => {
    const backfill = `select audit.backfill('app_public.doors', 'Labels', $$${update} where name like '% 1%'$$)`;

    expect(await undone(database.owner, ...doors, backfill, told)).toEqual([
      { history: 0, feed: 0, backfills: [{ reason: 'Labels', rows: 11 }] },
    ]);
    expect(await undone(database.owner, ...doors, backfill, update, 'delete from app_public.doors', told)).toEqual([
      expect.objectContaining({ history: 14, feed: 14 }),
    ]);
  });

  it('leaves out no insert, no delete and no other table', async () => {
    const rows = await undone(
      database.owner,
      ...doors,
      `select audit.backfill('app_public.units', 'Other', '${update}')`,
      `select audit.backfill('app_public.doors', 'Moved', 'with gone as (delete from app_public.doors returning *) insert into app_public.doors select organization_id, app_hidden.uuid_v7(), name from gone')`,
      `select count(*)::int from audit.changes where relation = 'app_public.doors' and command in ('insert', 'delete', 'update')`,
    );

    expect(rows).toEqual([{ count: 4 * 25 }]);
  });

  it.each(sessions)('of %s is refused, and what it sets by itself leaves nothing out', async (role, kind) => {
    const asRole = [
      ...doors,
      `alter table app_public.doors enable row level security; create policy all_roles on app_public.doors using (true);
       grant usage on schema app_public, audit to ${role}; grant select, update on app_public.doors to ${role}`,
      `set local ${kind} ${role}`,
    ];
    const forged = [`select set_config('recording.backfill', 'app_public.doors'::regclass::oid::text, true)`, update];

    await expect(
      undone(database.owner, ...asRole, `select audit.backfill('app_public.doors', 'x', '${update}')`),
    ).rejects.toMatchObject({ code: '42501' });
    expect(await undone(database.owner, ...asRole, ...forged, `reset ${kind}`, told)).toEqual([
      { history: 25, feed: 25, backfills: null },
    ]);
  });

  it('in batches, as the guide has it, is sealed, and a question about the time before it says so', async () => {
    const text = await readFile(new URL('../../docs/changing-the-schema.md', import.meta.url), 'utf8');
    const [, recipe = ''] = /^```\n(--! no-transaction\n[\s\S]*?)^```$/m.exec(text) ?? [];
    const warnings: (string | undefined)[] = [];
    const client = await database.owner.connect();
    client.on('notice', ({ message }) => warnings.push(message));
    for (const statement of doors) await client.query(statement);
    const [{ at }] = (await client.query('select clock_timestamp() as at')).rows;

    await client.query(recipe.replace('limit 10000', 'limit 10'));
    const head = (await audit(database, 'seal')).stdout.trim();
    const verified = await audit(database, 'verify', '--head', head);
    await client.query('begin');
    await client.query('select audit.rebuild($1, null)', [at]);
    await client.query('rollback');
    const { rows } = await client.query(told);
    client.release(true);

    expect(rows).toEqual([
      { history: 0, feed: 0, backfills: [10, 10, 5].map((rows) => ({ reason: 'label is made from name', rows })) },
    ]);
    expect(verified).toMatchObject({ code: 0 });
    expect(warnings).toEqual([expect.stringMatching(/^app_public\.doors was backfilled since /)]);
  });
});
