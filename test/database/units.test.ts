import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

describe('the tree of units', () => {
  let database: TestDatabase;
  let organization: string;

  beforeEach(async () => {
    database = await createTestDatabase();
    const { rows } = await database.owner.query(
      "insert into app_hidden.organizations (name) values ('Acme') returning id",
    );
    organization = rows[0].id;
  });

  afterEach(async () => {
    await database.drop();
  });

  /** Named `u0`, `u1`, …; each below the one whose index `parentOf` gives. */
  async function plant(count: number, parentOf: (index: number) => number | null): Promise<void> {
    for (let index = 0; index < count; index += 1) await insert(`u${index}`, parentOf(index));
  }

  const insert = (name: string, parent: number | null) =>
    database.owner.query(
      `insert into app_public.units (organization_id, external_identifier, name, parent_id)
       values ($1, $2, $2, (select id from app_public.units where external_identifier = $3))`,
      [organization, name, parent === null ? null : `u${parent}`],
    );

  const moveStatement = `
    update app_public.units
    set parent_id = (select id from app_public.units where external_identifier = $2)
    where external_identifier = $1`;
  const move = (name: string, parent: string | null) => database.owner.query(moveStatement, [name, parent]);

  /** Units whose ancestors, or pairs that, are not what following parent_id says. */
  async function differences(): Promise<unknown[]> {
    const { rows } = await database.owner.query(`
      with recursive followed as (
        select organization_id, id, array[id] as ancestor_ids from app_public.units where parent_id is null
        union all
        select u.organization_id, u.id, f.ancestor_ids || u.id
        from app_public.units u
        join followed f on f.organization_id = u.organization_id and f.id = u.parent_id
      ),
      pairs as (select organization_id, unnest(ancestor_ids) as ancestor_id, id as unit_id from followed)
      select 'ancestor_ids' as what, u.id from app_public.units u
      left join followed f using (organization_id, id) where u.ancestor_ids is distinct from f.ancestor_ids
      union all
      (select 'missing pair', unit_id from (table pairs except table app_hidden.unit_ancestors) as missing)
      union all
      (select 'extra pair', unit_id from (table app_hidden.unit_ancestors except table pairs) as extra)`);
    return rows;
  }

  const count = async (table: string) =>
    Number((await database.owner.query(`select count(*) from ${table}`)).rows[0].count);

  it('knows the ancestors of every unit, whatever was moved where', async () => {
    const random = generator(20_261_121);
    await plant(60, (index) => (index === 0 || random(5) === 0 ? null : random(index)));

    let moved = 0;
    for (let round = 0; round < 150; round += 1) {
      const [unit, parent] = [`u${random(60)}`, random(6) === 0 ? null : `u${random(60)}`];
      await move(unit, parent).then(
        () => (moved += 1),
        (error: unknown) => expect(error).toMatchObject({ code: '23514', constraint: 'units_no_cycle' }),
      );
      expect(await differences()).toEqual([]);
    }

    expect(moved).toBeGreaterThan(50);
    expect(await count('app_public.units')).toBe(60);
  });

  it('knows them when many move in one statement, roots and leaves, up and down', async () => {
    const random = generator(7);
    await plant(40, (index) => (index < 4 ? null : Math.floor(index / 3)));

    let moved = 0;
    for (let round = 0; round < 40; round += 1) {
      const wanted = Array.from({ length: 6 }, () => [`u${random(40)}`, random(5) === 0 ? null : `u${random(40)}`]);
      const rows = [...new Map(wanted.map(([unit, parent]) => [unit, parent]))];
      await database.owner
        .query(
          `update app_public.units u set parent_id = p.id
           from unnest($1::text[], $2::text[]) as wanted (unit, parent)
           left join app_public.units p on p.external_identifier = wanted.parent
           where u.external_identifier = wanted.unit`,
          [rows.map(([unit]) => unit), rows.map(([, parent]) => parent)],
        )
        .then(
          () => (moved += 1),
          (error: unknown) => expect(error).toMatchObject({ code: '23514', constraint: 'units_no_cycle' }),
        );
      expect(await differences()).toEqual([]);
    }

    expect(moved).toBeGreaterThan(5);
  });

  it('has no circle: not of one, not of two, not of several rows in one statement', async () => {
    await plant(4, (index) => (index === 0 ? null : index - 1));
    const refusal = { code: '23514', constraint: 'units_no_cycle' };

    await expect(move('u0', 'u0')).rejects.toMatchObject(refusal);
    await expect(move('u0', 'u3')).rejects.toMatchObject(refusal);
    const swap = `
      update app_public.units u set parent_id = p.id
      from (values ('u0', 'u2'), ('u2', 'u0')) as wanted (unit, parent), app_public.units p
      where u.external_identifier = wanted.unit and p.external_identifier = wanted.parent`;
    await expect(database.owner.query(swap)).rejects.toMatchObject(refusal);
    await move('u1', null);
    await move('u0', 'u3');

    expect(await differences()).toEqual([]);
  });

  it('stays a tree when many move at once, each from a connection of its own', async () => {
    await plant(12, () => null);
    const random = generator(42);
    const clients = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const client = new Client({ connectionString: database.ownerUrl });
        await client.connect();
        return client;
      }),
    );

    const outcomes = { moved: 0, refused: 0 };
    await Promise.all(
      clients.map(async (client) => {
        for (let round = 0; round < 40; round += 1) {
          await client.query(moveStatement, [`u${random(12)}`, `u${random(12)}`]).then(
            () => (outcomes.moved += 1),
            (error: unknown) => {
              expect(error).toMatchObject({ code: '23514', constraint: 'units_no_cycle' });
              outcomes.refused += 1;
            },
          );
        }
      }),
    );
    await Promise.all(clients.map((client) => client.end()));

    expect(outcomes.moved + outcomes.refused).toBe(320);
    expect(outcomes.moved).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
    expect(await differences()).toEqual([]);
  });

  it('lets one of two moves win that would close a circle together', async () => {
    for (let round = 0; round < 20; round += 1) {
      await plant(2, () => null);

      const results = await Promise.allSettled([move('u0', 'u1'), move('u1', 'u0')]);

      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await differences()).toEqual([]);
      await database.owner.query('delete from app_public.units where parent_id is not null');
      await database.owner.query('delete from app_public.units');
    }
  });

  it('places a unit that is added below one that another transaction moves', async () => {
    await plant(3, (index) => (index === 2 ? 1 : null));
    const mover = await database.owner.connect();
    await mover.query('begin');
    await mover.query(moveStatement, ['u1', 'u0']);

    const adding = insert('u3', 2);
    await until(async () => {
      const waiting = await database.owner.query(
        "select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'",
      );
      return waiting.rowCount === 1;
    });
    await mover.query('commit');
    mover.release();
    await adding;

    const { rows } = await database.owner.query(
      "select cardinality(ancestor_ids) as depth from app_public.units where external_identifier = 'u3'",
    );
    expect(rows).toEqual([{ depth: 4 }]);
    expect(await differences()).toEqual([]);
  });

  it('moves in read committed transactions only, which see what was committed before their turn', async () => {
    await plant(2, () => null);
    const client = await database.owner.connect();
    await client.query('begin isolation level repeatable read');

    await expect(client.query(moveStatement, ['u0', 'u1'])).rejects.toMatchObject({ code: '0A000' });

    await client.query('rollback');
    client.release();
    await move('u0', 'u1');
    expect(await differences()).toEqual([]);
  });

  it('keeps a unit that has children, and forgets every pair of one that goes', async () => {
    await plant(3, (index) => (index === 0 ? null : index - 1));

    await expect(
      database.owner.query("delete from app_public.units where external_identifier = 'u1'"),
    ).rejects.toMatchObject({ code: '23503', constraint: 'units_parent_id_fkey' });
    await database.owner.query("delete from app_public.units where external_identifier = 'u2'");

    expect(await count('app_hidden.unit_ancestors')).toBe(3);
    expect(await differences()).toEqual([]);
  });

  it("hangs no unit below another organization's", async () => {
    await plant(1, () => null);
    const { rows } = await database.owner.query(
      "insert into app_hidden.organizations (name) values ('Other') returning id",
    );
    const foreign = `
      insert into app_public.units (organization_id, name, parent_id) select $1, 'Foreign', id from app_public.units
      where external_identifier = 'u0'`;

    await expect(database.owner.query(foreign, [rows[0].id])).rejects.toMatchObject({
      code: '23503',
      constraint: 'units_parent_id_fkey',
    });
    await database.owner.query(foreign, [organization]);

    expect(await count('app_public.units')).toBe(2);
  });

  it('takes no ancestors from whoever writes', async () => {
    await plant(2, (index) => (index === 0 ? null : 0));
    const claimed = 'update app_public.units set ancestor_ids = array[id] where external_identifier = $1';

    await expect(database.owner.query(claimed, ['u1'])).rejects.toMatchObject({
      code: '23514',
      constraint: 'units_ancestor_ids_path',
    });
    await database.owner.query(
      `insert into app_public.units (organization_id, name, external_identifier, ancestor_ids) values ($1, 'New', 'new', $2)`,
      [organization, [organization]],
    );

    expect(await differences()).toEqual([]);
  });
});

/** The same numbers in every run, from 0 to below the bound (Park and Miller). */
function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % bound;
  };
}
