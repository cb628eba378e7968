import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { acme, apply, everyRow, problemsOf, user } from './support.ts';

describe('provisioning units', () => {
  let database: EmptiedDatabase;

  beforeAll(async () => {
    database = await createEmptiedDatabase();
  });

  afterEach(() => database.empty());

  afterAll(() => database.drop());

  type Tree = { externalIdentifier: string; name: string; children: Tree[] };
  const unit = (name: string, ...children: Tree[]): Tree => ({
    externalIdentifier: name,
    name: name.toUpperCase(),
    children,
  });
  const chain = (names: string[]): Tree => {
    let below: Tree[] = [];
    for (const name of names.toReversed()) below = [unit(name, ...below)];
    return below[0] ?? unit('none');
  };
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `unit-${index}`);
  const place = (...units: Tree[]) => apply(database.owner, acme({ units }));

  /** `a/b/c` for each unit, as the triggers have it. */
  const paths = async (): Promise<string[]> => {
    const { rows } = await database.owner.query<{ path: string }>(
      `select string_agg(above.external_identifier, '/' order by array_position(u.ancestor_ids, above.id)) as path
       from app_public.units u join app_public.units above on above.id = any (u.ancestor_ids)
       group by u.id order by 1`,
    );
    return rows.map(({ path }) => path);
  };

  it('moves a unit with all below it to where the document has it', async () => {
    await place(unit('a', unit('b', unit('c', unit('d')))), unit('x'));

    await place(unit('x', unit('b', unit('c'))), unit('d'));

    expect(await paths()).toEqual(['a', 'd', 'x', 'x/b', 'x/b/c']);
  });

  it('turns a chain upside down', async () => {
    await place(chain(['a', 'b', 'c', 'd']));

    await place(chain(['d', 'c', 'b', 'a']));

    expect(await paths()).toEqual(['d', 'd/c', 'd/c/b', 'd/c/b/a']);
  });

  it('hangs new units below old ones and old ones below new ones', async () => {
    await place(unit('old', unit('leaf')));

    await place(unit('new', unit('old', unit('newer', unit('leaf')))));

    expect(await paths()).toEqual(['new', 'new/old', 'new/old/newer', 'new/old/newer/leaf']);
  });

  it('renames a unit without moving anything', async () => {
    await place(chain(['a', 'b']));
    const before = await everyRow(database.owner);

    const [renamed, below] = [
      { ...chain(['a', 'b']), name: 'Renamed' },
      { ...chain(['b']), name: 'Below' },
    ];
    await place({ ...renamed, children: [below] });

    const after = await everyRow(database.owner);
    expect(after['app_hidden.unit_ancestors']).toEqual(before['app_hidden.unit_ancestors']);
    const { rows } = await database.owner.query('select name from app_public.units order by external_identifier');
    expect(rows).toEqual([{ name: 'Renamed' }, { name: 'Below' }]);
  });

  it('takes a chain of 100, and refuses one of 5,000 without an overflow', async () => {
    await place(chain(numbered(100)));

    const { rows } = await database.owner.query('select max(cardinality(ancestor_ids)) as depth from app_public.units');
    expect(rows).toEqual([{ depth: 100 }]);
    expect(await problemsOf(database.owner, acme({ units: [unit('top'), chain(numbered(5000))] }))).toEqual([
      'organizations[0].units[1]: units are nested at most 1000 deep',
    ]);
  });

  it('grants access to a unit that the database alone has', async () => {
    await place(chain(['a', 'b']));

    await apply(database.owner, acme({ users: [{ ...user('u-1'), accessibleUnits: ['b', 'b'] }] }));
    const problems = await problemsOf(database.owner, {
      organizations: [{ name: 'Other', users: [{ ...user('u-1'), accessibleUnits: ['b'] }] }],
    });

    const { rows } = await database.owner.query(
      'select u.name from app_hidden.unit_access a join app_public.units u on u.id = a.unit_id',
    );
    expect(rows).toEqual([{ name: 'B' }]);
    expect(problems).toEqual(['organizations[0].users[0].accessibleUnits[0]: names no unit of this organization']);
  });

  it('neither fails nor deadlocks while others move units', async () => {
    await place(chain(numbered(20)), unit('elsewhere'));
    const move = (name: string, parent: string) =>
      database.owner.query(
        `update app_public.units set parent_id = (select id from app_public.units where external_identifier = $2)
         where external_identifier = $1`,
        [name, parent],
      );

    await Promise.all([
      place(chain(numbered(20).toReversed())),
      ...numbered(10).map((_, index) => move('elsewhere', `unit-${index}`)),
      place(chain(numbered(20))),
    ]);

    const all = await paths();
    expect(all).toContain(numbered(20).join('/'));
    expect(all).toHaveLength(21);
  });
});
