import { comment, readDoors, undone } from './findingCases.ts';
import { type Dev, placesIn, startDev } from './startDev.ts';

// Each case is in test/system/findings.system.ts, and what the database finds of it in test/database/graphLints.test.ts.

let dev: Dev;
let doors: string;
beforeAll(async () => {
  doors = await readDoors();
  dev = await startDev();
});
afterAll(() => dev.stop());

describe('npm run dev', () => {
  test('says once what stays as it is, and again what comes back', async () => {
    const wrong = `${undone}\n${comment('@filtr names')(doors)}`;

    expect(placesIn(await dev.save(wrong))).toHaveLength(1);
    expect(placesIn(await dev.save(`${wrong}-- More.\n`))).toEqual([]);
    expect(placesIn(await dev.save(`${undone}\n${doors}`))).toEqual([]);
    expect(placesIn(await dev.save(wrong))).toHaveLength(1);
  });
});
