import type { Pool } from 'pg';
import {
  buildClientSchema,
  type GraphQLObjectType,
  type GraphQLSchema,
  getIntrospectionQuery,
} from 'postgraphile/graphql';
import { ask, read } from '../graphql/client.ts';

/** A fleet in which the tests work: where it is served, and who owns what. */
export type FleetWorld = {
  readonly url: string;
  readonly owner: Pool;
  readonly organizationId: string;
  readonly app: string;
  /** Global ids: those of a unit and a user, and of each row that was added, by type. */
  readonly ids: Record<string, string[]>;
  /** The keys of these rows as text, in the same order. */
  readonly keys: Record<string, string[]>;
};

type Arguments = Readonly<Record<string, unknown>>;

/** One table: the mutation that adds rows, and in SQL what the graph has to say of a row. */
export type FleetTable = {
  readonly table: string;
  readonly type: string;
  readonly mutation: string;
  /** What the payload has. */
  readonly payload: string;
  /** The arguments of each call; of every second call they are literals, else variables. */
  readonly given: (id: (type: string, place: number) => string | undefined) => readonly Arguments[];
  readonly selection: string;
  /** SQL of an object with the fields of the selection, of the row `t`. */
  readonly row: string;
  /** SQL of the columns of the key. */
  readonly key: readonly string[];
  /** Orders without `_ASC` and `_DESC`, and SQL of the value. */
  readonly orders: Readonly<Record<string, string>>;
  /** Arguments of the connection, and SQL of the rows that they find. */
  readonly filters: readonly (readonly [Arguments, string])[];
};

const range = '{ start { value inclusive } end { value inclusive } }';
const time = (value: string) => `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')`;
const bound = (side: 'lower' | 'upper', value: string) =>
  `case when not ${side}_inf(r) then json_build_object('value', ${value}, 'inclusive', ${side}_inc(r)) end`;
const rangeOf = (value: (bound: string) => string) =>
  `json_build_object('start', ${bound('lower', value('lower(r)'))}, 'end', ${bound('upper', value('upper(r)'))})`;
const ofOrganization = (table: string, condition: string, value: string) =>
  `(select json_build_object(${value}) from app_public.${table} f where f.organization_id = t.organization_id and ${condition})`;
const enumName = (column: string) => `replace(${column}::text, '-', '_')`;
const vehicle = ofOrganization('vehicles', 'f.plate = t.plate', `'plate', f.plate`);

/** A range that includes its start only. */
const between = (start: unknown, end: unknown) => ({
  start: start === null ? null : { value: start, inclusive: true },
  end: end === null ? null : { value: end, inclusive: false },
});
const at = (hour: number, day = 1) => `2026-03-0${day}T${String(hour).padStart(2, '0')}:00:00Z`;
const part = (name: string, more: object) => ({ name, mass: null, fittedOn: null, codes: null, ...more });

