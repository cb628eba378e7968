// A release is a version in package.json, a heading in CHANGELOG.md and, once 1.0.0 or later is published, a line in migrations/released.txt.
import { readReleases } from '../../src/commands/development/releasedMigrations.ts';
import { readPage } from './pages.ts';

test('the newest heading of the changes is the version of the package, and those that are published from 1.0.0 on have their migrations', async () => {
  const headings = Array.from(
    (await readPage('CHANGELOG.md')).matchAll(/^## (\d\S*?)(,|$)/gm),
    ([, version]) => version,
  );
  const [{ version }, lock] = await Promise.all(
    ['package.json', 'package-lock.json'].map(async (file) => JSON.parse(await readPage(file))),
  );

  expect([headings[0], lock.version, lock.packages[''].version]).toEqual([version, version, version]);
  const released = (await readReleases()).map((release) => release.version);
  const stable = headings.filter((heading) => !heading?.startsWith('0.'));
  // The newest has no line until it is published.
  expect([stable, stable.slice(1)]).toContainEqual(released.toReversed());
});
