import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { undone } from './support.ts';

// History and feed of a partitioned table: a row that moves is one update, and what names a partition is told by its parent's name.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const organization = '00000000-0000-7000-8000-000000000001';
const visits = `
  insert into app_hidden.organizations (id, name) values ('${organization}', 'Visits');
  create table app_public.visits (organization_id uuid not null default '${organization}', id uuid not null default gen_random_uuid(),
    zone text not null, note text, primary key (organization_id, id, zone)) partition by list (zone);
  create table app_public.visits_a partition of app_public.visits for values in ('a');
  create table app_public.visits_b (note text, gone int, zone text not null, id uuid not null default gen_random_uuid(),
    organization_id uuid not null default '${organization}');
  alter table app_public.visits_b drop column gone;
  alter table app_public.visits attach partition app_public.visits_b for values in ('b');
  create table app_public.visits_cd partition of app_public.visits for values in ('c', 'd') partition by list (zone);
  create table app_public.visits_c partition of app_public.visits_cd for values in ('c');
  create table app_public.visits_d partition of app_public.visits_cd for values in ('d')`;
const recorded = [visits, `select audit.record('app_public.visits')`, `select feed.follow('app_public.visits')`];
const insert = (...zones: string[]) => `insert into app_public.visits (zone) select unnest('{${zones}}'::text[])`;
const mark = `select set_config('test.feed', coalesce(max(id), 0)::text, true),
    set_config('test.history', (select coalesce(max(id), 0)::text from audit.changes), true) from feed.changes`;
const told = `select
    array(select concat_ws(' ', operation, key[2], nullif(array_to_string(columns, ','), '')) from feed.changes
          where id > current_setting('test.feed')::bigint and relation = 'app_public.visits' order by id) as feed,
    array(select concat_ws(' ', command, before ->> 'zone', after ->> 'zone') from audit.changes
          where id > current_setting('test.history')::bigint and relation = 'app_public.visits' order by id) as history,
    (select count(*)::int from feed.changes where relation ~ 'visits_') + (select count(*)::int from audit.changes where relation ~ 'visits_') as strange`;