export const fleetTables: readonly FleetTable[] = [
  {
    ...{ table: 'tariffs', type: 'Tariff', mutation: 'tariffSet', payload: 'tariff' },
    given: () => [
      { drive: 'petrol', hourly: '2.50', grace: { minutes: 10 }, freeHours: '{[0,6),[22,24)}' },
      { drive: 'electric', hourly: '0', grace: { days: 1, seconds: 2.5 }, freeHours: '{}' },
      { drive: 'plug_in', hourly: '12.345', grace: { hours: 25 }, freeHours: '{(,4)}' },
    ],
    selection: `drive hourly grace { years months days hours minutes seconds } freeHours`,
    row: `'drive', ${enumName('t.drive')}, 'hourly', t.hourly::text, 'grace', json_build_object(${[
      'year',
      'month',
      'day',
      'hour',
      'minute',
      'second',
    ]
      .map((unit) => `'${unit}s', extract(${unit} from t.grace)::float8`)
      .join(', ')}), 'freeHours', t.free_hours`,
    key: ['drive'],
    orders: { HOURLY: 'hourly', DRIVE: 'drive' },
    filters: [
      [{ hourlyFrom: '2.50' }, 'hourly >= 2.5'],
      [{ hourlyUntil: '2.50' }, 'hourly < 2.5'],
    ],
  },
  {
    ...{ table: 'garages', type: 'Garage', mutation: 'garageOpen', payload: 'garage' },
    given: (id) => [
      {
        unitId: id('Unit', 0),
        name: 'alpha',
        place: 'city.north',
        open: `{[${at(8)},${at(18)}),[${at(8, 2)},)}`,
        gateway: '10.0.0.1',
      },
      { unitId: id('Unit', 0), name: 'Beta', place: 'city', open: '{}', gateway: '2001:db8::/32' },
      { unitId: id('Unit', 0), name: 'gamma', place: 'city.north.old', open: `{(,${at(8)})}` },
    ],
    selection: `name place open gateway unit { name } bays { length width }`,
    row: `'name', t.name, 'place', t.place, 'open', t.open, 'gateway', t.gateway,
      'unit', ${ofOrganization('units', 'f.id = t.unit_id', `'name', f.name`)},
      'bays', (select coalesce(json_agg(s.extent order by (s.extent).length desc, s.id), '[]') from app_public.spots s where s.garage_id = t.id)`,
    key: ['id'],
    orders: { NAME: 'name', PLACE: 'place', GATEWAY: 'gateway' },
    filters: [
      [{ names: ['ALPHA', 'gamma'] }, `name in ('Alpha', 'Gamma')`],
      [{ places: ['city', 'city.north.old'] }, `place in ('city', 'city.north.old')`],
      [{ gateways: ['10.0.0.1'] }, `gateway = '10.0.0.1'`],
      [{ hasNoGateway: true }, 'gateway is null'],
      [{ hasNoGateway: false }, 'gateway is not null'],
    ],
  },
  {
    ...{ table: 'spots', type: 'Spot', mutation: 'spotsAdd', payload: 'spots' },
    given: (id) => [
      {
        garageId: id('Garage', 0),
        spots: [
          { number: 2, bay: { length: 5.1, width: 2.5 } },
          { number: 1, bay: { length: 5.5, width: 2.5 }, drive: 'electric' },
        ],
      },
      { garageId: id('Garage', 0), spots: [{ number: 3, bay: { length: 1e3, width: 2.25 }, drive: 'petrol' }] },
    ],
    selection: 'number drive extent { length width } bay { length width } garage { name } tariff { hourly }',
    row: `'number', t.number, 'drive', ${enumName('t.drive')}, 'extent', t.extent, 'bay', t.extent,
      'garage', ${ofOrganization('garages', 'f.id = t.garage_id', `'name', f.name`)},
      'tariff', ${ofOrganization('tariffs', 'f.drive = t.drive', `'hourly', f.hourly::text`)}`,
    key: ['id'],
    orders: { NUMBER: 'number' },
    filters: [[{ numbers: [1, 3, 9] }, 'number in (1, 3, 9)']],
  },
  {
    ...{ table: 'vehicles', type: 'Vehicle', mutation: 'vehicleRegister', payload: 'vehicle' },
    given: () => [
      {
        vehicle: {
          ...{
            plate: 'B-GQ 1',
            drive: 'petrol',
            keeper: 'ada',
            seats: 5,
            mass: 1500,
            length: 4.2,
            worth: '19999.99',
            consent: true,
          },
          ...{
            equipment: { radio: 'x "y"', doors: [5, null] },
            tags: ['pool', 'red'],
            tracker: '10.1.2.3',
            firmware: 'AP8=',
          },
          parts: [part('Wheel', { mass: 20, fittedOn: '2026-01-31', codes: [1, -3] }), part('Roof, "open"', {})],
        },
      },
      {
        vehicle: {
          ...{
            plate: 'HH-A 22E',
            drive: 'electric',
            keeper: 'Babbage',
            seats: 2,
            length: 4.5,
            worth: '0',
            equipment: {},
            tags: [],
          },
          ...{ parts: [], tracker: 'fe80::1', firmware: '' },
        },
      },
      {
        vehicle: {
          plate: 'B-Z 333E',
          drive: 'plug_in',
          seats: 120,
          mass: 60000,
          equipment: null,
          tags: ['bus'],
          parts: null,
        },
      },
    ],
    selection:
      'plate drive keeper seats mass length worth consent equipment tags parts { name mass fittedOn codes } tracker firmware district energy lastSeenAt',
    row: `'plate', t.plate, 'drive', ${enumName('t.drive')}, 'keeper', t.keeper, 'seats', t.seats, 'mass', t.mass, 'length', t.length,
      'worth', t.worth::text, 'consent', t.consent, 'equipment', t.equipment, 'tags', t.tags, 'parts', case when t.parts is not null then (
        select coalesce(json_agg(case when p is not null or p.name is not null then json_build_object(
          'name', p.name, 'mass', p.mass, 'fittedOn', p.fitted_on, 'codes', p.codes) end), '[]')
        from unnest(t.parts) p) end,
      'tracker', t.tracker, 'firmware', encode(t.firmware, 'base64'), 'district', t.district, 'lastSeenAt', ${time('t.last_seen_at')},
      'energy', (select e.energy from app_hidden.vehicle_energies e where e.organization_id = t.organization_id and e.plate = t.plate)`,
    key: ['plate'],
    orders: Object.fromEntries(
      ['plate', 'drive', 'keeper', 'seats', 'length', 'worth', 'district'].map((name) => [name.toUpperCase(), name]),
    ),
    filters: [
      [{ plates: ['B-GQ 1', 'HH-A 22E'] }, `plate in ('B-GQ 1', 'HH-A 22E')`],
      [{ platePrefix: 'B-' }, `starts_with(plate, 'B-')`],
      [{ drives: ['plug_in', 'petrol'] }, `drive in ('plug-in', 'petrol')`],
      [{ keepers: ['ADA', 'babbage'] }, `keeper in ('Ada', 'Babbage')`],
      [{ hasNoKeeper: true }, 'keeper is null'],
      [{ seatsFrom: 5 }, 'seats >= 5'],
      [{ seatsUntil: 5 }, 'seats < 5'],
      [{ masses: [1500] }, 'mass = 1500'],
      [{ lengthFrom: 4.5 }, 'length >= 4.5'],
      [{ worths: ['19999.99', '0.00'] }, 'worth in (19999.99, 0)'],
      [{ hasConsent: true }, 'consent'],
      [{ districts: ['B'] }, `district = 'B'`],
    ],
  },
  {
    ...{ table: 'permits', type: 'Permit', mutation: 'permitIssue', payload: 'permit' },
    given: (id) => [
      { number: 1000, vehicleId: id('Vehicle', 1), userId: id('User', 0), color: 'green' },
      { number: 9999, vehicleId: id('Vehicle', 2) },
      { number: 2000, vehicleId: id('Vehicle', 1), userId: null, color: null },
    ],
    selection: 'number color vehicle { plate } user { fullName }',
    row: `'number', t.number, 'color', t.color, 'vehicle', ${vehicle},
      'user', ${ofOrganization('users', 'f.id = t.user_id', `'fullName', f.full_name`)}`,
    key: ['number'],
    orders: { NUMBER: 'number' },
    filters: [[{ numbers: [9999, 1000] }, 'number in (9999, 1000)']],
  },
  {
    ...{ table: 'positions', type: 'Position', mutation: 'positionReport', payload: 'position' },
    given: () => [
      { plate: 'B-GQ 1', moment: '2026-12-31T23:59:59.999999Z', speed: 12.3, raw: 'AAEC/w==', wal: '16/B374D848' },
      { plate: 'B-GQ 1', moment: '2027-01-01T00:00:00Z', speed: 400, raw: '', wal: '0/0' },
      { plate: 'HH-A 22E', moment: '2026-06-01T12:00:00+02:00', speed: null, raw: null, wal: null },
    ],
    selection: 'moment speed raw wal vehicle { plate }',
    row: `'moment', ${time('t.moment')}, 'speed', t.speed, 'raw', encode(t.raw, 'base64'), 'wal', t.wal, 'vehicle', ${vehicle}`,
    key: ['plate', 'moment'],
    orders: { MOMENT: 'moment' },
    filters: [
      [{ momentFrom: '2027-01-01T00:00:00Z' }, `moment >= '2027-01-01Z'`],
      [{ momentUntil: '2027-01-01T00:00:00Z' }, `moment < '2027-01-01Z'`],
      [{ moments: ['2026-06-01T10:00:00Z'] }, `moment = '2026-06-01 10:00Z'`],
    ],
  },
  {
    ...{ table: 'reservations', type: 'Reservation', mutation: 'spotReserve', payload: 'reservation' },
    given: (id) => [
      { spotId: id('Spot', 0), vehicleId: id('Vehicle', 0), during: between(at(9), at(10)), note: 'Short.' },
      { spotId: id('Spot', 0), vehicleId: id('Vehicle', 1), during: between(at(10), at(12)) },
      {
        spotId: id('Spot', 1),
        vehicleId: id('Vehicle', 1),
        during: { start: { value: at(9, 2), inclusive: false }, end: { value: at(9, 3), inclusive: true } },
      },
    ],
    selection: `during ${range} startsAt note spot { number } vehicle { plate }`,
    row: `'during', (select ${rangeOf(time)} from (values (t.during)) as of (r)), 'startsAt', ${time('t.starts_at')}, 'note', t.note,
      'spot', ${ofOrganization('spots', 'f.id = t.spot_id', `'number', f.number`)}, 'vehicle', ${vehicle}`,
    key: ['id'],
    orders: { STARTS_AT: 'starts_at' },
    filters: [
      [{ startsFrom: at(10) }, `starts_at >= '2026-03-01 10:00Z'`],
      [{ startsUntil: at(10) }, `starts_at < '2026-03-01 10:00Z'`],
      [{ isWithoutNote: true }, 'note is null'],
    ],
  },
  {
    ...{ table: 'chargings', type: 'Charging', mutation: 'chargingRecord', payload: 'charging' },
    given: () => [
      { plate: 'HH-A 22E', day: '2026-02-28', energy: 12.3, odometer: 1.5e7, paid: '4.20' },
      { plate: 'HH-A 22E', day: '2026-03-01', energy: 0.1, odometer: null, paid: null },
      { plate: 'B-Z 333E', day: '2026-02-28', energy: 400, odometer: 0.5, paid: '0' },
    ],
    selection: 'day energy odometer paid vehicle { plate }',
    row: `'day', t.day, 'energy', t.energy, 'odometer', t.odometer, 'paid', t.paid::text, 'vehicle', ${vehicle}`,
    key: ['plate', 'day'],
    orders: { DAY: 'day', ENERGY: 'energy' },
    filters: [
      [{ days: ['2026-03-01'] }, `day = '2026-03-01'`],
      [{ dayFrom: '2026-03-01' }, `day >= '2026-03-01'`],
      [{ energyFrom: 12.3 }, 'energy >= 12.3::real'],
      [{ energyUntil: 12.3 }, 'energy < 12.3::real'],
    ],
  },
];

