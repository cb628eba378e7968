import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  add,
  comment,
  commentOn,
  create,
  findingCases,
  readDoors,
  replace,
  undone,
} from '../development/findingCases.ts';
import { type Dev, placesIn, startDev } from '../development/startDev.ts';

let dev: Dev;
let doors: string;
beforeAll(async () => {
  doors = await readDoors();
  dev = await startDev();
});
afterAll(() => dev.stop());

test.each(findingCases)(
  'npm run dev says what is wrong about %s, and where; and nothing when it is right',
  async (_, where, said, wrong, right) => {
    const sql = `${undone}\n${wrong(doors)}`;
    const line = sql.slice(0, sql.indexOf(where)).split('\n').length;

    const report = await dev.save(sql);
    expect(report.split('\n').filter((text) => said.test(text))).toEqual([
      expect.stringContaining(`migrations/current.sql:${line}: `),
    ]);

    expect(placesIn(await dev.save(`${undone}\n${right(doors)}`))).toEqual([]);
  },
);

describe('npm run db:commit', () => {
  const commit = () => dev.copy.run(['commit', 'doors']);
  const committed = () => readdir(join(dev.copy.root, 'migrations/committed'));

  test.each([
    ['that the graph ignores in part', comment('@filtr names'), /error: app_public\.doors\.name says @filtr/],
    [
      'whose graph cannot be built',
      add(create(), commentOn('door_create(uuid, text)', '@param {Unitt} unitId Its unit.')),
      /The schema cannot be built: .*\{Unitt\}/,
    ],
  ])('refuses a migration %s', async (_, wrong, said) => {
    const before = await committed();
    await dev.copy.save(`${undone}\n${wrong(doors)}`);

    const { code, output } = await commit();

    expect(code).toBe(1);
    expect(output).toMatch(/^Nothing is committed\.\nmigrations\/current\.sql:\d+: /);
    expect(output).toMatch(said);
    expect(await committed()).toEqual(before);
  });

  test('refuses a migration that leaves a table without row-level security', async () => {
    const before = await committed();
    await dev.copy.save(`${undone}\n${replace(/alter table app_public.doors enable row.*/, '')(doors)}`);

    const { code, output } = await commit();

    expect(code).toBe(1);
    expect(output).toMatch(/^Nothing is committed\.\nmigrations\/current\.sql:\d+: /);
    expect(output).toMatch(/error: app_public\.doors postgres row-level security is off/);
    expect(await committed()).toEqual(before);
  });

  test('warns of what may be meant so, and commits it', async () => {
    await dev.copy.save(`${undone}\n${doors.replace('\\nA door of a unit.', '')}`);

    const { code, output } = await commit();

    expect(output).toMatch(
      /^migrations\/current\.sql:\d+: warning: app_public\.doors has no description.*\n.*create table app_public\.doors \(\nCommitted\./,
    );
    expect(code).toBe(0);
  });

  test('says nothing of what was committed before, and nothing where nothing is wrong', async () => {
    await dev.copy.save(`comment on column app_public.doors.id is 'Id.';\n`);

    expect(await commit()).toEqual({ code: 0, output: expect.stringMatching(/^Committed\./) });
  });
});
