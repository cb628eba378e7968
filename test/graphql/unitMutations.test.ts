import { shareService } from '../support/sharedService.ts';
import { treeDifferences } from '../support/treeDifferences.ts';
import { changeTrees, plantChain } from './changeTrees.ts';
import { type Mutate, mutating, unknownId } from './mutating.ts';
import {
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  grantAccess,
  read,
  type Tenant,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  mutate = mutating(graph, tenant);
});

const unit = 'unit { id name externalIdentifier parent { name } }';
const create = (args: object, token?: string) => mutate('unitCreate', args, unit, token);
const update = (args: object, token?: string) => mutate('unitUpdate', args, unit, token);
const remove = (args: object, token?: string) => mutate('unitDelete', args, unit, token);

/** Each unit's ancestors, as the triggers keep them, are what the parents say. */
async function expectTree(expected: Record<string, string[]>) {
  const { rows } = await tenant.owner.query<{ name: string; above: string[]; pairs: string[] }>(
    `select u.name,
       array(select a.name from unnest(u.ancestor_ids) with ordinality x (id, n) join app_public.units a using (id) order by n) as above,
       array(select a.name from app_hidden.unit_ancestors x join app_public.units a on a.id = x.ancestor_id
             where x.unit_id = u.id order by cardinality(a.ancestor_ids)) as pairs
     from app_public.units u where u.organization_id = $1`,
    [tenant.organizationId],
  );
  expect(Object.fromEntries(rows.map(({ name, above }) => [name, above]))).toEqual(expected);
  expect(Object.fromEntries(rows.map(({ name, pairs }) => [name, pairs]))).toEqual(expected);
}

describe('unitCreate', () => {
  it('adds a root, or a unit below another one by either identifier', async () => {
    const root = await create({ name: '  Headquarters ', externalIdentifier: 'hq' });
    expect(root).toEqual({
      unit: { id: expect.any(String), name: 'Headquarters', externalIdentifier: 'hq', parent: null },
    });

    const floor = await create({ name: 'Floor', parentId: (root as { unit: { id: string } }).unit.id });
    const annex = await create({ name: 'Annex', parentExternalIdentifier: 'hq', parentId: null });

    expect([floor, annex]).toMatchObject([
      { unit: { parent: { name: 'Headquarters' } } },
      { unit: { parent: { name: 'Headquarters' } } },
    ]);
    await expectTree({
      Headquarters: ['Headquarters'],
      Floor: ['Headquarters', 'Floor'],
      Annex: ['Headquarters', 'Annex'],
    });
  });

  it('refuses two parents, an unknown one and values that cannot be', async () => {
    const parent = await createUnit(tenant, { externalIdentifier: 'taken' });
    const user = await createUser(tenant);

    expect(await create({ name: 'X', parentId: parent.id, parentExternalIdentifier: 'taken' })).toEqual({
      code: 'BAD_USER_INPUT',
      argument: 'parentId',
    });
    expect(await create({ name: 'X', parentId: unknownId('Unit') })).toEqual({ code: 'NOT_FOUND' });
    expect(await create({ name: 'X', parentExternalIdentifier: 'nowhere' })).toEqual({ code: 'NOT_FOUND' });
    for (const parentId of ['garbage', user.id])
      expect(await create({ name: 'X', parentId })).toEqual({ code: 'BAD_USER_INPUT', argument: 'parentId' });
    for (const name of ['', ' ', 'a\u0001', 'x'.repeat(201)])
      expect(await create({ name })).toEqual({ code: 'BAD_USER_INPUT', argument: 'name' });
    for (const externalIdentifier of ['', 'x'.repeat(201)])
      expect(await create({ name: 'X', externalIdentifier })).toEqual({
        code: 'BAD_USER_INPUT',
        argument: 'externalIdentifier',
      });
    expect(await create({ name: 'X', externalIdentifier: 'taken' })).toEqual({
      code: 'CONFLICT',
      argument: 'externalIdentifier',
    });
    await expectTree({ Unit: ['Unit'] });
    expect(await create({ name: 'x'.repeat(200), externalIdentifier: 'TAKEN' })).toHaveProperty('unit');
  });
});