/** The table as it is after the later migration. */
export function renamed(table: FleetTable): FleetTable {
  const changed = (text: string) =>
    (renames[table.table] ?? []).reduce((result, [from, to]) => result.replaceAll(from, to), text);
  return { ...table, selection: changed(table.selection), row: changed(table.row), key: table.key.map(changed) };
}

const renames: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  vehicles: [
    [/last_seen_at/g, 'seen_at'],
    [/lastSeenAt/g, 'seenAt'],
  ],
  permits: [
    [/t\.number|^number$/g, 'permit_no'],
    [/\bnumber\b/g, 'permitNo'],
    [/\bcolor\b/g, 'zone'],
  ],
  chargings: [
    [/t\.day|^day$/g, 'charged_on'],
    [/\bday\b/g, 'chargedOn'],
  ],
};

/** A row as SQL by the owner has it, and its key as text: of several columns an object. */
export type StoredRow = { readonly key: string; readonly value: object };

/** The rows of the organization in the order of their keys. */
export async function storedRows(
  { owner, organizationId }: FleetWorld,
  { table, row, key }: FleetTable,
): Promise<StoredRow[]> {
  const { rows } = await owner.query(
    `select ${keyText(key)} as key, json_build_object(${row}) as value from app_public.${table} t where organization_id = $1 order by ${key.join(', ')}`,
    [organizationId],
  );
  return rows;
}

