import { randomBytes } from 'node:crypto';
import { createSecrets } from '../../../src/crypto/secrets.ts';
import { shareService } from '../../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUnit,
  expectErrors,
  expectRefused,
  type GraphTest,
  type Refusal,
  read,
  type Tenant,
} from '../support.ts';
import { altered, follow, inShort, pageQuery, present, readPage, rekeyed, settled, unkeyed } from './feed.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

const createUnits = async (count: number) => {
  for (let index = 0; index < count; index++) await createUnit(tenant, { name: `Unit ${index}` });
  await settled(tenant);
};

describe('pages', () => {
  it('of any size are the same changes, in the order of writing', async () => {
    await createUnits(3);
    await tenant.owner.query(
      `insert into app_public.units (organization_id, name) select $1, n::text from generate_series(1, 4) n`,
      [tenant.organizationId],
    );
    await settled(tenant);
    const { rows } = await tenant.owner.query(
      'select key[1] as id from feed.changes where organization_id = $1 order by id',
      [tenant.organizationId],
    );

    const whole = await readPage(graph, tenant);

    expect(whole.nodes.map(inShort)).toEqual(Array(7).fill('CREATE Unit'));
    expect(whole.nodes.map(({ id }) => Buffer.from(id, 'base64url').toString())).toEqual(
      rows.map(({ id }) => `Unit:${id}`),
    );
    for (const first of [1, 2, 7]) expect(await follow(graph, tenant, null, first)).toEqual(whole.nodes);
  });

  it('have edges, and say where they begin and end and whether there is more', async () => {
    await createUnits(3);
    const { nodes } = await readPage(graph, tenant);
    const cursors = nodes.map(({ cursor }) => cursor);

    const [begin, end] = [
      await readPage(graph, tenant, { first: 2 }),
      await readPage(graph, tenant, { after: cursors[1] }),
    ];

    expect(new Set(cursors).size).toBe(3);
    expect(begin.edges).toEqual(begin.nodes.map(({ cursor, id }) => ({ cursor, node: { id } })));
    expect(begin.pageInfo).toEqual({
      ...{ hasPreviousPage: false, hasNextPage: true, startCursor: cursors[0], endCursor: cursors[1] },
    });
    expect(end.nodes).toEqual(nodes.slice(2));
    expect(end.pageInfo).toMatchObject({ hasNextPage: false, startCursor: cursors[2], endCursor: cursors[2] });
    expect(await readPage(graph, tenant, { first: 3 })).toMatchObject({ pageInfo: { hasNextPage: false } });
  });

  it('go on from the cursor of any change, and from an empty page, with what comes next alone', async () => {
    await createUnits(2);
    const { nodes } = await readPage(graph, tenant);

    const empty = await readPage(graph, tenant, { after: nodes[1]?.cursor });
    expect(empty).toMatchObject({ nodes: [], edges: [], pageInfo: { hasNextPage: false, startCursor: null } });
    await createUnits(1);

    for (const after of [nodes[1]?.cursor, empty.pageInfo.endCursor])
      expect((await follow(graph, tenant, after)).map(inShort)).toEqual(['CREATE Unit']);
    expect((await follow(graph, tenant, nodes[0]?.cursor)).map(inShort)).toHaveLength(2);
  });

  it('of nothing are the present, with which nothing after it is missed', async () => {
    await createUnits(2);

    const none = await readPage(graph, tenant, { first: 0 });
    expect(none).toMatchObject({
      nodes: [],
      edges: [],
      pageInfo: { hasNextPage: false, startCursor: null, endCursor: expect.any(String) },
    });
    await createUnits(1);

    expect(await follow(graph, tenant, none.pageInfo.endCursor)).toHaveLength(1);
    // After a cursor, a page of nothing stays there.
    expect(await readPage(graph, tenant, { first: 0, after: none.pageInfo.endCursor })).toMatchObject({
      pageInfo: { hasNextPage: true, endCursor: none.pageInfo.endCursor },
    });
  });

  it('have 100 changes unless asked, and at most 1,000', async () => {
    await tenant.owner.query(
      'insert into app_public.units (organization_id, name) select $1, n::text from generate_series(1, 1001) n',
      [tenant.organizationId],
    );
    await settled(tenant);

    expect((await readPage(graph, tenant)).nodes).toHaveLength(100);
    expect((await readPage(graph, tenant, { first: null, after: null })).nodes).toHaveLength(100);
    const page = await readPage(graph, tenant, { first: 1000 });
    expect([page.nodes.length, page.pageInfo.hasNextPage]).toEqual([1000, true]);
    expect(new Set((await follow(graph, tenant)).map(({ id }) => id)).size).toBe(1001);
  });

  it('may be several of one operation, and each row counts', async () => {
    await createUnits(2);
    const page = '{ nodes { node { ... on Unit { name } } } pageInfo { endCursor } }';

    const { app } = await read<{ app: object }>(
      graph,
      tenant.app,
      `{ app { one: changes(first: 1) ${page} two: changes(first: 2) ${page} } }`,
    );

    const unit = (name: string) => ({ node: { name } });
    expect(app).toMatchObject({
      one: { nodes: [unit('Unit 0')] },
      two: { nodes: [unit('Unit 0'), unit('Unit 1')] },
    });
  });

  it('have no count', async () => {
    expectRefused(await ask(graph, tenant.app, '{ app { changes { totalCount } } }'), 400, {
      code: 'GRAPHQL_VALIDATION_FAILED',
    });
  });
});