describe('unitUpdate', () => {
  it('changes what is given of a unit found by id or by external identifier', async () => {
    const { id } = await createUnit(tenant, { name: 'Old', externalIdentifier: 'one' });

    expect(await update({ id, name: 'New', externalIdentifier: 'two' })).toEqual({
      unit: { id, name: 'New', externalIdentifier: 'two', parent: null },
    });
    expect(await update({ externalIdentifier: 'two', name: 'Newer' })).toMatchObject({
      unit: { name: 'Newer', externalIdentifier: 'two' },
    });
    expect(await update({ id })).toMatchObject({ unit: { name: 'Newer', externalIdentifier: 'two' } });
    expect(await update({ id, externalIdentifier: null })).toMatchObject({ unit: { externalIdentifier: null } });
  });

  it('moves a unit with all below it, to the top by null, and nowhere without an argument', async () => {
    const [a, b] = [
      await createUnit(tenant, { name: 'A', externalIdentifier: 'a' }),
      await createUnit(tenant, { name: 'B' }),
    ];
    const c = await createUnit(tenant, { name: 'C', parent: b });

    expect(await update({ id: b.id, parentExternalIdentifier: 'a' })).toMatchObject({
      unit: { parent: { name: 'A' } },
    });
    await expectTree({ A: ['A'], B: ['A', 'B'], C: ['A', 'B', 'C'] });
    expect(await update({ id: b.id, name: 'B' })).toMatchObject({ unit: { parent: { name: 'A' } } });
    expect(await update({ id: c.id, parentId: a.id, name: 'D' })).toMatchObject({ unit: { parent: { name: 'A' } } });
    await expectTree({ A: ['A'], B: ['A', 'B'], D: ['A', 'D'] });
    expect(await update({ id: b.id, parentId: null })).toMatchObject({ unit: { parent: null } });
    expect(await update({ id: c.id, parentExternalIdentifier: null })).toMatchObject({ unit: { parent: null } });
    await expectTree({ A: ['A'], B: ['B'], D: ['D'] });
  });

  it('opens what it moves to those who may enter above, and closes it to those who may no longer', async () => {
    const [open, closed] = [await createUnit(tenant, { name: 'Open' }), await createUnit(tenant, { name: 'Closed' })];
    const moved = await createUnit(tenant, { name: 'Moved', parent: closed });
    await createUnit(tenant, { name: 'Below', parent: moved });
    const ada = await createViewer(tenant);
    await grantAccess(tenant, ada, open);
    const seen = async () =>
      (
        await read<{ viewer: { accessibleUnits: { nodes: { name: string }[] } } }>(
          graph,
          ada.token,
          '{ viewer { accessibleUnits { nodes { name } } } }',
        )
      ).viewer.accessibleUnits.nodes.map(({ name }) => name);

    expect(await seen()).toEqual(['Open']);
    await update({ id: moved.id, parentId: open.id });
    expect(await seen()).toEqual(['Open', 'Moved', 'Below']);
    await update({ id: moved.id, parentId: closed.id });
    expect(await seen()).toEqual(['Open']);
  });

  it('refuses a unit below itself, whichever way its parent is named', async () => {
    const top = await createUnit(tenant, { name: 'Top', externalIdentifier: 'top' });
    const below = await createUnit(tenant, { name: 'Below', externalIdentifier: 'below', parent: top });

    for (const unit of [top, below])
      expect(await update({ id: top.id, parentId: unit.id })).toEqual({ code: 'BAD_USER_INPUT', argument: 'parentId' });
    for (const parentExternalIdentifier of ['top', 'below'])
      expect(await update({ externalIdentifier: 'top', parentExternalIdentifier })).toEqual({
        code: 'BAD_USER_INPUT',
        argument: 'parentExternalIdentifier',
      });
    await expectTree({ Top: ['Top'], Below: ['Top', 'Below'] });
    expect(await update({ id: below.id, parentId: top.id })).toHaveProperty('unit');
  });

  it('refuses what names no unit, two parents, and null where a value must be', async () => {
    const { id } = await createUnit(tenant, { externalIdentifier: 'one' });
    await createUnit(tenant, { name: 'Other', externalIdentifier: 'two' });
    const user = await createUser(tenant);

    for (const args of [{}, { id: null }, { externalIdentifier: null }, { id: 'garbage' }])
      expect(await update({ ...args, name: 'X' })).toEqual({ code: 'BAD_USER_INPUT', argument: 'id' });
    for (const args of [{ id: unknownId('Unit') }, { id: user.id }, { externalIdentifier: 'none' }])
      expect(await update({ ...args, name: 'X' })).toEqual({ code: 'NOT_FOUND' });
    expect(await update({ id, name: null })).toEqual({ code: 'BAD_USER_INPUT', argument: 'name' });
    expect(await update({ id, name: ' ' })).toEqual({ code: 'BAD_USER_INPUT', argument: 'name' });
    expect(await update({ id, externalIdentifier: 'two' })).toEqual({
      code: 'CONFLICT',
      argument: 'externalIdentifier',
    });
    expect(await update({ id, parentExternalIdentifier: 'none' })).toEqual({ code: 'NOT_FOUND' });
    for (const parentId of [null, unknownId('Unit')])
      expect(await update({ id, parentId, parentExternalIdentifier: 'two' })).toEqual({
        code: 'BAD_USER_INPUT',
        argument: 'parentId',
      });
    expect(await update({ id, parentId: null, parentExternalIdentifier: null })).toMatchObject({
      unit: { name: 'Unit' },
    });
  });
});

