import { createTenant, createUser, type OwnGraphTest, read, startGraphTest, type Tenant } from '../graphql/support.ts';
import { undone } from './support.ts';

// Other people's columns: history, feed and updated_at are right for every type, and for columns that are generated, whenever they came to be.

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest();
  tenant = await createTenant(graph);
});
afterAll(() => graph.stop());

const query = (statement: string, values: unknown[] = []) =>
  graph.database.owner.query(statement, values).then(({ rows }) => rows);

const organization = '00000000-0000-7000-8000-000000000001';
const row = '00000000-0000-7000-8000-000000000002';
const wallTable = (columns: string, partitioned = '') => `
  insert into app_hidden.organizations (id, name) values ('${organization}', 'Walls');
  create table app_public.walls (organization_id uuid not null, id uuid not null, note text, updated_at timestamptz,
    ${columns}, primary key (organization_id, id)) ${partitioned};
  create trigger walls_900_updated before update on app_public.walls for each row execute function app_hidden.set_updated_at();
  select audit.record('app_public.walls', derived => '{updated_at}');
  select feed.follow('app_public.walls')`;
const insertWall = `insert into app_public.walls (organization_id, id, note) values ('${organization}', '${row}', 'a')`;
const entries = `
  select
    array(select command || ' ' || array_to_string(columns, ' ') from audit.changes where relation = 'app_public.walls' order by id) as history,
    array(select operation || coalesce(' ' || nullif(array_to_string(columns, ' '), ''), '') from feed.changes where relation = 'app_public.walls' order by id) as feed,
    (select updated_at is not null from app_public.walls) as moved`;

describe('a generated column', () => {
  const generated = `generated always as (upper(note)) stored`;

  it.each([
    ['that is there from the start', `label text ${generated}`, []],
    ['that is added later', 'size int', [`alter table app_public.walls add column label text ${generated}`]],
    ['whose name is quoted', 'size int', [`alter table app_public.walls add column "the Label" text ${generated}`]],
  ])('%s is in neither', async (_, columns, later) => {
    const [told] = await undone(
      graph.database.owner,
      wallTable(columns),
      ...later,
      insertWall,
      `update app_public.walls set note = note`,
      `update app_public.walls set note = 'b'`,
      entries,
    );

    expect(told).toEqual({
      history: ['insert id note organization_id', 'update note'],
      feed: ['CREATE', 'UPDATE note'],
      moved: true,
    });
  });

  it('that is virtual is in neither (PostgreSQL 18)', async () => {
    const [{ version }] = await query(`select current_setting('server_version_num')::int as version`);
    if (version < 180000) return;

    const [told] = await undone(
      graph.database.owner,
      wallTable('size int'),
      'alter table app_public.walls add column twice text generated always as (note || note) virtual',
      insertWall,
      `update app_public.walls set note = note`,
      `update app_public.walls set note = 'b'`,
      'delete from app_public.walls',
      entries,
    );

    expect(told).toEqual({
      history: ['insert id note organization_id', 'update note', 'delete id note organization_id'],
      feed: ['CREATE', 'UPDATE note', 'DELETE'],
      moved: null,
    });
  });

  it.each(['app_public.users', 'app_public.cards', 'app_public.units'])(
    'of %s does not move updated_at, which another change does',
    async (table) => {
      const name = table === 'app_public.users' ? 'full_name' : 'name';
      const rows = {
        'app_public.users': `(organization_id, full_name, email) values ('${organization}', 'A', 'a@walls.test')`,
        'app_public.cards': `(organization_id, type, name) values ('${organization}', 'IdentificationCode', 'A')`,
        'app_public.units': `(organization_id, name) values ('${organization}', 'A')`,
      }[table];
      const moved = `select updated_at > created_at as moved from ${table} where organization_id = '${organization}'`;
      const statements = [
        `insert into app_hidden.organizations (id, name) values ('${organization}', 'Walls')`,
        `alter table ${table} add column name_key text generated always as (lower(${name})) stored`,
        `insert into ${table} ${rows}`,
        `update ${table} set created_at = created_at, ${name} = ${name} where organization_id = '${organization}'`,
      ];
      const change = `update ${table} set ${name} = 'B' where organization_id = '${organization}'`;
      const history = `select columns from audit.changes where relation = '${table}' and command = 'update' and organization_id = '${organization}'`;

      expect(await undone(graph.database.owner, ...statements, moved)).toEqual([{ moved: false }]);
      expect(await undone(graph.database.owner, ...statements, change, moved)).toEqual([{ moved: true }]);
      expect(await undone(graph.database.owner, ...statements, change, history)).toEqual([{ columns: [name] }]);
    },
  );

  it('lets every trigger be made again as pg_dump writes it', async () => {
    const tables = ['app_public.users', 'app_public.cards', 'app_public.units', 'app_public.card_assignments'];
    const made = await undone(
      graph.database.owner,
      ...tables.map((table) => `alter table ${table} add column later text generated always as (id::text) stored`),
      `do $$
       declare
         made record;
       begin
         for made in
           select t.tgname, t.tgrelid::regclass as relation, pg_get_triggerdef(t.oid) as definition
           from pg_trigger t where not t.tgisinternal and t.tgrelid = any ('{${tables}}'::regclass[])
         loop
           execute format('drop trigger %I on %s', made.tgname, made.relation);
           execute made.definition;
         end loop;
       end $$`,
      `select count(*) > 20 as has_triggers from pg_trigger t where not t.tgisinternal and t.tgrelid = any ('{${tables}}'::regclass[])`,
    );

    expect(made).toEqual([{ has_triggers: true }]);
  });
});

