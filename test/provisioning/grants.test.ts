import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { acme, apply, everyRow, headquarters, pathsOf, problemsOf, user } from './support.ts';

let database: EmptiedDatabase;
beforeAll(async () => {
  database = await createEmptiedDatabase();
});
afterEach(() => database.empty());
afterAll(() => database.drop());

const [january, february] = ['2027-01-31T18:00:00+01:00', '2027-02-28T18:00:00+01:00'];
const granting = (...accessibleUnits: unknown[]) =>
  acme({ units: [headquarters], users: [{ ...user('u-1'), accessibleUnits }] });
const grants = async () => {
  const { rows } = await database.owner.query(
    `select u.external_identifier as unit, a.source, a.valid_from as from, a.valid_until as until
     from app_hidden.unit_access a join app_public.units u on u.organization_id = a.organization_id and u.id = a.unit_id
     order by 1, 2 nulls first`,
  );
  return rows.map(({ unit, source, from, until }) => [
    unit,
    source,
    from?.toISOString() ?? null,
    until?.toISOString() ?? null,
  ]);
};
const iso = (time: string | undefined) => new Date(time ?? '').toISOString();

it('gives grants a time and a source beside those by name, once each', async () => {
  const document = granting(
    'hq',
    { unit: 'hq', source: 'visitors', validFrom: january, validUntil: february },
    { unit: 'hq-1', validUntil: february },
  );
  await apply(database.owner, document);

  expect(await grants()).toEqual([
    ['hq', null, null, null],
    ['hq', 'visitors', iso(january), iso(february)],
    ['hq-1', null, null, iso(february)],
  ]);
  const before = await everyRow(database.owner);
  await apply(database.owner, document);
  expect(await everyRow(database.owner)).toEqual(before);
});

it('changes times that differ, keeps those that are left out, clears those that are null, and deletes nothing', async () => {
  await apply(database.owner, granting({ unit: 'hq', validFrom: january, validUntil: february }));

  await apply(database.owner, granting('hq', { unit: 'hq', source: 'hr' }));
  expect(await grants()).toEqual([
    ['hq', null, iso(january), iso(february)],
    ['hq', 'hr', null, null],
  ]);
  await apply(database.owner, granting({ unit: 'hq', validFrom: null }));
  await apply(database.owner, granting({ unit: 'hq', source: 'hr', validUntil: january }));
  expect(await grants()).toEqual([
    ['hq', null, null, iso(february)],
    ['hq', 'hr', null, iso(january)],
  ]);
});

it('names what is wrong with a grant by its path', async () => {
  const inGrants = (below: string) => `organizations[0].users[0].accessibleUnits${below}`;
  const wrong: [grant: unknown, path: string][] = [
    ['', '[0]'],
    [5, '[0]'],
    [{}, '[0].unit'],
    [{ unit: 'hq', validUntil: 'tomorrow' }, '[0].validUntil'],
    [{ unit: 'hq', validUntil: '2027-01-31T18:00:00' }, '[0].validUntil'],
    [{ unit: 'hq', validFrom: february, validUntil: january }, '[0].validUntil'],
    [{ unit: 'hq', validFrom: january, validUntil: january }, '[0].validUntil'],
    [{ unit: 'hq', source: '' }, '[0].source'],
    [{ unit: 'hq', until: january }, '[0].until'],
    [{ unit: 'moon', source: 'hr' }, '[0]'],
  ];
  for (const [grant, path] of wrong)
    expect([grant, await pathsOf(database.owner, granting(grant))]).toEqual([grant, [inGrants(path)]]);
  expect(
    await problemsOf(database.owner, granting({ unit: 'hq', validUntil: january }, 'hq', { unit: 'hq', source: 'hr' })),
  ).toEqual([`${inGrants('[1]')}: must not be that of ${inGrants('[0]')}`]);
  expect(await grants()).toEqual([]);
});
