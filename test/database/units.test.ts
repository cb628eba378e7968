import { Client, type PoolClient } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { treeDifferences } from '../support/treeDifferences.ts';
import { until } from '../support/until.ts';

describe('the tree of units', () => {
  let database: TestDatabase;
  let organization: string;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    const { rows } = await database.owner.query(
      "insert into app_hidden.organizations (name) values ('Acme') returning id",
    );
    organization = rows[0].id;
  });

  afterEach(async () => {
    await database.owner.query('delete from app_public.units; delete from app_hidden.organizations');
    // Autovacuum is off, and the next test would read past what this one has left.
    await database.owner.query('vacuum app_public.units, app_hidden.unit_ancestors');
    expect([await count('app_public.units'), await count('app_hidden.unit_ancestors')]).toEqual([0, 0]);
  });

  afterAll(() => database.drop());

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

  const differences = () => treeDifferences(database.owner);

  /** How many wait for the lock of a tree. */
  const waiting = async () =>
    (
      await database.owner.query(
        "select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'",
      )
    ).rowCount;

  /** A transaction of a request of this organization, as the owner. */
  async function underClaims(organizationId: string): Promise<PoolClient> {
    const client = await database.owner.connect();
    await client.query('begin');
    await client.query(`select set_config('graph.organization_id', $1, true)`, [organizationId]);
    return client;
  }

  async function organizationOf(name: string): Promise<string> {
    const { rows } = await database.owner.query(
      `with added as (insert into app_hidden.organizations (name) values ($1) on conflict do nothing returning id)
       select id from added union all select id from app_hidden.organizations where name = $1`,
      [name],
    );
    return rows[0].id;
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
      // What is wrong stays wrong, or a later move would have to mend it.
      if (round % 5 === 4) expect(await differences()).toEqual([]);
    }

    expect(moved).toBeGreaterThan(50);
    expect(await count('app_public.units')).toBe(60);
  });

  it('knows them when many move in one statement, and refuses just those that would end in a circle', async () => {
    const random = generator(7);
    let above = new Map<string, string | null>();
    for (let index = 0; index < 40; index += 1) above.set(`u${index}`, index < 4 ? null : `u${Math.floor(index / 3)}`);
    await plant(40, (index) => (index < 4 ? null : Math.floor(index / 3)));

    let moved = 0;
    for (let round = 0; round < 40; round += 1) {
      const wanted = Array.from(
        { length: 6 },
        () => [`u${random(40)}`, random(5) === 0 ? null : `u${random(40)}`] as const,
      );
      const rows = new Map(wanted);
      const next = new Map([...above, ...rows]);
      const moves = database.owner.query(
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
      expect(await differences()).toEqual([]);
    }

    expect(moved).toBeGreaterThan(5);
    expect(moved).toBeLessThan(40);
  });

  it('takes the pairs of a unit along when it is deleted, and those of no other', async () => {
    await plant(6, (index) => (index === 0 ? null : index - 1));
    await insert('u6', 2);
    await database.owner.query("delete from app_public.units where external_identifier in ('u4', 'u5')");

    expect(await count('app_hidden.unit_ancestors')).toBe(1 + 2 + 3 + 4 + 4);
    expect(await differences()).toEqual([]);
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
    await until(async () => (await waiting()) === 1);
    await mover.query('commit');
    mover.release();
    await adding;

    const { rows } = await database.owner.query(
      "select cardinality(ancestor_ids) as depth from app_public.units where external_identifier = 'u3'",
    );
    expect(rows).toEqual([{ depth: 4 }]);
    expect(await differences()).toEqual([]);
  });

  it.each([
    ['of another', 'Other', true],
    ['of its own', 'Acme', false],
  ])('moves a unit while a unit %s organization moves: %s', async (_whose, name, isFree) => {
    const other = await organizationOf('Other');
    await plant(2, () => null);
    await database.owner.query(
      `insert into app_public.units (organization_id, external_identifier, name)
       select $1, name, name from unnest(array['o0', 'o1']) as name`,
      [other],
    );
    const [mover, second] = [await underClaims(organization), await underClaims(await organizationOf(name))];
    await mover.query(moveStatement, ['u0', 'u1']);

    const moving = second.query(moveStatement, name === 'Other' ? ['o0', 'o1'] : ['u1', null]);
    if (isFree) await moving;
    else await until(async () => (await waiting()) === 1);

    await mover.query('commit');
    await moving;
    await second.query('commit');
    for (const client of [mover, second]) client.release();
    expect(await differences()).toEqual([]);
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
      await plant(3, () => null);
      const other = await organizationOf('Other');
      const [all, one] = [await database.owner.connect(), await underClaims(other)];
      const addToOther = () =>
        one.query(`insert into app_public.units (organization_id, name) values ($1, 'New')`, [other]);

      await all.query('begin');
      await all.query(statement);
      const adding = addToOther();
      await until(async () => (await waiting()) === 1);
      await all.query('commit');
      await adding;

      await all.query('begin');
      const writing = all.query(statement);
      await until(async () => (await waiting()) === 1);
      await one.query('commit');
      await writing;
      await all.query('commit');
      for (const client of [all, one]) client.release();
      expect(await differences()).toEqual([]);
    },
  );

  it('lets inserts of one organization go on beside each other', async () => {
    const [first, second] = [await underClaims(organization), await underClaims(organization)];
    const insertion = `insert into app_public.units (organization_id, name) values ($1, 'New')`;

    for (const client of [first, second]) await client.query(insertion, [organization]);
    for (const client of [first, second]) {
      await client.query('commit');
      client.release();
    }

    expect(await count('app_public.units')).toBe(2);
  });

  it('lets one of two moves win under the claims of one organization', async () => {
    await plant(2, () => null);
    for (let round = 0; round < 20; round += 1) {
      await database.owner.query('update app_public.units set parent_id = null');
      const clients = [await underClaims(organization), await underClaims(organization)];
      const moves = [
        ['u0', 'u1'],
        ['u1', 'u0'],
      ];

      const results = await Promise.allSettled(
        clients.map(async (client, index) => {
          try {
            await client.query(moveStatement, moves[index]);
            await client.query('commit');
          } finally {
            await client.query('rollback');
            client.release();
          }
        }),
      );

      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: '23514', constraint: 'units_no_cycle' },
      });
      expect(await differences()).toEqual([]);
    }
  });

  it('refuses to write under the claims of another organization, whose tree is not locked', async () => {
    const other = await organizationOf('Other');
    const client = await underClaims(other);
    const insertion = `insert into app_public.units (organization_id, name) values ($1, 'New')`;
    await client.query('savepoint before');

    await expect(client.query(insertion, [organization])).rejects.toMatchObject({ code: '42501' });

    await client.query('rollback to before');
    await client.query(insertion, [other]);
    await client.query('commit');
    client.release();
    expect(await count('app_public.units')).toBe(1);
  });

  it('never deadlocks when units are added, moved and deleted at once, by claims and without, rows locked after the tree', async () => {
    const other = await organizationOf('Other');
    const organizations = [organization, other];
    for (const of of organizations)
      await database.owner.query(
        `insert into app_public.units (organization_id, external_identifier, name)
         select $1, 'r' || n, 'Root' from generate_series(0, 5) as n`,
        [of],
      );
    const random = generator(99);
    const some = `(select id from app_public.units where organization_id = $1 order by md5(id::text || $2) limit 1)`;
    const writes = [
      `insert into app_public.units (organization_id, parent_id, name) select $1, id, 'New'
       from app_public.units where organization_id = $1 order by md5(id::text || $2) limit 3`,
      `update app_public.units set parent_id = ${some} where organization_id = $1 and id = (
         select id from app_public.units where organization_id = $1 order by md5($2 || id::text) limit 1)`,
      `delete from app_public.units where organization_id = $1 and ancestor_ids @> array[${some}] and external_identifier is null`,
      // As a function does that renames one unit and moves another.
      `with locked as materialized (select app_hidden.lock_units())
       update app_public.units set name = name || '.', parent_id = parent_id from locked where organization_id = $1 and id = ${some}`,
    ];
    const refusals = new Set<unknown>();
    const connections = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const client = new Client({ connectionString: database.ownerUrl });
        await client.connect();
        return client;
      }),
    );

    await Promise.all(
      connections.map(async (client, index) => {
        for (let round = 0; round < 60; round += 1) {
          const of = organizations[random(2)] ?? organization;
          const claim = index % 4 === 0 ? '' : of;
          await client.query(`begin`);
          await client.query(`select set_config('graph.organization_id', $1, true)`, [claim]);
          await client
            .query(writes[random(writes.length)] ?? '', [of, String(random(1_000_000))])
            .catch((error: { code?: string; constraint?: string }) => refusals.add(error.constraint ?? error.code));
          await client.query('commit');
        }
        await client.end();
      }),
    );

    // A unit below itself, or a parent that was deleted, or one whose children another statement has just added.
    for (const refusal of refusals) expect(['units_no_cycle', 'units_parent_id_fkey']).toContain(refusal);
    expect(await differences()).toEqual([]);
    expect(await count('app_public.units')).toBeGreaterThan(12);
  });

  describe('written by a role with rights over units alone', () => {
    beforeEach(() => plant(4, (index) => (index === 0 ? null : index - 1)));

    beforeAll(async () => {
      await database.owner.query(`
        create policy test_insert on app_public.units for insert to graph_app with check (true);
        create policy test_update on app_public.units for update to graph_app using (true) with check (true);
        create policy test_delete on app_public.units for delete to graph_app using (true);
        grant insert (organization_id, name, parent_id, external_identifier), update (parent_id), delete on app_public.units to graph_app`);
    });

    // Of the tests of this file these are the last that write as this role.
    afterAll(async () => {
      await database.owner.query(`
        drop policy test_insert on app_public.units;
        drop policy test_update on app_public.units;
        drop policy test_delete on app_public.units`);
    });

    async function asApplication(...statements: string[]): Promise<void> {
      const client = await underClaims(organization);
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

      const { rows } = await database.owner.query(
        'select cardinality(ancestor_ids) as depth from app_public.units order by external_identifier',
      );
      expect(rows.map(({ depth }) => depth)).toEqual([1, 2, 1, 2]);
      expect(await differences()).toEqual([]);
    });

    it.each([
      `update app_public.units set ancestor_ids = array[id]`,
      'delete from app_hidden.unit_ancestors',
      `insert into app_hidden.unit_ancestors select organization_id, id, id from app_public.units`,
    ])('cannot write them: %s', async (statement) => {
      await expect(asApplication(statement)).rejects.toMatchObject({ code: '42501' });
    });

    it('cannot have the triggers work for it on a table of its own', async () => {
      const { rows } = await database.owner.query(
        `select role, function from unnest(array['graph_app', 'graph_user', 'graph_basic', 'graph_oauth', 'graph_admin']) as role,
           unnest(array['units_insert_ancestors()', 'units_delete_ancestors()', 'units_move_subtrees()']) as function
         where has_function_privilege(role, ('app_hidden.' || function)::regprocedure, 'execute')`,
      );

      expect(rows).toEqual([]);
    });
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
      await plant(2, () => null);
      const client = await database.owner.connect();
      await client.query('begin isolation level repeatable read');

      await expect(client.query(statement)).rejects.toMatchObject({ code: '0A000' });

      await client.query('rollback');
      client.release();
      await database.owner.query(statement);
      expect(await differences()).toEqual([]);
    },
  );

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

  it('takes no ancestors from the statement that writes', async () => {
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

/** Whether the way up from any of these, each to the one above it, never ends. */
function hasCircle(above: ReadonlyMap<string, string | null>): boolean {
  return [...above.keys()].some((unit) => {
    let at: string | null = unit;
    for (let steps = 0; at !== null && steps <= above.size; steps += 1) at = above.get(at) ?? null;
    return at !== null;
  });
}
