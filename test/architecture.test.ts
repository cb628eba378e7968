import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = new Map<string, string>();
beforeAll(async () => {
  for (const folder of ['src', 'plugins', 'packages']) {
    const files = await readdir(join(root, folder), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.ts') && !/(^|\/)(test|node_modules)\//.test(name))) {
      const path = join(folder, file);
      sources.set(path, withoutComments(await readFile(join(root, path), 'utf8')));
    }
  }
});

/**
 * The way of a request, from top to bottom: what stands in a line may use the lines below and never its own or one above. So the OAuth
 * server and the graph know nothing of each other; they meet at the claims.
 */
const layers = [
  ['src/main.ts'],
  ['src/commands'],
  ['src/workers'],
  ['src/service'],
  ['src/provisioning'],
  ['src/pages'],
  ['src/graphql', 'src/authzen', 'src/oauth'],
  ['src/html'],
  ['src/http'],
  ['src/webhooks'],
  ['src/replica'],
  ['src/token'],
  ['src/crypto'],
  ['src/database'],
  ['src/scheduling'],
  ['src/observability'],
  ['src/config.ts'],
  ['src/variables.ts'],
  ['src/connectionUrl.ts'],
  ['src/errors'],
  ['src/log.ts', 'src/repeat.ts'],
  // The table of scopes: roles of PostgreSQL derive from it, too.
  ['src/token/scopes.ts'],
  ['plugins'],
  ['packages'],
];

const inFolder = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
/** The most specific one, such as a file in another folder's place. */
const partOf = (path: string) =>
  layers
    .flat()
    .filter((part) => inFolder(path, part))
    .toSorted((one, other) => other.length - one.length)[0];
const levelOf = (path: string) => layers.findIndex((parts) => parts.some((part) => part === partOf(path)));