const day = 86_400_000;
const expired = { code: 'CURSOR_EXPIRED', argument: 'after', path: ['app', 'changes'] } satisfies Refusal;

describe('a cursor', () => {
  it('that is older than what is kept has expired, and one that is not goes on', async () => {
    await createUnits(1);
    const now = await present(graph, tenant);
    const ago = (days: number) => altered(now, ({ atMs }) => ({ atMs: atMs - days * day, horizon: '3', id: '0' }));

    expectErrors(await ask(graph, tenant.app, pageQuery, { after: ago(31) }), { app: null }, expired);
    expect((await readPage(graph, tenant, { after: ago(29) })).nodes).toHaveLength(1);
  });

  it('from before a restore has expired: of another cluster, and of a transaction that is not there yet', async () => {
    const now = await present(graph, tenant);
    const elsewhere = altered(now, ({ origin }) => ({ origin: String(BigInt(origin) + 1n) }));
    const future = altered(now, ({ horizon }) => ({ horizon: String(BigInt(horizon) + 1_000_000n) }));

    for (const after of [elsewhere, future])
      expectErrors(await ask(graph, tenant.app, pageQuery, { after }), { app: null }, expired);
    expect((await readPage(graph, tenant, { after: altered(now, () => ({})) })).nodes).toEqual([]);
  });

  it('what was restored is not shown: its transaction ids are of another cluster', async () => {
    await createUnits(1);
    const before = await readPage(graph, tenant);
    const insert = `insert into feed.changes (origin, horizon, organization_id, relation, key, operation, columns)
      select coalesce(restored, origin), '3', organization_id, relation, key, operation, columns
      from feed.changes, unnest(array[null, 1]) as restored where organization_id = $1`;
    await graph.database.owner.query(insert, [tenant.organizationId]);

    const { rows } = await graph.database.owner.query('select from feed.changes where organization_id = $1', [
      tenant.organizationId,
    ]);
    expect([before.nodes.length, rows.length, (await readPage(graph, tenant)).nodes.length]).toEqual([1, 3, 2]);
  });

  it('is refused when it was tampered with, is of another connection, or is none', async () => {
    await createUnits(1);
    const now = await present(graph, tenant);
    const { app } = await read<{ app: { units: { pageInfo: { endCursor: string } } } }>(
      graph,
      tenant.app,
      '{ app { units { pageInfo { endCursor } } } }',
    );
    const text = Buffer.from(now, 'base64url').toString();
    const tampered = Buffer.from(text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10))).toString('base64url');
    const rubbish = ['', 'rubbish', `${now}=`, `${now}A`, now.slice(0, -4), '\0', now.repeat(20), '€'];

    // Its checksum is right, and no database has such numbers.
    const impossible = (['horizon', 'id'] as const).map((part) => altered(now, () => ({ [part]: '9'.repeat(30) })));

    const foreignKey = createSecrets([randomBytes(32)]);
    for (const after of [rekeyed(now, foreignKey), tampered, ...impossible, app.units.pageInfo.endCursor, ...rubbish])
      expectRefused(await ask(graph, tenant.app, pageQuery, { after }), 400, {
        ...{ code: 'BAD_USER_INPUT', argument: 'after' },
      });
    expect(await readPage(graph, tenant, { after: now })).toMatchObject({ nodes: [] });
  });

  it('of a version whose checksums had no key has expired, also if somebody makes one of the present', async () => {
    await createUnits(1);
    const now = await present(graph, tenant);
    const foreign = await present(graph, await createTenant(graph));

    const errors = await ask(graph, tenant.app, pageQuery, { after: unkeyed(now) });

    expectErrors(errors, { app: null }, expired);
    expect(errors.body.errors?.[0]?.message).toBe(
      'This cursor was issued by an earlier version of the service; read everything and begin anew.',
    );
    expectErrors(
      await ask(graph, tenant.app, pageQuery, { after: unkeyed(foreign) }),
      { app: null },
      { code: 'BAD_USER_INPUT', argument: 'after', path: ['app', 'changes'] },
    );
    expect((await readPage(graph, tenant, { after: now })).nodes).toEqual([]);
  });

  // Once SECRET_KEY was replaced: graphql/replacedKey.test.ts.
  it('is the same in an answer that the offload thread makes', async () => {
    await createUnits(2);
    const { nodes } = await readPage(graph, tenant);
    // By the number of its fields.
    const many = 'at '.repeat(210);

    const { app } = await read<{ app: { changes: { edges: unknown[] } } }>(
      graph,
      tenant.app,
      `{ app { changes { edges { cursor node { cursor ${many} } } } } }`,
    );

    expect(app.changes.edges).toMatchObject(nodes.map(({ cursor }) => ({ cursor, node: { cursor } })));
  });

  it('of another organization is refused, and is good there', async () => {
    const other = await createTenant(graph);
    await createUnit(other);
    const theirs = await present(graph, other);

    expectErrors(
      await ask(graph, tenant.app, pageQuery, { after: theirs }),
      { app: null },
      { code: 'BAD_USER_INPUT', argument: 'after', path: ['app', 'changes'] },
    );
    expect((await readPage(graph, other, { after: theirs })).nodes).toEqual([]);
    const stolen = altered(theirs, () => ({ organizationId: tenant.organizationId, horizon: '0', id: '0' }));
    expect((await readPage(graph, tenant, { after: stolen })).nodes).toEqual([]);
  });
});

it.each([-1, 1001])('a page of %d changes is refused', async (first) => {
  expectRefused(await ask(graph, tenant.app, pageQuery, { first }), 400, { code: 'BAD_USER_INPUT', argument: 'first' });
});
