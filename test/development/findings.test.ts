import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Copy, createCopy } from './createCopy.ts';
import { comment, readDoors, replace, undone } from './findingCases.ts';
import { type Dev, placesIn, startDev } from './startDev.ts';

// Each case is in test/system/findings.system.ts, and what the database finds of it in test/database/graphLints.test.ts.

let copy: Copy;
let dev: Dev;
let doors: string;
beforeAll(async () => {
  doors = await readDoors();
  copy = await createCopy();
  dev = await startDev(copy);
});
afterAll(async () => {
  await dev.stop();
  await copy.remove();
});

describe('npm run dev', () => {
  test('says once what stays as it is, and again what comes back', async () => {
    const wrong = `${undone}\n${comment('@filtr names')(doors)}`;

    expect(placesIn(await dev.save(wrong))).toHaveLength(1);
    expect(placesIn(await dev.save(`${wrong}-- More.\n`))).toEqual([]);
    expect(placesIn(await dev.save(`${undone}\n${doors}`))).toEqual([]);
    expect(placesIn(await dev.save(wrong))).toHaveLength(1);
  });
});

describe('npm run db:commit', () => {
  const commit = () => copy.run(['commit', 'doors']);
  const committed = () => readdir(join(copy.root, 'migrations/committed'));

  test('refuses a migration that leaves a table without row-level security', async () => {
    const before = await committed();
    await copy.save(`${undone}\n${replace(/alter table app_public.doors enable row.*/, '')(doors)}`);

    const { code, output } = await commit();

    expect(code).toBe(1);
    expect(output).toMatch(/^Nothing is committed\.\nmigrations\/current\.sql:\d+: /);
    expect(output).toMatch(/error: app_public\.doors postgres row-level security is off/);
    expect(await committed()).toEqual(before);
  });

  test('warns of what may be meant so, and commits it', async () => {
    await copy.save(`${undone}\n${doors.replace('\\nA door of a unit.', '')}`);

    const { code, output } = await commit();

    expect(output).toMatch(
      /^migrations\/current\.sql:\d+: warning: app_public\.doors has no description.*\nCommitted\./,
    );
    expect(code).toBe(0);
  });

  test('says nothing of what was committed before, and nothing where nothing is wrong', async () => {
    await copy.save(`comment on column app_public.doors.id is 'Id.';\n`);

    expect(await commit()).toEqual({ code: 0, output: expect.stringMatching(/^Committed\./) });
  });
});
