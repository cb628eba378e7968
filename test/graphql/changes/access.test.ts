import { shareService } from '../../support/sharedService.ts';
import { ask, createTenant, createUnit, createViewer, expectErrors, type GraphTest, type Tenant } from '../support.ts';
import { follow, pageQuery, present } from './feed.ts';

let graph: GraphTest;
let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  graph = await shareService();
  [tenant, other] = [await createTenant(graph), await createTenant(graph)];
  await createUnit(tenant, { name: 'Ours' });
  await createUnit(other, { name: 'Theirs' });
});

test('an application follows its own organization, and the owner sees the others', async () => {
  const changes = await follow(graph, tenant);
  const { rows } = await tenant.owner.query('select organization_id as id, count(*)::int from feed.changes group by 1');

  expect(changes).toHaveLength(1);
  expect(rows).toEqual(
    expect.arrayContaining([
      { id: tenant.organizationId, count: 1 },
      { id: other.organizationId, count: 1 },
    ]),
  );
  expect(await follow(graph, other)).toHaveLength(1);
});

test('a person and a basic token are refused, and without a token there is no answer', async () => {
  const ada = await createViewer(tenant);
  const after = await present(graph, tenant);

  for (const token of [ada.token, tenant.basic])
    for (const variables of [{}, { first: 0 }, { after }])
      expectErrors(await ask(graph, token, pageQuery, variables), { app: null }, { code: 'FORBIDDEN', path: ['app'] });
  const { status, headers, body } = await ask(graph, null, pageQuery);
  expect({ status, challenge: headers.get('WWW-Authenticate'), data: body.data }).toEqual({
    ...{ status: 401, challenge: expect.stringMatching(/^Bearer/), data: undefined },
  });
});

describe('in the database', () => {
  /** One statement as a role with the claims of the organization, undone. */
  async function as(role: string, statement: string, organizationId = tenant.organizationId): Promise<object[]> {
    const client = await tenant.owner.connect();
    try {
      await client.query('begin');
      await client.query(`select set_config('graph.organization_id', $1, true)`, [organizationId]);
      await client.query(`set local role ${role}`);
      return (await client.query(statement)).rows;
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  const reads = [
    'select from feed.changes',
    `select from feed.changes_after('0', 0, 10)`,
    'select from feed.position()',
  ];
  const writes = [
    `insert into feed.changes (origin, horizon, organization_id, relation, key, operation, columns)
     select 1, '1', '${'0'.repeat(8)}-0000-0000-0000-000000000000', 'app_public.units', '{x}', 'CREATE', '{}'`,
    `update feed.changes set operation = 'DELETE'`,
    'delete from feed.changes',
    'truncate feed.changes',
    'drop table feed.changes',
    `select feed.follow('app_public.users')`,
    `select feed.create_partition('2000-01-01')`,
    'select feed.record_rows()',
  ];
  const denied = { code: '42501' };

  it.each(['graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'graph_auditor'])(
    '%s cannot write the feed',
    async (role) => {
      for (const statement of writes)
        await expect(as(role, statement)).rejects.toMatchObject({ code: expect.stringMatching(/^(42501|0A000)$/) });
    },
  );

  it.each(['graph_user', 'graph_basic', 'graph_oauth', 'graph_auditor'])('%s cannot read the feed', async (role) => {
    for (const statement of reads) await expect(as(role, statement)).rejects.toMatchObject(denied);
  });

  it('graph_helper adds to the feed, and cannot change or delete, nor read more than positions', async () => {
    const [insert = '', ...others] = writes.slice(0, 5);

    await expect(as('graph_helper', insert)).resolves.toEqual([]);
    await expect(
      as('graph_helper', 'select organization_id, horizon, id, at from feed.changes'),
    ).resolves.not.toHaveLength(0);
    await expect(as('graph_helper', 'select key from feed.changes')).rejects.toMatchObject(denied);
    for (const statement of others) await expect(as('graph_helper', statement)).rejects.toMatchObject(denied);
  });

  it('graph_app reads its organization alone, through the whole table, and nothing without a claim', async () => {
    for (const statement of reads.slice(0, 2)) {
      expect(await as('graph_app', statement, other.organizationId)).toHaveLength(1);
      expect(await as('graph_app', statement, '')).toEqual([]);
    }
    const [{ partitions } = { partitions: [] }] = (
      await tenant.owner.query(
        `select array_agg(inhrelid::regclass::text) as partitions from pg_inherits where inhparent = 'feed.changes'::regclass`,
      )
    ).rows;

    expect(partitions.length).toBeGreaterThan(7);
    for (const partition of partitions)
      for (const role of ['graph_app', 'graph_admin', 'graph_helper'])
        await expect(as(role, `select from ${partition}`)).rejects.toMatchObject(denied);
  });
});
