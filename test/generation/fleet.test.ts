import { lintMigration } from '../../src/commands/development/lintMigration.ts';
import { findingsHere } from '../audit/support.ts';
import { follow, inShort, present } from '../graphql/changes/feed.ts';
import type { OwnGraphTest, Tenant } from '../graphql/support.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  globalId,
  read,
  startGraphTest,
} from '../graphql/support.ts';
import { fleet, renames } from './fleet.ts';
import type { FleetTable, FleetWorld } from './fleetRows.ts';
import {
  addRows,
  argumentTypes,
  fleetTables,
  givenIn,
  keyText,
  mutate,
  renamed,
  storedRows,
  tryToMutate,
} from './fleetRows.ts';
import { walk } from './walk.ts';

// The fleet of another team, in the graph, the feed and the history. Each expected value comes from SQL by the owner.

let graph: OwnGraphTest;
let tenant: Tenant;
let stranger: Tenant;
let world: FleetWorld;
let start: string;
beforeAll(async () => {
  graph = await startGraphTest({}, async ({ owner }) => {
    // As the developer's database does, on each save.
    for (let times = 0; times < 2; times++) await owner.query(`begin; ${fleet}; commit`);
  });
  [tenant, stranger] = [await createTenant(graph), await createTenant(graph)];
  const [unit, user] = [await createUnit(tenant, { name: 'Depot' }), await createUser(tenant)];
  world = { ...tenant, url: graph.url, ids: { Unit: [unit.id], User: [user.id] }, keys: {} };
  start = await present(graph, tenant);
});
afterAll(() => graph.stop());

const tableOf = (name: string) => fleetTables.find(({ table }) => table === name) as FleetTable;
const idOf = (type: string, key: string) => world.ids[type]?.[world.keys[type]?.indexOf(key) ?? -1];
const sql = async (query: string, ...values: unknown[]) =>
  (await graph.database.owner.query(query, [tenant.organizationId, ...values])).rows;

describe('the migration', () => {
  test('is safe to run, and has no finding', async () => {
    expect(await lintMigration(fleet)).toEqual([]);
    expect((await graph.database.owner.query(findingsHere)).rows).toEqual([]);
  });
});

