// Units and their ancestors, which triggers keep whatever writes the units.
import { createUnitTree, generator, type UnitTree } from './unitTree.ts';

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

  it('knows the ancestors of every unit, whatever was moved where', async () => {
    const random = generator(20_261_121);
    await tree.plant(60, (index) => (index === 0 || random(5) === 0 ? null : random(index)));

    let moved = 0;
    for (let round = 0; round < 150; round += 1) {
      const [unit, parent] = [`u${random(60)}`, random(6) === 0 ? null : `u${random(60)}`];
      await tree.move(unit, parent).then(
        () => (moved += 1),
        (error: unknown) => expect(error).toMatchObject({ code: '23514', constraint: 'units_no_cycle' }),
      );
      // What is wrong stays wrong, or a later move would have to mend it.
      if (round % 5 === 4) expect(await tree.differences()).toEqual([]);
    }

    expect(moved).toBeGreaterThan(50);
    expect(await tree.count('app_public.units')).toBe(60);
  });

  it('knows them when many move in one statement, and refuses just those that would end in a circle', async () => {
    const random = generator(7);
    let above = new Map<string, string | null>();
    for (let index = 0; index < 40; index += 1) above.set(`u${index}`, index < 4 ? null : `u${Math.floor(index / 3)}`);
    await tree.plant(40, (index) => (index < 4 ? null : Math.floor(index / 3)));

    let moved = 0;
    for (let round = 0; round < 40; round += 1) {
      const wanted = Array.from(
        { length: 6 },
        () => [`u${random(40)}`, random(5) === 0 ? null : `u${random(40)}`] as const,
      );
      const rows = new Map(wanted);
      const next = new Map([...above, ...rows]);
      const moves = tree.owner.query(
        `update app_public.units u set parent_id = p.id
         from unnest($1::text[], $2::text[]) as wanted (unit, parent)
         left join app_public.units p on p.external_identifier = wanted.parent
         where u.external_identifier = wanted.unit`,
        [[...rows.keys()], [...rows.values()]],
      );
      if (hasCircle(next)) {
        await expect(moves).rejects.toMatchObject({ code: '23514', constraint: 'units_no_cycle' });
      } else {
        await moves;
        moved += 1;
        above = next;
      }
      expect(await tree.differences()).toEqual([]);
    }

    expect(moved).toBeGreaterThan(5);
    expect(moved).toBeLessThan(40);
  });

  it('takes the pairs of a unit along when it is deleted, and those of no other', async () => {
    await tree.plant(6, (index) => (index === 0 ? null : index - 1));
    await tree.insert('u6', 2);
    await tree.owner.query("delete from app_public.units where external_identifier in ('u4', 'u5')");

    expect(await tree.count('app_hidden.unit_ancestors')).toBe(1 + 2 + 3 + 4 + 4);
    expect(await tree.differences()).toEqual([]);
  });

  it('has no circle: not of one, not of two, not of several rows in one statement', async () => {
    await tree.plant(4, (index) => (index === 0 ? null : index - 1));
    const refusal = { code: '23514', constraint: 'units_no_cycle' };

    await expect(tree.move('u0', 'u0')).rejects.toMatchObject(refusal);
    await expect(tree.move('u0', 'u3')).rejects.toMatchObject(refusal);
    const swap = `
      update app_public.units u set parent_id = p.id
      from (values ('u0', 'u2'), ('u2', 'u0')) as wanted (unit, parent), app_public.units p
      where u.external_identifier = wanted.unit and p.external_identifier = wanted.parent`;
    await expect(tree.owner.query(swap)).rejects.toMatchObject(refusal);
    await tree.move('u1', null);
    await tree.move('u0', 'u3');

    expect(await tree.differences()).toEqual([]);
  });

  describe('written by a role with rights over units alone', () => {
    beforeEach(() => tree.plant(4, (index) => (index === 0 ? null : index - 1)));

    beforeAll(async () => {
      await tree.owner.query(`
        create policy test_insert on app_public.units for insert to graph_app with check (true);
        create policy test_update on app_public.units for update to graph_app using (true) with check (true);
        create policy test_delete on app_public.units for delete to graph_app using (true);
        grant insert (organization_id, name, parent_id, external_identifier), update (parent_id), delete on app_public.units to graph_app`);
    });

    // Of the tests of this file these are the last that write as this role.
    afterAll(async () => {
      await tree.owner.query(`
        drop policy test_insert on app_public.units;
        drop policy test_update on app_public.units;
        drop policy test_delete on app_public.units`);
    });

    async function asApplication(...statements: string[]): Promise<void> {
      const client = await tree.underClaims(organization);
      try {
        await client.query('set local role graph_app');
        for (const statement of statements) await client.query(statement);
        await client.query('commit');
      } finally {
        await client.query('rollback');
        client.release();
      }
    }

    it('keeps its ancestors', async () => {
      await asApplication(
        `insert into app_public.units (organization_id, name, parent_id, external_identifier)
         select organization_id, 'New', id, 'new' from app_public.units where external_identifier = 'u3'`,
        `update app_public.units set parent_id = null where external_identifier = 'u2'`,
        `delete from app_public.units where external_identifier = 'new'`,
      );

      const { rows } = await tree.owner.query(
        'select cardinality(ancestor_ids) as depth from app_public.units order by external_identifier',
      );
      expect(rows.map(({ depth }) => depth)).toEqual([1, 2, 1, 2]);
      expect(await tree.differences()).toEqual([]);
    });

    it.each([
      `update app_public.units set ancestor_ids = array[id]`,
      'delete from app_hidden.unit_ancestors',
      `insert into app_hidden.unit_ancestors select organization_id, id, id from app_public.units`,
    ])('cannot write them: %s', async (statement) => {
      await expect(asApplication(statement)).rejects.toMatchObject({ code: '42501' });
    });

    it('cannot have the triggers work for it on a table of its own', async () => {
      const { rows } = await tree.owner.query(
        `select role, function from unnest(array['graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'graph_admin']) as role,
           unnest(array['units_insert_ancestors()', 'units_delete_ancestors()', 'units_move_subtrees()']) as function
         where has_function_privilege(role, ('app_hidden.' || function)::regprocedure, 'execute')`,
      );

      expect(rows).toEqual([]);
    });
  });

  it('keeps a unit that has children, and forgets every pair of one that goes', async () => {
    await tree.plant(3, (index) => (index === 0 ? null : index - 1));

    await expect(
      tree.owner.query("delete from app_public.units where external_identifier = 'u1'"),
    ).rejects.toMatchObject({ code: '23503', constraint: 'units_parent_id_fkey' });
    await tree.owner.query("delete from app_public.units where external_identifier = 'u2'");

    expect(await tree.count('app_hidden.unit_ancestors')).toBe(3);
    expect(await tree.differences()).toEqual([]);
  });

  it("hangs no unit below another organization's", async () => {
    await tree.plant(1, () => null);
    const { rows } = await tree.owner.query(
      "insert into app_hidden.organizations (name) values ('Other') returning id",
    );
    const foreign = `
      insert into app_public.units (organization_id, name, parent_id) select $1, 'Foreign', id from app_public.units
      where external_identifier = 'u0'`;

    await expect(tree.owner.query(foreign, [rows[0].id])).rejects.toMatchObject({
      code: '23503',
      constraint: 'units_parent_id_fkey',
    });
    await tree.owner.query(foreign, [organization]);

    expect(await tree.count('app_public.units')).toBe(2);
  });

  it('takes no ancestors from the statement that writes', async () => {
    await tree.plant(2, (index) => (index === 0 ? null : 0));
    const claimed = 'update app_public.units set ancestor_ids = array[id] where external_identifier = $1';

    await expect(tree.owner.query(claimed, ['u1'])).rejects.toMatchObject({
      code: '23514',
      constraint: 'units_ancestor_ids_path',
    });
    await tree.owner.query(
      `insert into app_public.units (organization_id, name, external_identifier, ancestor_ids) values ($1, 'New', 'new', $2)`,
      [organization, [organization]],
    );

    expect(await tree.differences()).toEqual([]);
  });
});

/** Whether the way up from any of these, each to the one above it, never ends. */
function hasCircle(above: ReadonlyMap<string, string | null>): boolean {
  return [...above.keys()].some((unit) => {
    let at: string | null = unit;
    for (let steps = 0; at !== null && steps <= above.size; steps += 1) at = above.get(at) ?? null;
    return at !== null;
  });
}
