import { tableSql } from '../../generation/tables.ts';
import { createTenant, createUnit, globalId, type OwnGraphTest, startGraphTest, type Tenant } from '../support.ts';
import { follow, inShort, present, readPage, settled } from './feed.ts';

describe('feed.follow adds the table of a team', () => {
  let graph: OwnGraphTest;
  let tenant: Tenant;
  beforeAll(async () => {
    graph = await startGraphTest({}, async (database) => {
      tenant = await createTenant({ database });
      const columns =
        'building text, floor int, seen timestamptz, note text, label text generated always as (upper(note)) stored';
      await database.owner.query(`
        ${tableSql({ name: 'gates', columns, key: ['building', 'floor'] })}
        select feed.follow('app_public.gates', ignored => '{seen}');
        ${tableSql({ name: 'latches', columns: 'id uuid not null, unit_id uuid, user_id uuid', key: ['id'] })}
        alter table app_public.latches
          add constraint latches_unit_id_fkey foreign key (organization_id, unit_id) references app_public.units on delete cascade,
          add constraint latches_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade;
        create index on app_public.latches (organization_id, unit_id, id);
        create index on app_public.latches (organization_id, user_id, id);
        select feed.follow('app_public.latches')`);
    });
  });
  afterAll(() => graph.stop());

  const change = (statement: string) => graph.database.owner.query(statement, [tenant.organizationId]);
  const changesOf = async (statement: string) => {
    const before = await present(graph, tenant);
    await change(statement);
    return follow(graph, tenant, before);
  };
  const idOf = (...key: unknown[]) => Buffer.from(`Gate:${JSON.stringify(key)}`).toString('base64url');

  test('with the ids of its key, and node as it is now', async () => {
    const id = idOf('North', 1);

    expect(await changesOf(`insert into app_public.gates values ($1, 'North', 1)`)).toMatchObject([
      { operation: 'CREATE', typeName: 'Gate', id, node: { __typename: 'Gate', id } },
    ]);
    expect(
      (await changesOf(`update app_public.gates set note = 'Ring' where organization_id = $1`)).map(inShort),
    ).toEqual(['UPDATE Gate note']);
    expect(await changesOf('delete from app_public.gates where organization_id = $1')).toMatchObject([
      { operation: 'DELETE', typeName: 'Gate', id, node: null },
    ]);
  });

  test('under a value of the enum, which pages and webhooks of this type name', async () => {
    const before = await present(graph, tenant);
    await change(`insert into app_public.gates values ($1, 'South', 1)`);
    await change(`insert into app_public.units (organization_id, name) values ($1, 'Unit')`);
    await settled(tenant);

    const gates = await readPage(graph, tenant, { after: before, typeNames: ['Gate'] });

    expect(gates.nodes.map(inShort)).toEqual(['CREATE Gate']);
    const units = await readPage(graph, tenant, { after: before, typeNames: ['Unit'] });
    expect(units.nodes.map(inShort)).toEqual(['CREATE Unit']);
    await change('delete from app_public.gates where organization_id = $1');
  });

  test('without what is ignored, generated or stays', async () => {
    await change(`insert into app_public.gates values ($1, 'East', 1)`);

    for (const [set, told] of [
      ['seen = now()', []],
      ['note = note', []],
      [`note = 'x', seen = now() + interval '1 hour'`, ['UPDATE Gate note']],
    ] as const)
      expect((await changesOf(`update app_public.gates set ${set} where organization_id = $1`)).map(inShort)).toEqual(
        told,
      );
  });

  test('where another key is another object', async () => {
    await change(`insert into app_public.gates values ($1, 'West', 1)`);

    const changes = await changesOf(
      `update app_public.gates set floor = 2 where organization_id = $1 and building = 'West'`,
    );

    expect(changes).toMatchObject([
      { operation: 'DELETE', id: idOf('West', 1), fields: [], node: null },
      { operation: 'CREATE', id: idOf('West', 2), fields: [], node: { id: idOf('West', 2) } },
    ]);
  });

  test('with the ids of what its foreign keys refer to', async () => {
    const unit = await createUnit(tenant);
    const before = await present(graph, tenant);
    await change(
      `insert into app_public.latches (organization_id, id, unit_id) values ($1, gen_random_uuid(), '${unit.uuid}')`,
    );
    await change(`delete from app_public.units where organization_id = $1 and id = '${unit.uuid}'`);

    const changes = await follow(graph, tenant, before);

    const ofLatches = changes.filter(({ typeName }) => typeName === 'Latch');
    expect(ofLatches.map(({ operation, relatedIds }) => [operation, relatedIds])).toEqual([
      ['CREATE', [globalId('Unit', unit.uuid)]],
      ['DELETE', [globalId('Unit', unit.uuid)]],
    ]);
  });

  test.each([
    [
      'without organization_id',
      'create table app_public.wrong (id uuid primary key)',
      '',
      /has no column organization_id/,
    ],
    [
      'without a primary key',
      'create table app_public.wrong (organization_id uuid, id uuid)',
      '',
      /has no primary key/,
    ],
    [
      'with a name that is no column',
      'create table app_public.wrong (organization_id uuid, id uuid primary key)',
      `, ignored => '{seen}'`,
      /has no column seen/,
    ],
    [
      'that is not in the graph',
      'create table app_hidden.wrong (organization_id uuid, id uuid primary key)',
      '',
      /is not in the graph/,
    ],
  ])('and refuses one %s', async (_, table, rest, message) => {
    const schema = table.includes('app_hidden') ? 'app_hidden' : 'app_public';
    const right = `begin; ${'create table app_public.wrong (organization_id uuid, id uuid primary key, seen int)'}; select feed.follow('app_public.wrong'${rest}); rollback`;

    const client = await graph.database.owner.connect();
    await expect(client.query(`begin; ${table}; select feed.follow('${schema}.wrong'${rest})`)).rejects.toThrow(
      message,
    );
    await client.query('rollback');
    client.release();
    await expect(graph.database.owner.query(right)).resolves.toBeDefined();
  });

  test('whose changes go when it is dropped, and all others stay', async () => {
    const before = await present(graph, tenant);
    await change(`insert into app_public.gates values ($1, 'South', 1)`);
    await change(`insert into app_public.units (organization_id, name) values ($1, 'HQ')`);
    expect((await follow(graph, tenant, before)).map(inShort)).toEqual(['CREATE Gate', 'CREATE Unit']);

    await graph.database.owner.query('drop table app_public.gates');

    expect((await follow(graph, tenant, before)).map(inShort)).toEqual(['CREATE Unit']);
    await graph.reload();
    expect((await follow(graph, tenant, before, 1)).map(inShort)).toEqual(['CREATE Unit']);
  });

  // Else their streams would read as often as the service asks.
  test('whose changes count as none when it is dropped', async () => {
    const { owner } = graph.database;
    await owner.query(`${tableSql({ name: 'hatches', columns: 'floor int', key: ['floor'] })}
      select feed.follow('app_public.hatches')`);
    const other = await createTenant(graph);
    await owner.query('insert into app_public.hatches values ($1, 1)', [other.organizationId]);
    await settled(other);
    const changed = async () => {
      const { rows } = await owner.query(`select feed.changed_since(array[$1::uuid], '{0}', '{0}') as changed`, [
        other.organizationId,
      ]);
      return rows[0]?.changed;
    };
    expect(await changed()).toEqual([other.organizationId]);

    await owner.query('drop table app_public.hatches');

    expect(await changed()).toEqual([]);
  });

  test('and a reader begins with the oldest change that is kept, and goes on from there', async () => {
    const { owner } = graph.database;
    const reader = await createTenant(graph);
    for (let unit = 0; unit < 4; unit++) await createUnit(reader);
    await owner.query(
      `update feed.changes c set at = date_trunc('day', now() - interval '30 days', 'UTC') + (nth - 3) * interval '1 second'
       from (select id, row_number() over (order by id) as nth from feed.changes where organization_id = $1) as numbered
       where c.id = numbered.id`,
      [reader.organizationId],
    );
    await settled(reader);
    const first = (await readPage(graph, reader, { first: 1 })).nodes.map(({ at }) => at);

    const changes = await follow(graph, reader, null, 1);

    const { rows } = await owner.query(
      'select count(*)::int from feed.changes where organization_id = $1 and at >= feed.oldest()',
      [reader.organizationId],
    );
    expect(changes).toHaveLength(rows[0].count);
    expect(changes[0]?.at).toBe(first[0]);
    expect(changes.length).toBeLessThan(4);
  });
});
