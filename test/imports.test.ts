import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The way down: what stands in a line may import from the lines below and never from its own or one above. So the OAuth
 * server and the graph know nothing of each other; they meet at the claims.
 */
const layers = [
  ['src/main.ts'],
  ['src/service.ts', 'src/admin', 'src/audit'],
  ['src/app.ts', 'src/compose.ts', 'src/startupBanner.ts'],
  ['src/provisioning'],
  ['src/tools', 'src/metrics'],
  ['src/oauth', 'src/graphql'],
  ['src/token'],
  ['src/http'],
  ['src/database'],
  ['plugins', 'src/tracing'],
];

describe('the source', () => {
  it('is imported downwards only', async () => {
    const upwards: string[] = [];
    for (const file of await sources('{src,plugins}/**/*.ts')) {
      for (const imported of await importsOf(file)) {
        const [from, to] = [layerOf(file), layerOf(imported)];
        const within = partOf(file) === partOf(imported);
        if (!within && from !== -1 && to !== -1 && to <= from) upwards.push(`${file} imports ${imported}`);
      }
    }

    expect(upwards).toEqual([]);
  });

  it('has plugins that stand alone', async () => {
    const files = await sources('plugins/**/*.ts');
    const imports = (await Promise.all(files.map(importsOf))).flat();

    expect(imports.length).toBeGreaterThan(0);
    expect(imports.filter((imported) => !imported.startsWith('plugins/'))).toEqual([]);
  });

  it('reads the environment in one place', async () => {
    const readers: string[] = [];
    for (const file of await sources('{src,plugins}/**/*.ts')) {
      if (/process\.env\b/.test(await read(file))) readers.push(file);
    }

    expect(readers).toEqual(['src/main.ts']);
  });
});

const sources = (pattern: string): Promise<string[]> => Array.fromAsync(glob(pattern, { cwd: root }));

const read = (file: string) => readFile(join(root, file), 'utf8');

/** What the file imports of this repository, as paths from its root. */
async function importsOf(file: string): Promise<string[]> {
  const found = (await read(file)).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g);
  return [...found].map(([, path = '']) => normalize(join(dirname(file), path)));
}

const partOf = (file: string) => layers.flat().find((part) => file === part || file.startsWith(`${part}/`));

const layerOf = (file: string) => layers.findIndex((parts) => parts.some((part) => part === partOf(file)));