describe('unitDelete', () => {
  const whole = `unit { id name externalIdentifier createdAt parent { name } children { totalCount nodes { id } }
    accessGrants { totalCount nodes { id } } usersWithAccess { totalCount nodes { id } } }`;

  it('deletes a unit by either identifier, with the grants on it, and returns it as it was', async () => {
    const top = await createUnit(tenant, { name: 'Top' });
    const below = await createUnit(tenant, { name: 'Below', parent: top, externalIdentifier: 'below' });
    const ada = await createUser(tenant);
    await grantAccess(tenant, ada, below);
    await grantAccess(tenant, ada, top);

    expect(await mutate('unitDelete', { externalIdentifier: 'below' }, whole)).toEqual({
      unit: {
        id: below.id,
        name: 'Below',
        externalIdentifier: 'below',
        createdAt: expect.any(String),
        parent: null,
        children: { totalCount: 0, nodes: [] },
        accessGrants: { totalCount: 0, nodes: [] },
        usersWithAccess: { totalCount: 0, nodes: [] },
      },
    });
    await expectTree({ Top: ['Top'] });
    expect(await remove({ id: top.id })).toMatchObject({ unit: { name: 'Top' } });
    const { rows } = await tenant.owner.query('select from app_hidden.unit_access where organization_id = $1', [
      tenant.organizationId,
    ]);
    expect(rows).toEqual([]);
  });

  it('deletes a whole subtree only when it is told to', async () => {
    const top = await createUnit(tenant, { name: 'Top' });
    const below = await createUnit(tenant, { name: 'Below', parent: top });
    await createUnit(tenant, { name: 'Lowest', parent: below });
    await createUnit(tenant, { name: 'Beside' });

    for (const args of [{}, { withDescendants: false }, { withDescendants: null }])
      expect(await remove({ id: top.id, ...args })).toEqual({ code: 'CONFLICT', argument: 'withDescendants' });
    expect(await remove({ id: top.id, withDescendants: true })).toMatchObject({ unit: { name: 'Top', parent: null } });
    await expectTree({ Beside: ['Beside'] });
  });

  it('refuses what names no unit, or two', async () => {
    const { id } = await createUnit(tenant, { externalIdentifier: 'one' });

    for (const args of [{}, { id, externalIdentifier: 'one' }, { id: null, externalIdentifier: null }])
      expect(await remove(args)).toEqual({ code: 'BAD_USER_INPUT', argument: 'id' });
    for (const args of [{ id: unknownId('Unit') }, { externalIdentifier: 'none' }])
      expect(await remove(args)).toEqual({ code: 'NOT_FOUND' });
    expect(await remove({ id, externalIdentifier: null })).toHaveProperty('unit');
    expect(await remove({ id })).toEqual({ code: 'NOT_FOUND' });
  });
});

test('another organization’s units are as if they were not there', async () => {
  const other = await createTenant(graph);
  const theirs = await createUnit(other, { name: 'Theirs', externalIdentifier: 'theirs' });
  const { id } = await createUnit(tenant, { externalIdentifier: 'ours' });

  expect(await create({ name: 'X', parentId: theirs.id })).toEqual({ code: 'NOT_FOUND' });
  expect(await create({ name: 'X', parentExternalIdentifier: 'theirs' })).toEqual({ code: 'NOT_FOUND' });
  expect(await update({ id, parentId: theirs.id })).toEqual({ code: 'NOT_FOUND' });
  for (const args of [{ id: theirs.id }, { externalIdentifier: 'theirs' }]) {
    expect(await update({ ...args, name: 'Ours' })).toEqual({ code: 'NOT_FOUND' });
    expect(await remove(args)).toEqual({ code: 'NOT_FOUND' });
  }
  expect(await create({ name: 'X', externalIdentifier: 'theirs' })).toHaveProperty('unit');
  expect(await update({ id: theirs.id, name: 'Still theirs' }, other.app)).toMatchObject({
    unit: { name: 'Still theirs' },
  });
});

test('neither a person nor a basic token changes a unit', async () => {
  const ada = await createViewer(tenant);
  const unit = await createUnit(tenant);
  await grantAccess(tenant, ada, unit);
  const { id } = unit;

  for (const token of [ada.token, tenant.basic]) {
    expect(await create({ name: 'X' }, token)).toEqual({ code: 'FORBIDDEN' });
    expect(await update({ id, name: 'X' }, token)).toEqual({ code: 'FORBIDDEN' });
    expect(await remove({ id }, token)).toEqual({ code: 'FORBIDDEN' });
  }
  await expectTree({ Unit: ['Unit'] });
});

test('twenty clients that add, move and delete units at once leave a tree, and none is told of a collision', async () => {
  await plantChain(tenant);
  let left = 600;

  const answers = await changeTrees(graph, tenant, () => left-- > 0);

  expect([...answers.keys()].toSorted()).toEqual(['BAD_USER_INPUT', 'CONFLICT', 'NOT_FOUND', 'done']);
  expect(await treeDifferences(tenant.owner)).toEqual([]);
});
