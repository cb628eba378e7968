import { expectDone } from '../inProcess.ts';
import {
  contents,
  createCells,
  documentOf,
  leftOvers,
  move,
  provision,
  reasonOf,
  states,
  type TestCells,
} from './cells.ts';

// What takes a copy of its own for each case.

let cells: TestCells;
beforeEach(async () => {
  cells = await createCells();
  await provision(cells.here, documentOf('Acme'), documentOf('Globex'));
});
afterEach(() => cells.drop());

test('an abort leaves both as they were, whatever was done before', async () => {
  const { here, there } = cells;
  const acme = await contents(here, 'Acme');
  expectDone(await move(cells));
  expectDone(await move(cells));

  expect(expectDone(await move(cells, ['--abort']))).toEqual({ organization: 'Acme', aborted: true });

  expect(await states(cells)).toEqual([[], []]);
  expect(await leftOvers(cells)).toEqual([]);
  expect(await contents(there, 'Acme')).toEqual({});
  expect(await contents(here, 'Acme')).toEqual(acme);
  expect(reasonOf(await move(cells, ['--abort']))).toContain('is not being moved');
});

test('nothing of another organization is copied, though both have the same identifiers, and no right is left behind', async () => {
  const { here, there } = cells;
  const rights = async () => {
    const { rows } = await here.owner.query(`
      select format('%s %s', r.rolname, to_jsonb(r) - 'oid' - 'rolpassword') as line from pg_roles r
      union all select format('%s in %s', m.member::regrole, m.roleid::regrole) from pg_auth_members m
      union all select format('%s %s', c.oid::regclass, c.relacl) from pg_class c where c.relacl is not null
      order by 1`);
    return rows;
  };
  const before = await rights();
  const [acme, globex] = [await contents(here, 'Acme'), await contents(here, 'Globex')];
  expect(Object.keys(globex)).toEqual(Object.keys(acme));

  expectDone(await move(cells));
  // Both change after the copy, in one transaction.
  await here.owner.query("update app_public.users set full_name = 'Same name' where external_identifier = 'u-1'");
  await here.owner.query(
    "delete from app_public.card_assignments where user_id in (select id from app_public.users where external_identifier = 'u-0')",
  );
  await here.owner.query(
    "insert into app_public.units (organization_id, name, external_identifier) select id, 'Attic', 'attic' from app_hidden.organizations",
  );
  const changed = await contents(here, 'Acme');
  expectDone(await move(cells, ['--cut-over']));

  expect(await contents(there, 'Acme')).toEqual(changed);
  expect((await contents(here, 'Globex'))['app_public.units']).toHaveLength(3);
  for (const table of Object.keys(acme)) {
    const column = table === 'app_hidden.organizations' ? 'id' : 'organization_id';
    const { rows } = await there.owner.query(`select distinct ${column} as id from ${table}`);
    expect({ table, rows }).toEqual({ table, rows: [{ id: acmeOf(acme) }] });
  }
  expect(await rights()).toEqual(before);
  expect(await leftOvers(cells)).toEqual([]);
});

/** The id is the first column of the row's text. */
const acmeOf = (acme: Record<string, string[]>) => acme['app_hidden.organizations']?.[0]?.slice(1, 37);

test('sequences of the next team go on behind the rows that came, and their tables move by themselves', async () => {
  const { here, there } = cells;
  const table = `create table app_public.visits (organization_id uuid not null, number int not null generated always as identity,
    primary key (organization_id, number))`;
  for (const { owner } of [here, there]) await owner.query(table);
  await here.owner.query(
    'insert into app_public.visits (organization_id) select id from app_hidden.organizations, generate_series(1, 5)',
  );

  expect(expectDone(await move(cells)).tables).toContainEqual({ table: 'app_public.visits', rows: 5 });
  expectDone(await move(cells, ['--cut-over']));

  const { rows } = await there.owner.query(
    'insert into app_public.visits (organization_id) select id from app_hidden.organizations returning number',
  );
  expect(rows[0].number).toBeGreaterThan(9);
});
