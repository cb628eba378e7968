import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = new Map<string, string>();
beforeAll(async () => {
  for (const folder of ['src', 'plugins']) {
    const files = await readdir(join(root, folder), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const path = join(folder, file);
      sources.set(path, withoutComments(await readFile(join(root, path), 'utf8')));
    }
  }
});

/** The files that this one imports, as paths from the root. */
function importsOf(path: string): string[] {
  const specifiers = (sources.get(path) ?? '').matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g);
  return [...specifiers].map(([, specifier = '']) => normalize(join(dirname(path), specifier)));
}

const inFolder = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

// A request travels main → service → app → http, oauth, token, graphql, tools → database, and imports go the same way.
test.each([
  ['src', 'src/main.ts'],
  ['src/app.ts', 'src/service.ts'],
  ['src/compose.ts', 'src/service.ts'],
  ...['src/http', 'src/oauth', 'src/token', 'src/graphql', 'src/tools', 'src/database'].flatMap((folder) =>
    ['src/service.ts', 'src/app.ts', 'src/compose.ts', 'src/admin', 'src/provisioning'].map((above) => [folder, above]),
  ),
  ...['http', 'oauth', 'token', 'graphql', 'tools'].map((folder) => ['src/database', `src/${folder}`]),
  ...['oauth', 'graphql', 'tools'].flatMap((folder) => [
    ['src/http', `src/${folder}`],
    ['src/token', `src/${folder}`],
  ]),
  ...['http', 'oauth', 'token', 'graphql', 'tools', 'database'].map((folder) => ['src/scheduling', `src/${folder}`]),
  ['src/oauth', 'src/graphql'],
  ['src/graphql', 'src/oauth'],
  ['src/oauth', 'plugins'],
  ['src/token', 'plugins'],
  ['src/database', 'plugins'],
  ['plugins', 'src'],
  ['src', 'test'],
  ['plugins', 'test'],
])('%s imports nothing from %s', (from = '', to = '') => {
  const importing = [...sources.keys()].filter((path) => inFolder(path, from));

  const imports = importing.flatMap((path) => importsOf(path).map((imported) => [path, imported] as const));

  expect(imports).not.toEqual([]);
  expect(imports.filter(([, imported]) => inFolder(imported, to))).toEqual([]);
});

test('every import is of a file that is there', () => {
  const missing = [...sources.keys()].flatMap((path) =>
    importsOf(path)
      .filter((imported) => imported.endsWith('.ts') && !imported.endsWith('.d.ts') && !sources.has(imported))
      .map((imported) => `${path} imports ${imported}`),
  );

  expect(missing).toEqual([]);
});

test('only main.ts touches the environment', () => {
  const touching = [...sources].filter(([, source]) =>
    /\bprocess\s*\.\s*env\b|\bprocess\s*\[|node:process/.test(source),
  );

  expect(touching.map(([path]) => path)).toEqual(['src/main.ts']);
});

// Which rows a token may see is decided by row-level security alone. Of the graph's own conditions each is here.
test('no TypeScript decides about rows but by what a client has asked for', () => {
  const conditions = [...sources]
    .filter(([path]) => inFolder(path, 'plugins') || inFolder(path, 'src/graphql'))
    .flatMap(([path, source]) =>
      source
        .split('\n')
        .filter((line) => /\bwhere\b|\bhaving\b|\bconditions?\b/i.test(line))
        .map((line) => [path, line.trim().replaceAll('${', '{').replace('sql`', 'sql ').replace('`', '')]),
    );

  expect(conditions.toSorted()).toEqual([
    ['plugins/AccessibleUnitsPlugin.ts', 'conditions: [sql {alias}.id = {query.alias}.id],'],
    [
      'plugins/ColumnFiltersPlugin.ts',
      'query.where(sql starts_with({columnOf(query, attribute)}, {sqlValueWithCodec(value, TYPES.text)})),',
    ],
    [
      'plugins/ColumnFiltersPlugin.ts',
      'query.where(sql {columnOf(query, attribute)} {operator} {sqlValueWithCodec(value, codec)}),',
    ],
    ['plugins/ColumnFiltersPlugin.ts', 'return (query) => query.where(sql {columnOf(query, attribute)} {test});'],
    ['plugins/ConnectionArgumentsPlugin.ts', 'else if (keys.length === 0) query.where(sql false);'],
    [
      'plugins/ConnectionArgumentsPlugin.ts',
      'if (columns.length === 1) query.where(sql {columns[0] as SQL} = any ({lists[0] as SQL}));',
    ],
    [
      'plugins/ConnectionArgumentsPlugin.ts',
      "query.where(sql ({sql.join(columns, ', ')}) in (select * from unnest({sql.join(lists, ', ')})));",
    ],
    [
      'plugins/ConnectionArgumentsPlugin.ts',
      'query.where(sql {query.alias}.{sql.identifier(attribute)} = any ({sqlValueWithCodec(values, codec)}));',
    ],
    [
      'plugins/NodeTypePlugin.ts',
      '$rows.where(sql {$rows.alias}.{sql.identifier(typeColumn)} = {sql.literal(value)});',
    ],
    ['plugins/RootUnitsPlugin.ts', '$units.where(sql {$units.alias}.parent_id is null);'],
    [
      'plugins/UserMutationsPlugin.ts',
      "text: 'select from app_public.users where external_authentication_token_hash = $1 and id <> $2',",
    ],
    ['plugins/UserMutationsPlugin.ts', "text: 'select id from app_public.users where external_identifier = $1',"],
  ]);
});

/** Comments may speak of what code may not do. */
function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
