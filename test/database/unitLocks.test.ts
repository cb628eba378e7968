// The advisory locks of an organization and its tree of units: what waits for each other, and what does not.
import { until } from '../support/until.ts';
import { createUnitTree, moveStatement, type UnitTree } from './unitTree.ts';

describe('the tree of units', () => {
  let tree: UnitTree;
  let organization: string;

  beforeAll(async () => {
    tree = await createUnitTree();
  });

  beforeEach(async () => {
    organization = await tree.begin();
  });

  afterEach(() => tree.clear());

  afterAll(() => tree.drop());

  it('places a unit that is added below one that another transaction moves', async () => {
    await tree.plant(3, (index) => (index === 2 ? 1 : null));
    const mover = await tree.owner.connect();
    await mover.query('begin');
    await mover.query(moveStatement, ['u1', 'u0']);

    const adding = tree.insert('u3', 2);
    await until(async () => (await tree.waiting()) === 1);
    await mover.query('commit');
    mover.release();
    await adding;

    const { rows } = await tree.owner.query(
      "select cardinality(ancestor_ids) as depth from app_public.units where external_identifier = 'u3'",
    );
    expect(rows).toEqual([{ depth: 4 }]);
    expect(await tree.differences()).toEqual([]);
  });

  it.each([
    ['of another', 'Other', true],
    ['of its own', 'Acme', false],
  ])('moves a unit while a unit %s organization moves: %s', async (_whose, name, isFree) => {
    const other = await tree.organizationOf('Other');
    await tree.plant(2, () => null);
    await tree.owner.query(
      `insert into app_public.units (organization_id, external_identifier, name)
       select $1, name, name from unnest(array['o0', 'o1']) as name`,
      [other],
    );
    const [mover, second] = [
      await tree.underClaims(organization),
      await tree.underClaims(await tree.organizationOf(name)),
    ];
    await mover.query(moveStatement, ['u0', 'u1']);

    const moving = second.query(moveStatement, name === 'Other' ? ['o0', 'o1'] : ['u1', null]);
    if (isFree) await moving;
    else await until(async () => (await tree.waiting()) === 1);

    await mover.query('commit');
    await moving;
    await second.query('commit');
    for (const client of [mover, second]) client.release();
    expect(await tree.differences()).toEqual([]);
  });

  it.each([
    ['moves', `update app_public.units set parent_id = null where external_identifier = 'u1'`],
    ['deletes', `delete from app_public.units where external_identifier = 'u2'`],
    [
      'adds',
      `insert into app_public.units (organization_id, name) select organization_id, 'New' from app_public.units limit 1`,
    ],
  ])(
    'waits for a statement that %s without claims, whatever the organization, and is waited for',
    async (_what, statement) => {
      await tree.plant(3, () => null);
      const other = await tree.organizationOf('Other');
      const [all, one] = [await tree.owner.connect(), await tree.underClaims(other)];
      const addToOther = () =>
        one.query(`insert into app_public.units (organization_id, name) values ($1, 'New')`, [other]);

      await all.query('begin');
      await all.query(statement);
      const adding = addToOther();
      await until(async () => (await tree.waiting()) === 1);
      await all.query('commit');
      await adding;

      await all.query('begin');
      const writing = all.query(statement);
      await until(async () => (await tree.waiting()) === 1);
      await one.query('commit');
      await writing;
      await all.query('commit');
      for (const client of [all, one]) client.release();
      expect(await tree.differences()).toEqual([]);
    },
  );

  it('lets inserts of one organization go on beside each other', async () => {
    const [first, second] = [await tree.underClaims(organization), await tree.underClaims(organization)];
    const insertion = `insert into app_public.units (organization_id, name) values ($1, 'New')`;

    for (const client of [first, second]) await client.query(insertion, [organization]);
    for (const client of [first, second]) {
      await client.query('commit');
      client.release();
    }

    expect(await tree.count('app_public.units')).toBe(2);
  });

  it('lets writes of one row go on beside each other, and keeps them waiting for one of several rows', async () => {
    const other = await tree.organizationOf('Other');
    const create = 'select app_public.user_create(full_name => $1, email => $1, external_identifier => $1)';
    const rename = `select app_public.user_update(external_identifier => $1, full_name => 'Grace', given => '{fullName}')`;
    const sync = `select app_public.users_sync(array[jsonb_build_object('external_identifier', $1::text, 'locale', 'de')])`;
    const inClaims = async (statement: string, value: string, of = organization) => {
      const client = await tree.underClaims(of);
      const written = client.query(statement, [`${value}@test`]);
      const end = async () => {
        await written;
        await client.query('commit');
        client.release();
      };
      return { written, end };
    };
    for (const name of ['ada', 'eve']) await (await inClaims(create, name)).end();

    // Each of these is done while those before it are open.
    const [adding, renaming] = [await inClaims(create, 'bob'), await inClaims(rename, 'ada')];
    await Promise.all([adding.written, renaming.written]);
    const syncing = await inClaims(sync, 'eve');
    await until(async () => (await tree.waiting()) === 1);
    for (const { end } of [adding, renaming, syncing]) await end();

    const again = await inClaims(sync, 'eve');
    await again.written;
    await (await inClaims(rename, 'ada')).end();
    await (await inClaims(create, 'bob', other)).end();
    const late = await inClaims(create, 'joe');
    await until(async () => (await tree.waiting()) === 1);
    for (const { end } of [again, late]) await end();

    expect(await tree.count('app_public.users')).toBe(5);
    await tree.owner.query('delete from app_public.users');
  });

  it('refuses to write under the claims of another organization, whose tree is not locked', async () => {
    const other = await tree.organizationOf('Other');
    const client = await tree.underClaims(other);
    const insertion = `insert into app_public.units (organization_id, name) values ($1, 'New')`;
    await client.query('savepoint before');

    await expect(client.query(insertion, [organization])).rejects.toMatchObject({ code: '42501' });

    await client.query('rollback to before');
    await client.query(insertion, [other]);
    await client.query('commit');
    client.release();
    expect(await tree.count('app_public.units')).toBe(1);
  });

  it.each([
    [
      'moves',
      `update app_public.units u set parent_id = p.id from app_public.units p where u.name = 'u0' and p.name = 'u1'`,
    ],
    [
      'adds',
      `insert into app_public.units (organization_id, parent_id, name) select organization_id, id, 'New' from app_public.units where name = 'u1'`,
    ],
  ])(
    '%s in read committed transactions only, which see what was committed before their turn',
    async (_what, statement) => {
      await tree.plant(2, () => null);
      const client = await tree.owner.connect();
      await client.query('begin isolation level repeatable read');

      await expect(client.query(statement)).rejects.toMatchObject({ code: '0A000' });

      await client.query('rollback');
      client.release();
      await tree.owner.query(statement);
      expect(await tree.differences()).toEqual([]);
    },
  );
});