describe('a partitioned table is recorded and followed', () => {
  it.each<[string, string[], string[], string[]]>([
    [
      'where a row moves',
      [`update app_public.visits set zone = 'b' where zone = 'a'`],
      ['UPDATE b zone'],
      ['update a b'],
    ],
    [
      'where a row moves below',
      [`update app_public.visits set zone = 'd' where zone = 'c'`],
      ['UPDATE d zone'],
      ['update c d'],
    ],
    [
      'where the parent of partitions that is named is one itself',
      [`update app_public.visits_cd set zone = 'd'`],
      ['UPDATE d zone'],
      ['update c d'],
    ],
    [
      'where all rows move and change, each by itself',
      [`update app_public.visits set zone = translate(zone, 'abc', 'bca'), note = 'x'`],
      ['UPDATE b note,zone', 'UPDATE c note,zone', 'UPDATE a note,zone'],
      ['update a b', 'update b c', 'update c a'],
    ],
    ['and not where nothing changes', ['update app_public.visits set note = note, zone = zone'], [], []],
    [
      'where rows are deleted',
      ['delete from app_public.visits'],
      ['DELETE a', 'DELETE b', 'DELETE c'],
      ['delete a', 'delete b', 'delete c'],
    ],
    [
      'where a partition is named by an insert',
      [`insert into app_public.visits_a (zone) values ('a')`],
      ['CREATE a'],
      ['insert a'],
    ],
    [
      'where one of another order of columns is named',
      [`update app_public.visits_b set note = 'x'`, 'delete from app_public.visits_b'],
      ['UPDATE b note', 'DELETE b'],
      ['update', 'delete b'],
    ],
    [
      'where a partition of a partition is named',
      [`insert into app_public.visits_d (zone) values ('d')`, 'delete from app_public.visits_c'],
      ['CREATE d', 'DELETE c'],
      ['insert d', 'delete c'],
    ],
    [
      'where a key gets another id',
      [`update app_public.visits set id = '${organization}' where zone = 'a'`],
      ['DELETE a', 'CREATE a'],
      ['update'],
    ],
    [
      'where rows go with what they belong to',
      ['delete from only app_public.visits_a', 'truncate app_public.visits_b'],
      ['DELETE a'],
      ['delete a'],
    ],
    ...['after insert', 'before insert'].flatMap((when) =>
      ['row', 'statement'].map((each): [string, string[], string[], string[]] => [
        `where a trigger for each ${each} ${when} names another partition`,
        [
          `create function pg_temp.note() returns trigger language plpgsql as $$ begin update app_public.visits_b set note = new.id; return new; end $$`,
          `create function pg_temp.note_all() returns trigger language plpgsql as $$ begin update app_public.visits_b set note = 'seen'; return null; end $$`,
          `create trigger a_note ${when} on app_public.visits for each ${each} execute function pg_temp.${each === 'row' ? 'note' : 'note_all'}()`,
          insert('a'),
          'drop trigger a_note on app_public.visits',
          `update app_public.visits_a set note = 'y' where note is null and id = (select max(id::text)::uuid from app_public.visits_a)`,
        ],
        ['UPDATE b note', 'CREATE a', 'UPDATE a note'],
        ['update', 'insert a', 'update'],
      ]),
    ),
    [
      'where they go with what they refer to, and are written again',
      [
        `alter table app_public.visits add foreign key (organization_id) references app_hidden.organizations (id) on delete cascade`,
        `delete from app_hidden.organizations where id = '${organization}'`,
        `insert into app_hidden.organizations (id, name) values ('${organization}', 'Visits')`,
        insert('a'),
        `insert into app_public.visits_b (zone) values ('b')`,
      ],
      ['DELETE a', 'DELETE b', 'DELETE c', 'CREATE a', 'CREATE b'],
      ['delete a', 'delete b', 'delete c', 'insert a', 'insert b'],
    ],
    [
      'after a statement that failed',
      [
        `do $$ begin begin update app_public.visits set zone = case zone when 'a' then 'b' else 'nowhere' end; exception when check_violation then null; end; end $$`,
        `update app_public.visits_a set note = 'x'`,
      ],
      ['UPDATE a note'],
      ['update'],
    ],
    [
      'in partitions that are attached later',
      [
        `create table app_public.visits_e partition of app_public.visits for values in ('e')`,
        `insert into app_public.visits_e (zone) values ('e')`,
        `update app_public.visits set zone = 'a' where zone = 'e'`,
      ],
      ['CREATE e', 'UPDATE a zone'],
      ['insert e', 'update e a'],
    ],
    [
      'no longer in those that are detached',
      [
        'alter table app_public.visits detach partition app_public.visits_a',
        'alter table app_public.visits detach partition app_public.visits_cd',
        `update app_public.visits_a set note = 'x'`,
        `update app_public.visits_cd set zone = 'd'`,
        'delete from app_public.visits_d',
      ],
      [],
      [],
    ],
    [
      'once, after a detached one is attached again, or was recorded by itself',
      [
        'alter table app_public.visits detach partition app_public.visits_a',
        `select audit.record('app_public.visits_a'), feed.follow('app_public.visits_a')`,
        `alter table app_public.visits attach partition app_public.visits_a for values in ('a')`,
        `update app_public.visits_a set note = 'x'`,
        `insert into app_public.visits_a (zone) values ('a')`,
      ],
      ['UPDATE a note', 'CREATE a'],
      ['update', 'insert a'],
    ],
  ])('%s', async (_, statements, feed, history) => {
    expect(await undone(database.owner, ...recorded, insert('a', 'b', 'c'), mark, ...statements, told)).toEqual([
      { feed, history, strange: 0 },
    ]);
  });

  it('by the name of a partition, too', async () => {
    const named = [visits, `select audit.record('app_public.visits_d')`, `select feed.follow('app_public.visits_a')`];

    expect(
      await undone(database.owner, ...named, mark, insert('a'), `update app_public.visits set zone = 'b'`, told),
    ).toEqual([{ feed: ['CREATE a', 'UPDATE b zone'], history: ['insert a', 'update a b'], strange: 0 }]);
  });

  it('and is no finding, until a partition is detached', async () => {
    const findings = `select array(select object from audit.findings where name = 'bypass_history' order by 1) as found`;
    const partitions = ['', '_a', '_b', '_c', '_cd', '_d'].map((name) => `app_public.visits${name}`);

    expect(await undone(database.owner, visits, findings)).toEqual([{ found: partitions }]);
    expect(await undone(database.owner, ...recorded, findings)).toEqual([{ found: [] }]);
    const detach = 'alter table app_public.visits detach partition app_public.visits_cd';
    expect(await undone(database.owner, ...recorded, detach, findings)).toEqual([{ found: partitions.slice(3) }]);
    expect(
      await undone(database.owner, ...recorded, detach, `select audit.record('app_public.visits_cd')`, findings),
    ).toEqual([{ found: [] }]);
  });
});

it('what is recorded keeps its columns, secrets and conditions when audit.record and feed.follow are called again', async () => {
  const triggers = `select array_agg(tgrelid::regclass || ' ' || pg_get_triggerdef(oid) order by tgrelid, tgname) as all
    from pg_trigger where tgname ~ '^(audit|follow)_' and not tgisinternal`;
  const again = ['users', 'units', 'cards', 'card_assignments', 'webhooks'].map(
    (table) => `select audit.record('app_public.${table}')`,
  );
  const followed = ['users', 'units', 'cards', 'card_assignments'].map(
    (table) => `select feed.follow('app_public.${table}')`,
  );

  const [before] = await undone(database.owner, triggers);
  const [after] = await undone(
    database.owner,
    ...again,
    ...followed,
    `select feed.follow('app_hidden.unit_access')`,
    triggers,
  );
  const [other] = await undone(database.owner, `select audit.record('app_public.cards', derived => '{}')`, triggers);

  expect(after).toEqual(before);
  expect(other).not.toEqual(before);
});
