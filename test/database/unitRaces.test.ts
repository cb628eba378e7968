// Races: units stay a tree while many connections write them.
import { Client } from 'pg';
import { createUnitTree, generator, moveStatement, type UnitTree } from './unitTree.ts';

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

  it('stays a tree when many move at once, each from a connection of its own', async () => {
    await tree.plant(12, () => null);
    const random = generator(42);
    const clients = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const client = new Client({ connectionString: tree.ownerUrl });
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
    expect(await tree.differences()).toEqual([]);
  });

  it('lets one of two moves win that would close a circle together', async () => {
    for (let round = 0; round < 20; round += 1) {
      await tree.plant(2, () => null);

      const results = await Promise.allSettled([tree.move('u0', 'u1'), tree.move('u1', 'u0')]);

      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await tree.differences()).toEqual([]);
      await tree.owner.query('delete from app_public.units where parent_id is not null');
      await tree.owner.query('delete from app_public.units');
    }
  });

  it('lets one of two moves win under the claims of one organization', async () => {
    await tree.plant(2, () => null);
    for (let round = 0; round < 20; round += 1) {
      await tree.owner.query('update app_public.units set parent_id = null');
      const clients = [await tree.underClaims(organization), await tree.underClaims(organization)];
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
      expect(await tree.differences()).toEqual([]);
    }
  });

  it('never deadlocks when units are added, moved and deleted at once, by claims and without, rows locked after the tree', async () => {
    const other = await tree.organizationOf('Other');
    const organizations = [organization, other];
    for (const of of organizations)
      await tree.owner.query(
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
        const client = new Client({ connectionString: tree.ownerUrl });
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
    expect(await tree.differences()).toEqual([]);
    expect(await tree.count('app_public.units')).toBeGreaterThan(12);
  });
});