describe.each(fleetTables.map((table) => [table.table, table] as const))('%s', (name, table) => {
  const { type, key, selection } = table;

  test('a mutation writes what it is given, by variables and by literals', () => addRows(world, table));

  test('each row is found by its id, with what is stored', async () => {
    const stored = await storedRows(world, table);
    expect(stored).toHaveLength(world.ids[type]?.length ?? 0);
    const query = `query ($ids: [ID!]) { app { ${name}(ids: $ids) { totalCount nodes { id ${selection} } } } }`;

    for (const { key: text, value: fields } of stored) {
      const id = idOf(type, text);
      const node = `query ($id: ID!) { node(id: $id) { __typename id ... on ${type} { ${selection} } } }`;
      const value = { id, ...fields };
      expect(await read(graph, tenant.app, node, { id })).toEqual({ node: { __typename: type, ...value } });
      expect(await read(graph, tenant.app, query, { ids: [id] })).toEqual({
        app: { [name]: { totalCount: 1, nodes: [value] } },
      });
    }
  });

  test('every order, both ways, in pages of one', async () => {
    const { __type } = await read<{ __type: { enumValues: { name: string }[] } }>(
      graph,
      tenant.app,
      `{ __type(name: "${type}OrderBy") { enumValues { name } } }`,
    );
    const orders: Record<string, string> = { ...table.orders, PRIMARY_KEY: `(${key.join(', ')})` };
    const found = __type.enumValues.map(({ name: order }) => order);
    expect(new Set(found.map((order) => order.replace(/_(ASC|DESC)$/, '')))).toEqual(new Set(Object.keys(orders)));

    for (const order of found) {
      const [, value = '', direction = ''] = /^(.*)_(ASC|DESC)$/.exec(order) ?? [];
      const nulls = direction === 'ASC' ? 'first' : 'last';
      // Rows of one value may follow each other in either order.
      const ranks = await sql(
        `select ${keyText(key)} as key, dense_rank() over (order by ${orders[value]} ${direction} nulls ${nulls})::int as rank
         from app_public.${name} where organization_id = $1 order by rank`,
      );
      const rankOf = Object.fromEntries(ranks.map(({ key: text, rank }) => [idOf(type, text), rank]));
      for (const isBackwards of [false, true]) {
        const nodes = await walk(graph, tenant.app, { field: name, order, isBackwards, rows: 1 });
        expect([order, nodes.map(({ id }) => rankOf[String(id)])]).toEqual([order, ranks.map(({ rank }) => rank)]);
        expect(new Set(nodes.map(({ id }) => id)).size).toBe(ranks.length);
      }
    }
  });

  test.each(table.filters.map(([given, condition]) => [JSON.stringify(given), given, condition] as const))(
    'the filter %s',
    async (_, given, condition) => {
      const expected = await sql(
        `select ${keyText(key)} as key from app_public.${name} where organization_id = $1 and (${condition})`,
      );
      const types = await argumentTypes(world, 'App', name);
      const query = `query (${Object.keys(given)
        .map((argument) => `$${argument}: ${types[argument]}`)
        .join(', ')}) { app {
        ${name}(${Object.keys(given)
          .map((argument) => `${argument}: $${argument}`)
          .join(', ')}) { totalCount nodes { id } } } }`;

      const { app } = await read<{ app: Record<string, { totalCount: number; nodes: { id: string }[] }> }>(
        graph,
        tenant.app,
        query,
        given,
      );

      expect(expected.length).toBeGreaterThan(0);
      expect(app[name]?.nodes.map(({ id }) => id).sort()).toEqual(
        expected.map((found) => idOf(type, found.key)).sort(),
      );
      expect(app[name]?.totalCount).toBe(expected.length);
    },
  );

  test('another organization, a person and a basic token see no row', async () => {
    const ada = await createViewer(tenant);
    const ids = world.ids[type] ?? [];
    const query = `query ($id: ID!, $ids: [ID!]) { node(id: $id) { id } app { ${name} { totalCount } found: ${name}(ids: $ids) { totalCount } } }`;
    expect(await sql(`select count(*)::int as count from app_public.${name} where organization_id = $1`)).toEqual([
      { count: ids.length },
    ]);
    expect(ids.length).toBeGreaterThan(0);

    expect(await read(graph, stranger.app, query, { id: ids[0], ids })).toEqual({
      node: null,
      app: { [name]: { totalCount: 0 }, found: { totalCount: 0 } },
    });
    for (const token of [ada.token, tenant.basic])
      expect(await read(graph, token, 'query ($id: ID!) { node(id: $id) { id } }', { id: ids[0] })).toEqual({
        node: null,
      });
  });
});

