// A release is a version in package.json, a heading in CHANGELOG.md and, from 1.0.0 on, a line in migrations/released.txt: all or none.
import { readReleases } from '../../src/commands/development/releasedMigrations.ts';
import { readPage } from './pages.ts';

test('the newest heading of the changes is the version of the package, and those from 1.0.0 on have their migrations', async () => {
  const headings = Array.from(
    (await readPage('CHANGELOG.md')).matchAll(/^## (\d\S*?)(,|$)/gm),
    ([, version]) => version,
  );
  const [{ version }, lock] = await Promise.all(
    ['package.json', 'package-lock.json'].map(async (file) => JSON.parse(await readPage(file))),
  );

  expect([headings[0], lock.version, lock.packages[''].version]).toEqual([version, version, version]);
  const released = (await readReleases()).map((release) => release.version);
  expect(released.toReversed()).toEqual(headings.filter((heading) => !heading?.startsWith('0.')));
});
