import { createTenant, type OwnGraphTest, read, startGraphTest, type Tenant } from '../graphql/support.ts';
import { define, sqlBody } from './doors.ts';
import { tableSql } from './tables.ts';

// Arrays of composite types, and domains over composite types: null, empty and null items are answered as PostgreSQL has them.

const kinds = ['null', 'empty', 'items'] as const;

/** A value of an array by its kind, in SQL. */
const slotsOf = (kind: string) =>
  `case ${kind} when 'items' then array[row ('a', 1)::app_public.slot, null] when 'empty' then '{}' end`;

const sql = `
  create type app_public.slot as (word text, amount int);
  create domain app_public.slot_list as app_public.slot[];
  create domain app_public.full_slot as app_public.slot check ((value).word <> '');
  create domain app_public.fuller_slot as app_public.full_slot;
  create type app_public.tray as (label text, slots app_public.slot[], best app_public.full_slot);
  ${define('tray_loud(tray app_public.tray)', `returns text ${sqlBody('select upper(tray.label)', 'stable')}`, 'A computed field.')}
  ${tableSql({ name: 'racks', columns: 'id int, slots app_public.slot[], list app_public.slot_list, trays app_public.tray[], tray app_public.tray, best app_public.fuller_slot', key: ['id'] })}
  ${define('racks_given(rack app_public.racks, kind text)', `returns app_public.slot[] ${sqlBody(`select ${slotsOf('kind')}`, 'stable')}`, 'By its kind.')}
  ${define('racks_trays_of(rack app_public.racks)', `returns app_public.tray[] ${sqlBody('select rack.trays', 'stable')}`, 'Trays.')}
  ${define('racks_both(rack app_public.racks)', `returns app_public.racks[] ${sqlBody('select case when rack.id > 1 then array[rack, null] end', 'stable')}`, 'Rows of a table.')}
  ${define('racks_best_of(rack app_public.racks)', `returns app_public.fuller_slot ${sqlBody('select rack.best', 'stable')}`, 'A domain.')}
  ${define('racks_all_of(rack app_public.racks)', `returns setof app_public.full_slot ${sqlBody('select rack.best where rack.best is not null', 'stable')}`, 'A set of a domain.')}
  ${define('racks_best_list(rack app_public.racks)', `returns app_public.full_slot[] ${sqlBody('select array[rack.best]', 'stable')}`, 'An array of a domain.')}
  ${define('racks_pair(rack app_public.racks, out one app_public.full_slot, out other int)', sqlBody('select rack.best, rack.id', 'stable'), 'A domain beside another.')}
  ${define('slots_given(kind text)', `returns app_public.slot[] ${sqlBody(`select ${slotsOf('kind')}`)}`, '@mutation\nBy its kind.')}
  ${define('racks_read()', `returns setof app_public.racks ${sqlBody('select * from app_public.racks order by id')}`, '@mutation\nAll.')}
  ${define('racks_array(above int)', `returns app_public.racks[] ${sqlBody('select array_agg(r order by r.id) from app_public.racks r where r.id > above')}`, '@mutation\nAll.')}
  ${define('slot_best(slot app_public.full_slot)', `returns app_public.full_slot ${sqlBody('select slot')}`, '@mutation\nThe same.')}`;

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    await database.owner.query(sql);
    await database.owner.query(
      `insert into app_public.racks
       select $1, n, ${slotsOf('kind')}, ${slotsOf('kind')},
         case kind when 'items' then array[row ('x', ${slotsOf('kind')}, null)::app_public.tray, row ('y', null, row ('b', 2))::app_public.tray, null] when 'empty' then '{}' end,
         case kind when 'null' then null else row ('z', ${slotsOf('kind')}, row ('c', 3))::app_public.tray end,
         case kind when 'null' then null else row ('d', 4)::app_public.full_slot end
       from unnest($2::text[]) with ordinality as k (kind, n)`,
      [tenant.organizationId, kinds],
    );
  });
});
afterAll(() => graph.stop());

/** By Grafast at first, and then compiled. */
const readTwice = async (query: string) => {
  const first = await read<Record<string, unknown>>(graph, tenant.app, query);
  expect(await read(graph, tenant.app, query)).toEqual(first);
  return first;
};

const items = [{ word: 'a', amount: 1 }, null];
const lists = [null, [], items];
const slot = '{ word amount }';
const selection = `slots ${slot} list ${slot} best ${slot} tray { label loud slots ${slot} best ${slot} } trays { loud slots ${slot} best ${slot} }`;
const rows = lists.map((list, index) => ({
  slots: list,
  list,
  best: index === 0 ? null : { word: 'd', amount: 4 },
  tray: index === 0 ? null : { label: 'z', loud: 'Z', slots: list, best: { word: 'c', amount: 3 } },
  trays: [
    null,
    [],
    [{ loud: 'X', slots: items, best: null }, { loud: 'Y', slots: null, best: { word: 'b', amount: 2 } }, null],
  ][index],
}));

test('of a column, a domain, an attribute, and in what a mutation returns', async () => {
  expect(await readTwice(`{ app { racks { nodes { ${selection} } } } }`)).toEqual({ app: { racks: { nodes: rows } } });
  expect(await readTwice(`mutation { racksRead { racks { ${selection} } } }`)).toEqual({ racksRead: { racks: rows } });
});

test('of a computed field, of rows of a table, too', async () => {
  const given = kinds.map((kind) => `${kind}_: given(kind: "${kind}") ${slot}`).join(' ');
  const query = `{ app { racks { nodes { ${given} traysOf { loud slots ${slot} best ${slot} } both { slots ${slot} } } } } }`;
  const ofKinds = Object.fromEntries(kinds.map((kind, index) => [`${kind}_`, lists[index]]));

  expect(await readTwice(query)).toEqual({
    app: {
      racks: {
        nodes: rows.map(({ trays, slots }, index) => ({
          ...ofKinds,
          traysOf: trays,
          both: index === 0 ? null : [{ slots }, null],
        })),
      },
    },
  });
});

test('of a mutation', async () => {
  for (const [index, kind] of kinds.entries())
    expect(await readTwice(`mutation { slotsGiven(kind: "${kind}") { result ${slot} } }`)).toEqual({
      slotsGiven: { result: lists[index] },
    });
  expect(await readTwice(`mutation { racksArray(above: 1) { racks { slots ${slot} } } }`)).toEqual({
    racksArray: { racks: [{ slots: [] }, { slots: items }] },
  });
  expect(await readTwice(`mutation { racksArray(above: 3) { racks { slots ${slot} } } }`)).toEqual({
    racksArray: { racks: null },
  });
});

test('a domain over a composite type is that type, in each result of a function', async () => {
  const query = `{ app { racks { nodes { bestOf ${slot} allOf ${slot} bestList ${slot} pair { one ${slot} other } } } } }`;
  const best = { word: 'd', amount: 4 };

  expect(await readTwice(query)).toEqual({
    app: {
      racks: {
        nodes: [
          { bestOf: null, allOf: [], bestList: [null], pair: { one: null, other: 1 } },
          { bestOf: best, allOf: [best], bestList: [best], pair: { one: best, other: 2 } },
          { bestOf: best, allOf: [best], bestList: [best], pair: { one: best, other: 3 } },
        ],
      },
    },
  });
  expect(await readTwice(`mutation { slotBest(slot: { word: "e", amount: 5 }) { result ${slot} } }`)).toEqual({
    slotBest: { result: { word: 'e', amount: 5 } },
  });
});