describe('a wrong value is refused, and its argument is named', () => {
  const range = (lower: unknown, upper: unknown) => ({
    start: { value: lower, inclusive: true },
    end: upper === null ? null : { value: upper, inclusive: false },
  });
  const spot = (bay: object) => ({ spots: [{ number: 9, bay }] });
  const car = (given: object) => ({ vehicle: { plate: 'B-NW 1', drive: 'petrol', seats: 1, ...given } });

  type Refusal = [table: string, given: Record<string, unknown>, argument: string | null, message?: string];
  // No argument is named where values of several were read by PostgreSQL.
  const refusals: Refusal[] = [
    ['tariffs', { hourly: '-1' }, 'hourly', 'A price is not below 0.'],
    ['tariffs', { hourly: 'x' }, null],
    ['tariffs', { hourly: '1000000' }, null],
    ['tariffs', { grace: { hours: 3e9 } }, 'grace'],
    ['tariffs', { freeHours: '{[6,0)}' }, 'freeHours'],
    ['tariffs', { freeHours: '{[3000000000,4000000000)}' }, null],
    ['garages', { name: '' }, 'name', 'A name has 1 to 200 characters.'],
    ['garages', { name: 'x', place: 'a..b' }, null],
    ['garages', { name: 'x', place: 'a.b.c.d.e' }, 'place', 'A place has 1 to 4 levels.'],
    ['garages', { name: 'x', gateway: '300.1.1.1' }, null],
    ['garages', { name: 'x', open: '{[2026-01-02,2026-01-01)}' }, 'open'],
    [
      'garages',
      { name: 'x', unitId: globalId('Unit', '0193b5d0-0000-7000-8000-000000000000') },
      'unitId',
      'There is no such unit.',
    ],
    ['spots', spot({ length: 1, width: 2 }), 'spots', 'A bay is at least as long as it is wide.'],
    ['spots', spot({ length: 0, width: 0 }), 'spots', 'A length is above 0 m.'],
    ['vehicles', car({ plate: 'b-gq 1' }), 'vehicle', 'A number plate has a form such as B-GQ 2026.'],
    ['vehicles', car({ seats: 0 }), 'vehicle', 'There are 1 to 120 seats.'],
    ['vehicles', car({ seats: 40000 }), 'vehicle'],
    ['vehicles', car({ seats: 1.5 }), 'vehicle'],
    ['vehicles', car({ mass: 60001 }), 'vehicle', 'A mass is from 1 to 60,000 kg.'],
    ['vehicles', car({ mass: 3e9 }), 'vehicle'],
    ['vehicles', car({ length: 0 }), 'vehicle', 'A length is above 0 m.'],
    ['vehicles', car({ worth: 'Infinity' }), 'vehicle'],
    ['vehicles', car({ consent: false }), 'vehicle', 'A consent is given or absent.'],
    ['vehicles', car({ equipment: [] }), 'vehicle', 'The equipment is an object.'],
    ['vehicles', car({ tags: ['good', 'Bad'] }), 'vehicle', 'A tag has 2 to 20 small letters.'],
    ['vehicles', car({ tags: Array.from({ length: 11 }, () => 'tag') }), 'vehicle', 'A vehicle has at most ten tags.'],
    ['vehicles', car({ parts: [{ name: 'x', mass: 0 }] }), 'vehicle', 'A mass is from 1 to 60,000 kg.'],
    ['vehicles', car({ keeper: '' }), 'vehicle', 'A keeper has 1 to 200 characters.'],
    ['vehicles', car({ tracker: 'x' }), 'vehicle'],
    ['vehicles', car({ firmware: '%' }), 'vehicle'],
    ['permits', { number: 1 }, 'number', 'A permit has a number of four digits.'],
    ['permits', { number: 5000, userId: 'nonsense' }, 'userId'],
    ['positions', { moment: '2026-05-05T00:00:00Z', speed: 401 }, 'speed', 'A speed is from 0 to 400 km/h.'],
    ['positions', { moment: '2026-05-05T00:00:00Z', speed: 1e39 }, 'speed'],
    ['positions', { moment: '2026-02-30T00:00:00Z' }, 'moment'],
    ['positions', { moment: '2026-05-05T00:00:00Z', wal: 'x' }, null],
    ['positions', { moment: '2026-05-05T00:00:00Z', raw: '%' }, 'raw'],
    ['positions', { plate: 'X-Y 1' }, 'plate', 'There is no such vehicle.'],
    ['reservations', { during: range('2026-03-05T00:00:00Z', '2026-03-04T00:00:00Z') }, 'during'],
    ['reservations', { during: range('2026-03-05T00:00:00Z', null) }, 'during', 'A reservation begins and ends.'],
    ['reservations', { spotId: 'nonsense', during: range('2026-03-05T00:00:00Z', '2026-03-06T00:00:00Z') }, 'spotId'],
    ['chargings', { plate: 'B-GQ 1' }, 'plate', 'The number plate of an electric vehicle ends in E.'],
    ['chargings', { day: '2026-02-30' }, 'day'],
    ['chargings', { day: '2026-05-05', odometer: -1 }, 'odometer', 'A length is above 0 m.'],
  ];
  // Jest takes a parameter that a row lacks for its callback.
  test.each(refusals)('%s: %j', async (...[name, given, argument, message]: Refusal) => {
    const table = tableOf(name);
    const before = await storedRows(world, table);

    const { body } = await tryToMutate(world, table.mutation, { ...givenIn(world, table)[0], ...given });

    expect(body.errors?.map(({ extensions }) => extensions)).toEqual([
      expect.objectContaining({ code: 'BAD_USER_INPUT', ...(argument !== null && { argument }) }),
    ]);
    if (argument === null) expect(body.errors?.[0]?.extensions).not.toHaveProperty('argument');
    if (message) expect(body.errors?.[0]?.message).toBe(message);
    expect(await storedRows(world, table)).toEqual(before);
  });

  test.each<[table: string, given: Record<string, unknown>, argument: string, message: string]>([
    ['garages', { name: 'ALPHA' }, 'name', 'Another garage has this name.'],
    [
      'spots',
      { spots: [{ number: 1, bay: { length: 1, width: 1 } }] },
      'spots',
      'The garage has a spot of this number.',
    ],
    ['vehicles', car({ plate: 'B-GQ 1' }), 'vehicle', 'Another vehicle has this plate.'],
    ['permits', {}, 'number', 'Another permit has this number.'],
    ['positions', {}, 'moment', 'The position of this moment is known.'],
    ['reservations', { during: range('2026-03-01T09:30:00Z', '2026-03-01T09:31:00Z') }, 'during', 'The spot is taken.'],
    ['chargings', {}, 'day', 'The vehicle has charged on this day.'],
  ])('%s: %j is a conflict', async (name, given, argument, message) => {
    const table = tableOf(name);

    const { body } = await tryToMutate(world, table.mutation, { ...givenIn(world, table)[0], ...given });

    expect(body.errors).toMatchObject([{ message, extensions: { code: 'CONFLICT', argument } }]);
  });
});

