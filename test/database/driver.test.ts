import { readFile } from 'node:fs/promises';
import { assertDriverVersion } from '../../src/database/driver/driver.ts';

describe('the version of the driver', () => {
  it('is the one whose private fields are known', async () => {
    const { dependencies } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));

    expect(() => assertDriverVersion()).not.toThrow();
    expect(() => assertDriverVersion(dependencies.pg)).not.toThrow();
  });

  it('that is another one is refused with what to do', () => {
    expect(() => assertDriverVersion('8.99.0')).toThrow(
      /^pg is 8\.99\.0, and src\/database\/driver uses fields of pg [\d.]+ that are private\. Install [\d.]+, or compare/,
    );
  });
});