describe('a column of a followed table', () => {
  const seen = (table: string) => [table, `select feed.follow('app_public.walls', ignored => '{seen}')`, insertWall];
  const columns = (...names: string[]) => names.map((name) => `alter table app_public.walls rename column ${name}`);
  const fed = `select array_agg(concat_ws(' ', operation, nullif(array_to_string(columns, ','), '')) order by id) as feed
    from feed.changes where relation = 'app_public.walls'`;
  const partitioned = `create table app_public.walls_all (seen int, updated_at timestamptz, note text, id uuid not null, organization_id uuid not null);
    alter table app_public.walls attach partition app_public.walls_all default`;

  it.each([
    ['is renamed', seen(wallTable('seen int')), columns('seen to looked_at'), 'looked_at = 1'],
    [
      'changes names with another',
      seen(wallTable('seen int, size int')),
      columns('seen to old', 'size to seen', 'old to size'),
      'size = 1',
    ],
    [
      'is renamed in a partition of another order',
      [
        wallTable('gone int, seen int', 'partition by list (id)'),
        'alter table app_public.walls drop column gone',
        partitioned,
        `select feed.follow('app_public.walls', ignored => '{seen}')`,
        insertWall,
      ],
      columns('seen to looked_at'),
      'looked_at = 1',
    ],
  ])('stays ignored when it %s', async (_, statements, renamed, change) => {
    const set = (text: string) => `update app_public.walls set ${text}`;

    expect(
      await undone(graph.database.owner, ...statements, ...renamed, set(change), set(`${change}, note = 'b'`), fed),
    ).toEqual([{ feed: ['CREATE', 'UPDATE note'] }]);
    expect(
      await undone(
        graph.database.owner,
        ...statements,
        ...renamed,
        `select feed.follow('app_public.walls')`,
        set(change),
        fed,
      ),
    ).toEqual([{ feed: ['CREATE'] }]);
  });

  it.each([
    ['a key', columns('id to wall_id')],
    ['keys that change names', columns('id to old', 'other to id', 'old to other')],
    ['a foreign key', columns('unit_id to place_id')],
    ['the table', ['alter table app_public.walls rename to fences']],
    [
      'the table, whose name another one gets',
      ['alter table app_public.walls rename to fences', 'create table app_public.walls (id int)'],
    ],
    [
      'an ignored column that is dropped with the trigger that has it',
      ['alter table app_public.walls drop column seen cascade'],
    ],
  ])('is a finding when a migration renames %s, until it follows the table again', async (_, renamed) => {
    const table = wallTable(
      'seen int, unit_id uuid, other uuid, foreign key (organization_id, unit_id) references app_public.units (organization_id, id)',
    );
    const found = `select level, remedy ~ 'feed.follow' as says from audit.findings where name = 'recorder_out_of_date'`;
    const again = `select feed.follow(coalesce(to_regclass('app_public.fences'), to_regclass('app_public.walls')))`;

    expect(await undone(graph.database.owner, ...seen(table), found)).toEqual([]);
    expect(await undone(graph.database.owner, ...seen(table), ...renamed, found)).toEqual([
      { level: 'error', says: true },
    ]);
    expect(await undone(graph.database.owner, ...seen(table), ...renamed, again, found)).toEqual([]);
  });
});

