import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createTestDatabase } from '../support/database.ts';
import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createCard,
  createTenant,
  createViewer,
  expectErrors,
  type GraphTest,
  read,
  type Tenant,
} from './support.ts';

// Cards by what a reader reads of them.

let graph: GraphTest;
let tenant: Tenant;
let person: Awaited<ReturnType<typeof createViewer>>;
const chip = '04A224B2C13A80';
const beacon = { proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', major: 1, minor: 2 };
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
  person = await createViewer(tenant);
  await createCard(tenant, person, { type: 'NfcCard', name: 'Badge', nfcIdentifier: chip });
  await createCard(tenant, person, { type: 'NfcCard', name: 'Other badge', nfcIdentifier: '04A224B2' });
  await createCard(tenant, person, { type: 'BeaconCard', name: 'Phone', ...beacon });
  await createCard(tenant, person, { type: 'IdentificationCode', name: 'PIN' });
});

const query = `query ($chips: [String!], $beacons: [BeaconInput!]) {
  app { cards(nfcIdentifiers: $chips, beacons: $beacons) { totalCount nodes { name cardAssignments { user { id } } } } } }`;
type Found = { app: { cards: { totalCount: number; nodes: { name: string; cardAssignments: object[] }[] } } };
const find = async (variables: object, token = tenant.app) => {
  const { nodes, totalCount } = (await read<Found>(graph, token, query, { ...variables })).app.cards;
  expect(nodes.length).toBe(totalCount);
  return nodes.map(({ name }) => name);
};

test.each([chip, chip.toLowerCase(), '04a224B2C13a80'])('a badge is found as its reader reads it: %s', async (read) => {
  expect(await find({ chips: [read] })).toEqual(['Badge']);
  expect(await find({ chips: [read, '04A224B2', 'no chip', ''] })).toEqual(['Badge', 'Other badge']);
});

test('a badge is not found with the separators that a reader prints, which its program removes', async () => {
  const printed = '04:a2:24:b2:c1:3a:80';

  expect(await find({ chips: [printed] })).toEqual([]);
  expect(await find({ chips: [printed.replaceAll(':', '')] })).toEqual(['Badge']);
});

test('a beacon is found by its three values', async () => {
  expect(await find({ beacons: [beacon] })).toEqual(['Phone']);
  expect(await find({ beacons: [{ ...beacon, proximityUuid: beacon.proximityUuid.toUpperCase() }] })).toEqual([
    'Phone',
  ]);
  for (const other of [{ major: 2 }, { minor: 1 }, { proximityUuid: crypto.randomUUID() }, { major: -1 }])
    expect(await find({ beacons: [{ ...beacon, ...other }] })).toEqual([]);
});

test('both filters together must hold; an empty list matches nothing, and null is no filter', async () => {
  expect(await find({ chips: [chip], beacons: [beacon] })).toEqual([]);
  expect(await find({ chips: [] })).toEqual([]);
  expect(await find({ beacons: [] })).toEqual([]);
  expect(await find({ chips: null, beacons: null })).toHaveLength(4);
});

test('leads to the holder in the same question', async () => {
  const { app } = await read<Found>(graph, tenant.app, query, { chips: [chip] });

  expect(app.cards.nodes[0]?.cardAssignments).toEqual([{ user: { id: person.id } }]);
});

test("finds only the own organization's card, though another has one of the same values", async () => {
  const other = await createTenant(graph);
  const holder = await createViewer(other);
  await createCard(other, holder, { type: 'NfcCard', name: 'Theirs', nfcIdentifier: chip });
  await createCard(other, holder, { type: 'BeaconCard', name: 'Their phone', ...beacon });
  await createCard(other, holder, { type: 'NfcCard', name: 'Theirs alone', nfcIdentifier: '04FFFFFF' });

  expect(await find({ chips: [chip] })).toEqual(['Badge']);
  expect(await find({ beacons: [beacon] })).toEqual(['Phone']);
  expect(await find({ chips: ['04FFFFFF'] })).toEqual([]);
  expect(await find({ chips: [chip, '04ffffff'] }, other.app)).toEqual(['Theirs', 'Theirs alone']);
  expect(await find({ beacons: [beacon] }, other.app)).toEqual(['Their phone']);
});

test('a person and a basic token have no list of cards', async () => {
  for (const token of [person.token, tenant.basic])
    expectErrors(
      await ask(graph, token, query, { chips: [chip] }),
      { app: null },
      { code: 'FORBIDDEN', path: ['app'] },
    );
});

test.each<[string, object, string]>([
  ['more than 1,000 badges', { chips: Array(1001).fill(chip) }, 'nfcIdentifiers'],
  ['more than 1,000 beacons', { beacons: Array(1001).fill(beacon) }, 'beacons'],
  ['a text that no database has', { chips: ['\0'] }, 'nfcIdentifiers'],
  ['half a beacon', { beacons: [{ proximityUuid: beacon.proximityUuid, major: 1 }] }, 'beacons'],
  ['a number that is none', { beacons: [{ ...beacon, major: 1.5 }] }, 'beacons'],
  ['a UUID that is none', { beacons: [{ ...beacon, proximityUuid: 'x' }] }, 'beacons'],
])('refuses %s', async (_, variables, argument) => {
  const { status, body } = await ask(graph, tenant.app, query, { ...variables });

  expect(status).toBe(400);
  expect(body.errors?.map(({ extensions }) => [extensions.code, extensions.argument])).toEqual([
    ['BAD_USER_INPUT', argument],
  ]);
  expect(await find({ chips: Array(1000).fill(chip), beacons: null })).toEqual(['Badge']);
});

test('reads one row by an index, among however many', async () => {
  const statements: string[] = [];
  const note = (use: unknown) => void statements.push((use as { text: string }).text);
  subscribe('statement:sent', note);
  await find({ chips: [chip] });
  await find({ beacons: [beacon] });
  unsubscribe('statement:sent', note);
  const database = await createTestDatabase();
  const many = await createTenant({ database });
  await database.owner.query(
    `insert into app_public.cards (organization_id, type, name, nfc_identifier, proximity_uuid, major, minor)
     select $1, case when n % 2 = 0 then 'NfcCard' else 'BeaconCard' end, 'Card',
       case when n % 2 = 0 then lpad(upper(to_hex(n)), 8, '0') end,
       case when n % 2 = 1 then gen_random_uuid() end, case when n % 2 = 1 then 1 end, case when n % 2 = 1 then 2 end
     from generate_series(1, 20000) n`,
    [many.organizationId],
  );
  await database.owner.query('analyze app_public.cards');

  const asked = statements.filter((text) => text.includes('"nfc_identifier"') || text.includes('"proximity_uuid"'));
  const client = await database.owner.connect();
  const plans: string[] = [];
  try {
    await client.query('begin');
    await client.query(
      `select set_config('role', 'graph_app', true), set_config('graph.organization_id', $1, true),
         set_config('graph.application_id', $2, true), set_config('graph.scope', 'app', true)`,
      [many.organizationId, many.applicationId],
    );
    for (const text of asked) {
      const { rows } = await client.query(`explain (generic_plan) ${text}`);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    await client.query('rollback');
  } finally {
    client.release();
    await database.drop();
  }

  expect(plans[0]).toContain('cards_nfc_identifier_key');
  expect(plans.at(-1)).toContain('cards_beacon_key');
  for (const plan of plans) expect(plan).not.toContain('Seq Scan on cards');
});
