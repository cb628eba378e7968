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

let cells: TestCells;
beforeEach(async () => {
  cells = await createCells();
  await provision(cells.here, documentOf('Acme'), documentOf('Globex'));
});
afterEach(() => cells.drop());

test('an organization moves there and back, and no other does', async () => {
  const { here, there } = cells;
  await provision(there, documentOf('Initech'));
  const [acme, globex, initech] = [
    await contents(here, 'Acme'),
    await contents(here, 'Globex'),
    await contents(there, 'Initech'),
  ];
  expect(Object.keys(acme).length).toBeGreaterThan(8);

  const copied = expectDone(await move(cells));
  expect(copied).toMatchObject({
    organization: 'Acme',
    tables: expect.arrayContaining([{ table: 'app_public.users', rows: 2 }]),
  });
  expect(await states(cells)).toEqual([['copying'], ['arriving']]);
  expect(await contents(there, 'Acme')).toEqual(acme);
  // Written while it is copied, and again when it has been.
  await here.owner.query("update app_public.users set full_name = 'Changed' where email = 'u-1@acme.test'");
  const changed = await contents(here, 'Acme');

  expect(expectDone(await move(cells, ['--cut-over']))).toMatchObject({
    organization: 'Acme',
    tables: expect.arrayContaining([{ table: 'app_public.users', rows: 2 }]),
    stoppedForMs: expect.any(Number),
  });
  expect(await states(cells)).toEqual([['moved'], ['arrived']]);
  expect(await contents(there, 'Acme')).toEqual(changed);
  expect(await leftOvers(cells)).toEqual([]);

  expect(expectDone(await move(cells, ['--drop']))).toMatchObject({ organization: 'Acme', undelivered: 0 });
  expect(await contents(here, 'Acme')).toEqual({});
  expect(await states(cells)).toEqual([[], ['arrived']]);
  expect(await contents(here, 'Globex')).toEqual(globex);
  expect(await contents(there, 'Initech')).toEqual(initech);
  expect(await contents(there, 'Globex')).toEqual({});

  const back = { here: there, there: here };
  expectDone(await move(back));
  expectDone(await move(back, ['--cut-over']));
  expectDone(await move(back, ['--drop']));
  expect(await contents(here, 'Acme')).toEqual(changed);
  expect(await contents(there, 'Acme')).toEqual({});
  expect(await states(cells)).toEqual([['arrived'], []]);
  expect(await leftOvers(cells)).toEqual([]);
});

test('a cut-over that finds a difference leaves the organization here, and nothing there', async () => {
  const { here, there } = cells;
  const acme = await contents(here, 'Acme');
  expectDone(await move(cells));
  await there.owner.query("update app_public.users set full_name = 'Tampered' where external_identifier = 'u-1'");

  expect(reasonOf(await move(cells, ['--cut-over']))).toContain(
    'differ in app_public.users. The organization goes on here',
  );

  expect(await states(cells)).toEqual([[], []]);
  expect(await leftOvers(cells)).toEqual([]);
  expect(await contents(there, 'Acme')).toEqual({});
  expect(await contents(here, 'Acme')).toEqual(acme);
});
