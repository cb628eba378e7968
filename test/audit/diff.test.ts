import { type Access, compareAccess, readAccess } from '../../src/commands/audit/access.ts';
import { insertExamples } from '../../src/commands/audit/insertExamples.ts';
import { migrationsHere, withScratchDatabase } from '../../src/commands/audit/scratchDatabase.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { audit } from './support.ts';

describe('comparing who may do what', () => {
  let database: TestDatabase;
  let before: Access;
  beforeAll(async () => {
    database = await createTestDatabase();
    const client = await database.owner.connect();
    await insertExamples(client);
    before = await readAccess(client);
    client.release();
  });
  afterAll(() => database.drop());

  /** What the statements change, as `verdict: object, role`. */
  async function differences(...statements: string[]) {
    const client = await database.owner.connect();
    try {
      await client.query('begin');
      for (const statement of statements) await client.query(statement);
      const found = compareAccess(before, await readAccess(client));
      // Roles are the cluster's: other files make some meanwhile, whose names have a drawn end.
      return found.filter(({ role }) => !/_[0-9a-f]{8,}$/.test(role));
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  // Each test expects all of them: what its statements have not changed is no difference.
  const lines = (found: Awaited<ReturnType<typeof differences>>) =>
    [...new Set(found.map(({ verdict, object, role }) => `${verdict}: ${object}, ${role}`))].sort();

  it('has examples of everything', () => {
    expect(before.notProbed).toEqual([]);
    expect([...before.rights.keys()].filter((key) => key.endsWith(', tried"]')).length).toBeGreaterThan(40);
  });

  it('has examples of tables that it does not know', async () => {
    const client = await database.owner.connect();
    try {
      await client.query(`
        create table app_public.doors (
          organization_id uuid, id uuid default app_hidden.uuid_v7(), unit_id uuid, name text not null, width int not null,
          made_on date not null, is_open boolean not null, tags text[] not null, note text, primary key (organization_id, id),
          foreign key (organization_id, unit_id) references app_public.units);
        create table app_public.door_keys (
          organization_id uuid, door_id uuid, user_id uuid, primary key (organization_id, door_id, user_id),
          foreign key (organization_id, door_id) references app_public.doors)`);
      await insertExamples(client);
      const { rows } = await client.query(
        'select d.*, k.user_id from app_public.doors d join app_public.door_keys k on k.door_id = d.id order by d.id',
      );

      expect(rows).toHaveLength(4);
      expect(rows[3]).toMatchObject({
        organization_id: 'bbbbbbbb-0000-7000-8000-000000000000',
        ...Object.fromEntries(
          ['id', 'unit_id', 'user_id', 'name'].map((name) => [name, expect.stringMatching(/^bbb.*2$/)]),
        ),
        ...{ width: 1, is_open: true, tags: [], note: null },
      });
    } finally {
      await client.query('drop table if exists app_public.door_keys, app_public.doors');
      client.release();
    }
  });

  it('finds what is wider: columns, policies, functions, row-level security', async () => {
    const found = await differences(
      'grant update (type) on app_public.cards to graph_app',
      'alter policy select_graph_user on app_public.units using (organization_id = (select app_hidden.current_organization_id()))',
      'create policy select_graph_user on oauth.applications for select to graph_user using (true)',
      'create function app_public.peek() returns bigint language sql security definer as $$ select 1::bigint $$',
      'grant execute on function app_public.peek() to graph_user',
      'alter table app_hidden.unit_ancestors no force row level security',
    );

    expect(lines(found)).toEqual([
      'wider: app_hidden.unit_ancestors, ',
      'wider: app_hidden.unit_ancestors, postgres',
      'wider: app_public.cards, graph_app',
      'wider: app_public.peek(), graph_user',
      'wider: app_public.units, graph_user',
      'wider: app_public.units.select_graph_user, graph_user',
      'wider: oauth.applications.select_graph_user, graph_user',
    ]);
    expect(found.find(({ object }) => object === 'app_public.cards')?.detail).toBe('update type');
    expect(found.find(({ object }) => object === 'app_public.units')?.detail).toMatch(
      /^select, tried: 8 example rows, such as for me:aaaaaaaa/,
    );
  });

  it('names tables and roles with spaces, and kinds of two words, as they are', async () => {
    const found = await differences(
      'create table app_public."spare doors" (id int primary key)',
      'create role "night watch"',
      'grant select (id) on app_public."spare doors" to graph_app',
      'grant graph_app to "night watch"',
      'create materialized view app_public."all doors" as select 1 as one',
    );

    expect(found).toEqual(
      expect.arrayContaining([
        { verdict: 'wider', object: 'app_public."spare doors"', role: 'graph_app', detail: 'select id' },
        { verdict: 'wider', object: 'graph_app', role: 'night watch', detail: 'escapes the policies: set role' },
        expect.objectContaining({
          object: 'app_public."all doors"',
          detail: 'escapes the policies: materialized view',
        }),
      ]),
    );
  });

  // Together, since reading the access of the examples takes seconds.
  it('finds what is narrower, and leaves to people what the examples cannot tell', async () => {
    const narrower = [
      'revoke delete on app_public.users from graph_app',
      'alter policy select_graph_app on app_public.cards using (organization_id = (select app_hidden.current_organization_id()) and false)',
      'create policy select_nobody on app_public.units as restrictive for select to graph_user using (false)',
      'drop policy select_graph_user on app_public.card_assignments',
      'revoke execute on function oauth.purge_rows(text, int) from graph_oauth',
    ];
    const unclear = [
      // Says the same in other words.
      `alter policy select_graph_app on app_public.users using ((select app_hidden.current_organization_id()) = organization_id)`,
      // Others than before.
      `alter policy select_graph_user on app_public.users using (organization_id = (select app_hidden.current_organization_id()) and id <> (select app_hidden.current_user_id()))`,
      // Shows as many units, but by another function.
      `create or replace function app_hidden.granted_unit_ids() returns uuid[] language sql stable parallel safe set search_path = pg_catalog, pg_temp
         as $$ select array(select unit_id from app_hidden.unit_access order by 1) $$`,
    ];

    const found = await differences(...narrower, ...unclear);

    expect(lines(found)).toEqual([
      // By the policies that ask this one.
      'narrower: app_public.card_assignments, graph_user',
      'narrower: app_public.card_assignments.select_graph_user, graph_user',
      'narrower: app_public.cards, graph_app',
      'narrower: app_public.cards, graph_user',
      'narrower: app_public.cards.select_graph_app, graph_app',
      'narrower: app_public.units, graph_user',
      'narrower: app_public.units.select_nobody, graph_user',
      'narrower: app_public.users, graph_app',
      'narrower: app_public.users, graph_user',
      'narrower: oauth.purge_rows(text, integer), graph_admin, graph_oauth',
      'narrower: oauth.purge_rows(text, integer), graph_oauth',
      'unclear: app_hidden.granted_unit_ids(), ',
      'unclear: app_public.users.select_graph_app, graph_app',
      'unclear: app_public.users.select_graph_user, graph_user',
      'wider: app_public.users, graph_user',
      'wider: oauth.purge_rows(text, integer), graph_admin',
    ]);
  });
});

describe('a scratch database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const scratches = async () =>
    (await database.owner.query(`select datname from pg_database where datname like 'audit\\_%'`)).rows;

  it('has the migrations, and goes', async () => {
    // Those that make the users; all of them take seconds.
    const first = (await migrationsHere()).slice(0, 8);
    const indexes = await withScratchDatabase(database.ownerUrl, first, async (client) => {
      const text = `select from pg_index where indexrelid = 'app_public.users_external_identifier_order_idx'::regclass`;
      return (await client.query(text)).rowCount;
    });

    expect(indexes).toBe(1);
    expect(await scratches()).toEqual([]);
  });

  it('is gone when a migration fails, and says which', async () => {
    const broken = [{ name: '000099-broken.sql', sql: 'create table nowhere.at_all ();' }];

    await expect(withScratchDatabase(database.ownerUrl, broken, async () => undefined)).rejects.toThrow(
      '000099-broken.sql does not run on an empty database: schema "nowhere" does not exist',
    );
    expect(await scratches()).toEqual([]);
  });

  it('is not made for a revision that is not there', async () => {
    expect(await audit(database, 'diff', 'no-such-revision')).toEqual({
      code: 1,
      stdout: '',
      error: 'There is no git revision no-such-revision here.',
    });
    expect(await audit(database, 'diff', '--upload-pack=x')).toMatchObject({ code: 64 });
  });
});
