import { type Copy, createCopy } from '../development/createCopy.ts';
import { findingCases, readDoors, undone } from '../development/findingCases.ts';
import { type Dev, placesIn, startDev } from '../development/startDev.ts';

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