describe('a type without equality', () => {
  const place = 'create type app_public.place as (at point, notes json)';

  it.each<[string, string, string, string, unknown, unknown]>([
    ['json', '', `'{"a": 1}'`, `'{"a": 2}'`, { a: 1 }, { a: 2 }],
    ['json[]', '', `array['{"a": 1}'::json]`, `array['{"a": 2}'::json]`, [{ a: 1 }], [{ a: 2 }]],
    ['xml', '', `'<a/>'`, `'<b/>'`, '<a/>', '<b/>'],
    ['point', '', `'(1,2)'`, `'(1,3)'`, '(1,2)', '(1,3)'],
    ['polygon', '', `'((0,0),(1,1))'`, `'((0,0),(1,2))'`, '((0,0),(1,1))', '((0,0),(1,2))'],
    [
      'app_public.place',
      place,
      `'("(1,2)","[]")'`,
      `'("(1,2)","[1]")'`,
      { at: '(1,2)', notes: [] },
      { at: '(1,2)', notes: [1] },
    ],
    [
      'app_public.place[]',
      place,
      `array['("(1,2)","[]")'::app_public.place]`,
      `'{}'`,
      [{ at: '(1,2)', notes: [] }],
      [],
    ],
    [
      'app_public.document',
      'create domain app_public.document as json',
      `'{"a": 1}'`,
      `'{"a": 2}'`,
      { a: 1 },
      { a: 2 },
    ],
  ])('%s is recorded and followed', async (type, before, first, second, old, now) => {
    const [told] = await undone(
      graph.database.owner,
      before || 'select',
      wallTable(`shape ${type}`),
      insertWall,
      `update app_public.walls set shape = ${first}`,
      `update app_public.walls set shape = shape`,
      `update app_public.walls set shape = ${second}`,
      `update app_public.walls set note = 'b'`,
      'delete from app_public.walls',
      `select array_agg(command || ' ' || array_to_string(columns, ' ') order by id) as history,
         (select array_agg(operation || array_to_string(columns, ' ') order by id) from feed.changes where relation = 'app_public.walls') as feed,
         (array_agg(before -> 'shape' order by id))[3] as before, (array_agg(after -> 'shape' order by id))[3] as after
       from audit.changes where relation = 'app_public.walls'`,
    );

    expect(told).toEqual({
      history: [
        'insert id note organization_id',
        'update shape',
        'update shape',
        'update note',
        'delete id note shape organization_id',
      ],
      feed: ['CREATE', 'UPDATEshape', 'UPDATEshape', 'UPDATEnote', 'DELETE'],
      before: old,
      after: now,
    });
  });

  it('keeps the nulls within JSON, and those of columns out', async () => {
    const [told] = await undone(
      graph.database.owner,
      wallTable('shape jsonb, other json'),
      `insert into app_public.walls (organization_id, id, shape, other) values ('${organization}', '${row}', '{"a": null}', '[{"b": null}]')`,
      `select after - 'id' - 'organization_id' as after from audit.changes where relation = 'app_public.walls'`,
    );

    expect(told).toEqual({ after: { shape: { a: null }, other: [{ b: null }] } });
  });

  it('keeps as text what jsonb cannot hold', async () => {
    const bell = String.raw`'{"bell": "\\u0000", "half": "\\ud83d"}'`.replaceAll('\\\\', '\\');
    const [told] = await undone(
      graph.database.owner,
      wallTable('shape json'),
      insertWall,
      `update app_public.walls set shape = ${bell}`,
      `update app_public.walls set shape = shape, note = 'b'`,
      `update app_public.walls set shape = '{"large": 1e999999}'`,
      'delete from app_public.walls',
      `insert into app_public.walls (organization_id, id, shape) values ('${organization}', '${row}', ${bell})`,
      `select array_agg(command || ' ' || array_to_string(columns, ' ') order by id) as history,
         (select array_agg(operation || array_to_string(columns, ' ') order by id) from feed.changes where relation = 'app_public.walls') as feed,
         (array_agg(after -> 'shape' order by id))[2] as bell, (array_agg(after -> 'shape' order by id))[4] as large
       from audit.changes where relation = 'app_public.walls'`,
    );

    expect(told).toEqual({
      history: [
        'insert id note organization_id',
        'update shape',
        'update note',
        'update shape',
        'delete id note shape organization_id',
        'insert id shape organization_id',
      ],
      feed: ['CREATE', 'UPDATEshape', 'UPDATEnote', 'UPDATEshape', 'DELETE', 'CREATE'],
      bell: { bell: String.raw`\u0000`, half: String.raw`\ud83d` },
      large: '{"large": 1e999999}',
    });
  });

  it('may be added to users, whose mutations and syncs go on', async () => {
    await query(
      `alter table app_public.users add column badge json default '{"color": "red"}', add column home point default '(1,2)'`,
    );
    await graph.reload();
    const user = await createUser(tenant, { externalIdentifier: 'json-1' });
    const update = (locale: string) =>
      read(graph, tenant.app, `mutation { userUpdate(id: "${user.id}", locale: "${locale}") { user { locale } } }`);
    const sync = (locale: string) =>
      read(
        graph,
        tenant.app,
        `mutation { usersSync(users: [{ externalIdentifier: "json-1", locale: "${locale}" }]) { results { outcome error { message } } } }`,
      );

    expect(await update('de')).toEqual({ userUpdate: { user: { locale: 'de' } } });
    expect(await update('fr')).toEqual({ userUpdate: { user: { locale: 'fr' } } });
    expect(await sync('fr')).toEqual({ usersSync: { results: [{ outcome: 'UNCHANGED', error: null }] } });
    expect(await sync('it')).toEqual({ usersSync: { results: [{ outcome: 'UPDATED', error: null }] } });
    await query(`update app_public.users set badge = '{"color": "blue"}' where id = $1`, [user.uuid]);

    expect(
      await query(`select columns from audit.changes where subject_id = $1 and command = 'update' order by id`, [
        user.uuid,
      ]),
    ).toEqual([['locale'], ['locale'], ['locale'], ['badge']].map((columns) => ({ columns })));
  });
});