const changeVehicle = (mutation: string, given: object, of = tableOf('vehicles')) =>
  mutate(world, { ...of, mutation }, { id: world.ids.Vehicle?.[0], ...given });

/** What the feed says since then, and who it is about. */
const changesAfter = async (cursor: string) =>
  (await follow(graph, tenant, cursor)).map(
    ({ fields, ...change }) => `${inShort({ ...change, fields: [...fields].sort() })} ${change.id}`,
  );

describe('changes', () => {
  test('the feed has each row that was added, by its id', async () => {
    const created = fleetTables.flatMap(({ type }) => (world.ids[type] ?? []).map((id) => `CREATE ${type} ${id}`));

    expect((await changesAfter(start)).filter((change) => !/ User /.test(change)).sort()).toEqual(created.sort());
    expect(created).toHaveLength(24);
  });

  test('updates by an id of each kind write what SQL finds', async () => {
    const [vehicle, , third] = world.ids.Vehicle ?? [];
    const [position] = world.ids.Position ?? [];
    const before = await present(graph, tenant);
    const changes = {
      seats: 7,
      worth: null,
      tags: ['blue'],
      parts: [{ name: 'Seat', mass: 9 }],
      equipment: { radio: null },
    };
    const vehicles = tableOf('vehicles');
    const positions = tableOf('positions');

    const answers = [
      await changeVehicle('vehicleUpdate', { changes }),
      await changeVehicle('vehicleTag', { tags: ['blue', 'pool'] }),
      await changeVehicle('vehiclePin', { pin: '4711' }),
      await changeVehicle('vehicleUpdate', { changes: { seenAt: '2026-03-01T00:00:00Z' } }),
    ];
    const [stored] = (await storedRows(world, vehicles)).filter(({ key }) => key === 'B-GQ 1');
    expect(answers.at(-1)).toEqual({ id: vehicle, ...stored?.value });
    expect(stored?.value).toMatchObject({
      seats: 7,
      worth: null,
      tags: ['blue', 'pool'],
      lastSeenAt: '2026-03-01T00:00:00.000000+00:00',
    });
    await mutate(world, tableOf('tariffs'), { drive: 'petrol', hourly: '3', grace: { minutes: 10 }, freeHours: '{}' });
    // To the partition of another year.
    const moved = (await mutate(
      world,
      { ...positions, mutation: 'positionCorrect' },
      { id: position, moment: '2027-05-05T00:00:00Z', speed: 1 },
    )) as {
      id: string;
    };
    expect((await storedRows(world, positions)).map(({ value }) => value)).toContainEqual(
      Object.fromEntries(Object.entries(moved).filter(([name]) => name !== 'id')),
    );
    const [reservation] = world.ids.Reservation ?? [];
    await mutate(world, { ...tableOf('reservations'), mutation: 'reservationCancel' }, { id: reservation });
    await mutate(world, { ...vehicles, mutation: 'vehicleRetire' }, { id: third });

    expect(await sql(`select plate from app_public.vehicles where organization_id = $1 order by plate`)).toEqual([
      { plate: 'B-GQ 1' },
      { plate: 'HH-A 22E' },
    ]);
    const changed = await changesAfter(before);
    const expected = [
      `UPDATE Vehicle equipment parts seats tags worth ${vehicle}`,
      `UPDATE Vehicle tags ${vehicle}`,
      // The PIN; the column that is ignored makes no change.
      expect.stringMatching(`UPDATE Vehicle .*${vehicle}$`),
      `UPDATE Tariff freeHours hourly ${world.ids.Tariff?.[0]}`,
      // docs/following-changes.md: a row that moves to another partition is one update, with its present key.
      expect.stringMatching(`^UPDATE Position .*${moved.id}$`),
      `DELETE Reservation ${reservation}`,
      ...[
        `DELETE Vehicle ${third}`,
        `DELETE Permit ${world.ids.Permit?.[1]}`,
        `DELETE Charging ${world.ids.Charging?.[2]}`,
      ],
    ];
    expect(changed).toEqual(expect.arrayContaining(expected));
    expect(changed).toHaveLength(expected.length);
  });

  test('what an application of another organization names is not found, and stays', async () => {
    const [vehicle] = world.ids.Vehicle ?? [];
    const before = await storedRows(world, tableOf('vehicles'));

    const { body } = await tryToMutate(
      world,
      'vehicleUpdate',
      { id: vehicle, changes: { seats: 1 } },
      '__typename',
      stranger.app,
    );

    expect(body.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    expect(await storedRows(world, tableOf('vehicles'))).toEqual(before);
  });

  test('a materialized view shows what it had when it was refreshed', async () => {
    const query = 'query ($id: ID!) { node(id: $id) { ... on Vehicle { energy } } }';
    const energy = async () =>
      (await read<{ node: { energy: number | null } }>(graph, tenant.app, query, { id: world.ids.Vehicle?.[1] })).node
        .energy;
    expect(await energy()).toBeNull();

    await graph.database.owner.query('refresh materialized view app_hidden.vehicle_energies');

    const [stored] = await sql(
      `select sum(energy) as sum from app_public.chargings where organization_id = $1 and plate = 'HH-A 22E'`,
    );
    expect(await energy()).toBe(stored?.sum);
  });

  test.each(fleetTables.map((table) => [table.table, table] as const))(
    'the history has each row of %s, by its key',
    async (name, { key }) => {
      const entries = await sql(
        `select row_id::text as row, after from audit.changes where organization_id = $1 and relation = $2 and command = 'insert' order by id`,
        `app_public.${name}`,
      );
      const stored = await sql(
        `select ${keyText(key)} as key, to_jsonb(t) as value from app_public.${name} t where organization_id = $1`,
      );

      expect(entries.length).toBeGreaterThan(1);
      // A row that was moved has another key now.
      const kept = stored.filter(({ value }) => value.moment !== '2027-05-05T00:00:00+00:00');
      const keys = entries.map(({ row }) => (key.length > 1 ? JSON.parse(row) : row));
      expect(keys).toEqual(expect.arrayContaining(kept.map((row) => (key.length > 1 ? JSON.parse(row.key) : row.key))));
      for (const column of key) expect(entries.every(({ after }) => after[column] !== undefined)).toBe(true);
    },
  );

  test.each(fleetTables.map((table) => [table.table, table] as const))(
    'the audit finds a row of %s by its key',
    async (name, { key }) => {
      const rows =
        await sql(`select w.command, w.name from (select ${keyText(key)} as key from app_public.${name} where organization_id = $1 limit 1) t,
      audit.who_can('app_public.${name}', t.key) w
        where w.name = 'Acme Backend' order by w.command`);

      expect(rows).toEqual(['delete', 'select', 'update'].map((command) => ({ command, name: 'Acme Backend' })));
    },
  );
});

const digest = (pin: string) => `encode(sha256('${pin}'), 'hex')`;
const secretsIn = (relation: string) =>
  sql(
    `select from ${relation} c where c.organization_id = $1 and (strpos(c::text, ${digest('4711')}) > 0 or strpos(c::text, ${digest('0815')}) > 0)`,
  );

describe('after the later migration', () => {
  let before: string;
  let known: { at: string; rows: unknown[] };
  const principal = () => `app:client-${tenant.applicationId}`;
  const counts = (at: string) =>
    sql(
      `select relation, count(*)::int as count from audit.visible_at($2, $3) where $1::uuid is not null and relation::text ~ 'vehicles|permits|chargings'
       group by relation order by relation::text`,
      principal(),
      at,
    );
  beforeAll(async () => {
    const [{ at }] = (await graph.database.owner.query('select clock_timestamp()::text as at')).rows;
    known = { at, rows: await counts(at) };
    before = await present(graph, tenant);
    for (let times = 0; times < 2; times++) await graph.database.owner.query(`begin; ${renames}; commit`);
    await graph.reload();
    // Another schema.
    world = { ...world };
  });

  test('there is no finding', async () => {
    expect((await graph.database.owner.query(findingsHere)).rows).toEqual([]);
  });

  test('each row is found by the id that it had, under the new names', async () => {
    for (const table of fleetTables.map(renamed)) {
      const { app } = await read<{ app: Record<string, { nodes: { id: string }[] }> }>(
        graph,
        tenant.app,
        `{ app { ${table.table} { nodes { id ${table.selection} } } } }`,
      );
      const nodes = app[table.table]?.nodes ?? [];
      expect(nodes.map(({ id, ...value }) => value)).toEqual(
        expect.arrayContaining((await storedRows(world, table)).map(({ value }) => value)),
      );
      if (table.type !== 'Position')
        expect(world.ids[table.type]).toEqual(expect.arrayContaining(nodes.map(({ id }) => id)));
    }
  });

  test('writing goes on, the ignored column makes no change, and the feed has the ids', async () => {
    const [vehicle, second] = world.ids.Vehicle ?? [];
    const seen = await changeVehicle(
      'vehicleUpdate',
      { changes: { seenAt: '2026-03-02T00:00:00Z' } },
      renamed(tableOf('vehicles')),
    );
    await changeVehicle('vehiclePin', { pin: '0815' }, renamed(tableOf('vehicles')));
    const permit = (await mutate(world, renamed(tableOf('permits')), {
      number: 3000,
      vehicleId: second,
      zone: 'B',
    })) as { id: string };
    const charging = (await mutate(world, renamed(tableOf('chargings')), {
      ...{ plate: 'HH-A 22E', day: '2026-04-01', energy: 1, odometer: null, paid: null },
    })) as { id: string };
    await sql('update app_public.chargings set paid = 1 where organization_id = $1 and charged_on = $2', '2026-04-01');
    await sql('delete from app_public.permits where organization_id = $1 and permit_no = $2', 1000);

    expect(seen).toMatchObject({ seenAt: '2026-03-02T00:00:00.000000+00:00' });
    expect(permit).toMatchObject({ permitNo: 3000, zone: 'B' });
    expect(await changesAfter(before)).toEqual([
      expect.stringMatching(`UPDATE Vehicle .*${vehicle}$`),
      `CREATE Permit ${permit.id}`,
      `CREATE Charging ${charging.id}`,
      `UPDATE Charging paid ${charging.id}`,
      `DELETE Permit ${world.ids.Permit?.[0]}`,
    ]);
  });

  test('the history has the keys, and names the secret without its value', async () => {
    const entries = await sql(
      `select command, relation, row_id::text as row, columns from audit.changes
       where organization_id = $1 and relation::text in ('app_public.permits', 'app_public.vehicles') order by id desc limit 4`,
    );

    expect(entries).toMatchObject([
      { command: 'delete', relation: 'app_public.permits', row: '1000' },
      { command: 'insert', relation: 'app_public.permits', row: '3000' },
      { command: 'update', relation: 'app_public.vehicles', row: 'B-GQ 1', columns: ['pin_digest'] },
      { command: 'update', relation: 'app_public.vehicles', row: 'B-GQ 1', columns: ['seen_at'] },
    ]);
    expect(await secretsIn('app_public.vehicles')).toHaveLength(1);
    expect([...(await secretsIn('audit.changes')), ...(await secretsIn('feed.changes'))]).toEqual([]);
  });

  test('the audit shows the rows as they were before it', async () => {
    expect(known.rows).toHaveLength(3);
    expect(await counts(known.at)).toEqual(known.rows);
  });

  test('a value that was added to an enum is written, found and followed', async () => {
    const now = await present(graph, tenant);

    const given = { drive: 'hydrogen', hourly: '1', grace: {}, freeHours: '{}' };
    const { id } = (await mutate(world, tableOf('tariffs'), given)) as { id: string };

    const query = '{ app { tariffs(orderBy: DRIVE_DESC, first: 1) { nodes { id drive } } } }';
    expect(await read(graph, tenant.app, query)).toEqual({ app: { tariffs: { nodes: [{ id, drive: 'hydrogen' }] } } });
    expect(await changesAfter(now)).toEqual([`CREATE Tariff ${id}`]);
  });

  test('a request that names the old column is refused', async () => {
    const { body } = await ask(graph, tenant.app, '{ app { permits { nodes { number } } } }');

    expect(body.errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
  });
});