/** Paths from the root of what a file imports, or reads by its path. */
function usesOf(path: string): string[] {
  const specifiers = (sources.get(path) ?? '').matchAll(/(['"`])(\.\.?\/[^'"`\s]*)\1/g);
  return [...specifiers].map(([, , specifier = '']) => normalize(join(dirname(path), specifier)));
}

test('every file belongs to a layer', () => {
  expect([...sources.keys()].filter((path) => levelOf(path) === -1)).toEqual([]);
});

test('layers are used downwards only', () => {
  const uses = [...sources.keys()].flatMap((path) => usesOf(path).map((used) => [path, used] as const));
  const upwards = uses.filter(
    ([path, used]) => partOf(path) !== partOf(used) && levelOf(used) !== -1 && levelOf(used) <= levelOf(path),
  );

  expect(uses.length).toBeGreaterThan(1000);
  expect(upwards.map(([path, used]) => `${path} uses ${used}`)).toEqual([]);
});

/** The package that a path belongs to, if any. */
const packageOf = (path: string) => /^packages\/[^/]+/.exec(path)?.[0];

test('a package imports no file but its own, and is imported by its name', () => {
  const crossing = [...sources.keys()].flatMap((path) =>
    usesOf(path)
      .filter((used) => packageOf(path) !== packageOf(used))
      .map((used) => `${path} uses ${used}`),
  );

  expect([...sources.keys()].filter(packageOf).length).toBeGreaterThan(15);
  expect(crossing.filter((use) => use.includes('packages/'))).toEqual([]);
});

test('a package imports exactly the packages that its package.json names', async () => {
  const found = [...sources].flatMap(([path, source]) =>
    [...source.matchAll(/(?:from|import|import\()\s*'([^'.\s][^'\s]*)'/g)].map(([, specifier = '']) => ({
      folder: packageOf(path),
      name: /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '',
    })),
  );
  for (const folder of new Set(found.map((one) => one.folder).filter((one) => one !== undefined))) {
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(
      await readFile(join(root, folder, 'package.json'), 'utf8'),
    );
    const imported = new Set(found.filter((one) => one.folder === folder).map(({ name }) => name));

    expect([...imported].filter((name) => !name.startsWith('node:')).toSorted()).toEqual(
      Object.keys({ ...dependencies, ...peerDependencies }).toSorted(),
    );
  }
});

test('nothing imports tests or benches', () => {
  const uses = [...sources.keys()].flatMap(usesOf);

  expect(uses.filter((used) => /^((packages\/[^/]+\/)?test|bench)\/.*\.ts$/.test(used))).toEqual([]);
});

// Circles of types, too: they would have to be read together.
test('no files import each other in a circle', () => {
  const isDone = new Set<string>();
  const circles: string[][] = [];
  const visit = (path: string, above: readonly string[]) => {
    if (above.includes(path)) circles.push([...above.slice(above.indexOf(path)), path]);
    if (above.includes(path) || isDone.has(path)) return;
    for (const used of usesOf(path)) if (sources.has(used)) visit(used, [...above, path]);
    isDone.add(path);
  };
  for (const path of sources.keys()) visit(path, []);

  expect(circles).toEqual([]);
});

test('every import is of a file that is there', () => {
  const missing = [...sources.keys()].flatMap((path) =>
    usesOf(path)
      .filter((used) => used.endsWith('.ts') && !used.endsWith('.d.ts') && !sources.has(used))
      .map((used) => `${path} imports ${used}`),
  );

  expect(missing).toEqual([]);
});

test("only src/database/driver uses the driver's private fields", () => {
  const privateFields =
    /\b(_getActiveQuery|_handleErrorMessage|parsedStatements|submittedNamedStatements|processID|secretKey:)\b/;
  const using = [...sources].filter(
    ([path, source]) => !inFolder(path, 'src/database/driver') && privateFields.test(source),
  );

  expect(using.map(([path]) => path)).toEqual([]);
});

// A machine's own Node.js may be a version 22.
test('nothing uses what came with Node.js 24', () => {
  const newer =
    /\bError\.isError\b|\b(Async)?DisposableStack\b|\bRegExp\.escape\b|\busing \w+ =|\bimport\.meta\.main\b/;

  expect([...sources].filter(([, source]) => newer.test(source)).map(([path]) => path)).toEqual([]);
});

test('only main.ts touches the environment', () => {
  const touching = [...sources].filter(([, source]) =>
    /\bprocess\s*\.\s*env\b|\bprocess\s*\[|node:process/.test(source),
  );

  expect(touching.map(([path]) => path)).toEqual(['src/main.ts']);
});

// Two services in one process would share it. A WeakMap keyed by an object of one service is that service's own.
test('no module has state of its own', () => {
  const stateIn = (source: string) => {
    const collections = source.matchAll(/^(?:export )?const (\w+)(?:: .+)? = (?:new (?:Map|Set|LRUCache)\b|\[)/gm);
    const changed = [...collections].filter(([, name]) =>
      new RegExp(`(?<![\\w.])${name}\\.(set|add|delete|clear|push|pop|shift|splice)\\(`).test(source),
    );
    return [...changed.map(([, name]) => name), ...(source.match(/^(export )?(let|var) .*/gm) ?? [])];
  };
  const found = [...sources].flatMap(([path, source]) => stateIn(source).map((state) => `${path}: ${state}`));

  expect(stateIn('const known = new Map<string, true>();\nknown.set(key, true);\nlet last = 0;')).toHaveLength(2);
  expect(found).toEqual([]);
});

// Which rows a token may see is decided by row-level security alone. Of the graph's own conditions each is here.
test('no TypeScript decides about rows but by what a client has asked for', () => {
  const conditions = [...sources]
    .filter(([path]) => ['plugins', 'packages/grafast-compile', 'src/graphql'].some((folder) => inFolder(path, folder)))
    .flatMap(([path, source]) =>
      source
        .split('\n')
        .filter((line) => /\bwhere\b|\bhaving\b|\bconditions?\b/i.test(line))
        .map((line) => [path, line.trim().replaceAll('${', '{').replace('sql`', 'sql ').replace('`', '')]),
    );

  expect(conditions.toSorted()).toEqual([
    // What the filters below add is recorded on its way to the statement.
    ['packages/grafast-compile/src/statementParts.ts', 'this.#recorded.push((query) => query.where(visited));'],
    ['packages/grafast-compile/src/statementParts.ts', "this.#visit?.text('where');"],
    ['packages/grafast-compile/src/statementParts.ts', 'where(expression: SQL): void {'],
    ['plugins/AccessibleUnitsPlugin.ts', 'conditions: [sql {alias}.id = {query.alias}.id],'],
    [
      'plugins/ColumnFiltersPlugin.ts',
      'query.where(sql starts_with({columnOf(query, attribute)} collate "C", {sqlValueWithCodec(value, TYPES.text)})),',
    ],
    [
      'plugins/ColumnFiltersPlugin.ts',
      'query.where(sql {comparable(query, attribute, codec)} {operator} {sqlValueWithCodec(value, baseOf(codec))}),',
    ],
    [
      'plugins/ColumnFiltersPlugin.ts',
      'return (query) => query.where(sql {columnOf(query, attribute)} = any (array(select {folded})));',
    ],
    ['plugins/ColumnFiltersPlugin.ts', 'return (query) => query.where(sql {columnOf(query, attribute)} {test});'],
    [
      'plugins/ColumnFiltersPlugin.ts',
      'return (query) => query.where(sql {comparable(query, attribute, codec)} = any ({list}));',
    ],
    ['plugins/ConnectionArgumentsPlugin.ts', 'else if (rows.length === 0) query.where(sql false);'],
    [
      'plugins/ConnectionArgumentsPlugin.ts',
      'if (columns.length === 1) query.where(sql {columns[0] as SQL} = any ({lists[0] as SQL}));',
    ],
    [
      'plugins/ConnectionArgumentsPlugin.ts',
      "query.where(sql ({sql.join(columns, ', ')}) in (select * from unnest({sql.join(lists, ', ')})));",
    ],
    // What a migration says.
    ['plugins/ConnectionsPlugin.ts', '$rows.where(sql(Object.assign([...texts], { raw: texts }), ...values));'],
    [
      'plugins/ConnectionsPlugin.ts',
      "const [path = '', expression = '', description = '', ...more] = String(tag).split(/\\|@(?:where|description) /);",
    ],
    [
      'plugins/ConnectionsPlugin.ts',
      'throw new Error({resource.name}: "@connection {tag}" is not <type>.<field>|@where …|@description …`);',
    ],
    [
      'plugins/ExternalAuthenticationTokenPlugin.ts',
      "text: 'select external_identifier, id from app_public.users where external_identifier = any ($1)',",
    ],
    // Which tables the feed follows.
    [
      'plugins/FollowedTypesPlugin.ts',
      "where t.tgname = 'follow_insert' and s.nspname = 'feed' and p.proname = 'record_rows' and not t.tgisinternal",
    ],
    [
      'plugins/KeyFiltersPlugin.ts',
      "query.where(sql ({sql.join(names, ', ')}) in (select * from unnest({sql.join(lists, ', ')})));",
    ],
    [
      'plugins/NodeTypePlugin.ts',
      '$rows.where(sql {$rows.alias}.{sql.identifier(typeColumn)} = {sql.literal(value)});',
    ],
    // What a function of SQL says that it raises, for the documentation.
    [
      'plugins/RaisedErrorsPlugin.ts',
      "Array.from(withoutComments(text).matchAll(raise), ([, condition = '', options = '']) => {",
    ],
    ['plugins/RaisedErrorsPlugin.ts', 'readonly condition: string;'],
    [
      'plugins/RaisedErrorsPlugin.ts',
      'return message === undefined ? [] : [{ condition, message, arguments: named.toSorted() }];',
    ],
    ['plugins/RootFieldsPlugin.ts', '$rows.where(sql {$rows.alias}.id = (select {claim}));'],
    // The types of changes that a client has asked for.
    ['plugins/changeFeed.ts', 'where exists ('],
    ['plugins/changeFeed.ts', 'where wanted.relation = s.relation and wanted.type is not distinct from s.type)'],
    // Where PostgreSQL says that an error is.
    ['src/graphql/errors.ts', "const { where: context = '' } = error;"],
  ]);
});

/** Comments may speak of what code may not do. */
function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

test('one file can be read at once: it has at most 600 lines', async () => {
  const long: string[] = [];
  let count = 0;
  for (const folder of ['src', 'plugins', 'packages', 'bench', 'test']) {
    const files = await readdir(join(root, folder), { recursive: true });
    for (const file of files.filter((name) => /\.(ts|css)$/.test(name) && !/(^|\/)node_modules\//.test(name))) {
      const path = join(folder, file);
      // A page has one style sheet, as each further one is a further request.
      if (path === 'src/pages/browser/documentation.css') continue;
      count++;
      const lines = (await readFile(join(root, path), 'utf8')).split('\n').length - 1;
      if (lines > 600) long.push(`${path}: ${lines}`);
    }
  }

  expect(count).toBeGreaterThan(1000);
  expect(long).toEqual([]);
});