/** SQL of the key as text. */
export const keyText = (key: readonly string[]) =>
  key.length > 1
    ? `json_build_object(${key.map((column) => `'${column}', ${column}`).join(', ')})::text`
    : `${key[0]}::text`;

/** The arguments of each call that adds rows. */
export const givenIn = ({ ids }: FleetWorld, { given }: FleetTable) => given((type, place) => ids[type]?.[place]);

/** Adds all rows of a table, and compares what is answered with what is stored. */
export async function addRows(world: FleetWorld, table: FleetTable): Promise<void> {
  for (const [number, given] of givenIn(world, table).entries()) {
    const before = new Set((await storedRows(world, table)).map(({ key }) => key));
    const answer = await mutate(world, table, given, number % 2 === 1);
    const added = (await storedRows(world, table)).filter(({ key }) => !before.has(key));

    const rows = [answer].flat() as { id: string }[];
    expect(rows.map(({ id, ...fields }) => fields)).toEqual(added.map(({ value }) => value));
    expect(added.length).toBeGreaterThan(0);
    world.ids[table.type] = [...(world.ids[table.type] ?? []), ...rows.map(({ id }) => id)];
    world.keys[table.type] = [...(world.keys[table.type] ?? []), ...added.map(({ key }) => key)];
  }
}

/** @returns what the payload has */
export async function mutate(
  world: FleetWorld,
  { mutation, payload, selection }: Pick<FleetTable, 'mutation' | 'payload' | 'selection'>,
  given: Arguments,
  byLiterals = false,
): Promise<unknown> {
  const { query, variables } = await documentOf(world, mutation, given, `${payload} { id ${selection} }`, byLiterals);
  const answer = await read<Record<string, Record<string, unknown>>>(world, world.app, query, variables);
  return answer[mutation]?.[payload];
}

/** The same, whatever the answer is. */
export async function tryToMutate(
  world: FleetWorld,
  mutation: string,
  given: Arguments,
  selection = '__typename',
  token = world.app,
) {
  const { query, variables } = await documentOf(world, mutation, given, selection, false);
  return ask(world, token, query, variables);
}

async function documentOf(world: FleetWorld, field: string, given: Arguments, selection: string, byLiterals: boolean) {
  if (byLiterals) {
    const inDocument = Object.entries(given).map(([name, value]) => `${name}: ${literal(value)}`);
    return { query: `mutation { ${field}(${inDocument.join(', ')}) { ${selection} } }`, variables: {} };
  }
  const types = await argumentTypes(world, 'Mutation', field);
  const names = Object.keys(given);
  return {
    query: `mutation (${names.map((name) => `$${name}: ${types[name]}`).join(', ')}) {
      ${field}(${names.map((name) => `${name}: $${name}`).join(', ')}) { ${selection} } }`,
    variables: given,
  };
}

const schemas = new WeakMap<object, GraphQLSchema>();

/** The types of a field's arguments, as a document declares variables of them. */
export async function argumentTypes(world: FleetWorld, on: string, field: string): Promise<Record<string, string>> {
  const { url, app } = world;
  const schema = schemas.get(world) ?? buildClientSchema(await read({ url }, app, getIntrospectionQuery()));
  schemas.set(world, schema);
  const found = (schema.getType(on) as GraphQLObjectType).getFields()[field]?.args ?? [];
  return Object.fromEntries(found.map(({ name, type }) => [name, String(type)]));
}

/** As GraphQL writes it; the values of the enum are without quotes. */
function literal(value: unknown): string {
  if (typeof value === 'string' && ['petrol', 'diesel', 'electric', 'plug_in'].includes(value)) return value;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${name}: ${literal(member)}`)
    .join(', ')} }`;
}
