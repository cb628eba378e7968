import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'postgraphile/graphql';
import { readCommitted } from '../../database/migrations/committedMigrations.ts';
import { createPool } from '../../database/pool/pools.ts';
import { withClient } from '../../database/pool/transactions.ts';
import { createLog } from '../../log.ts';
import { catalogueOf, type ObjectPart, objectPath, objectTexts, readObjectParts } from './databaseObjects.ts';
import { readDatabasePage } from './databasePage.ts';
import { splitAtBaseline } from './releasedMigrations.ts';

/** A golden file (snapshot) of a database, which a person reviews whenever it changes. */
export type GoldenFile = {
  /** From the root of the repository. */
  readonly name: string;
  readonly url: URL;
  /** The text made from the database; empty for an object that is gone. */
  readonly text: string;
};

/**
 * The golden files (snapshots) that differ from the database.
 * They are the schema of GraphQL, `docs/database.md`, the catalogue, and the text of each object that a migration after the baseline
 * changes: of the others, the one migration that makes them has it.
 *
 * @param given the parts of the database's objects, if they have been read
 */
export async function staleGoldenFiles(ownerUrl: string, given?: readonly ObjectPart[]): Promise<GoldenFile[]> {
  const parts = given ?? (await withClient(ownerUrl, readObjectParts));
  const { baseline, later } = splitAtBaseline(await readCommitted());
  const changed = changedObjects(...[baseline, later].map((files) => files.map(({ body }) => body)));
  const objects = new Map([...objectTexts(parts)].filter(([path]) => changed.has(path)));
  const gone = [...(await listObjects()).difference(objects)].map((path) => [path, ''] as const);
  const files = await Promise.all([
    compare('test/graphql/schema.graphql', await readSchema(ownerUrl), (text) => sortedSdl(buildSchema(text))),
    compare('docs/database.md', await withClient(ownerUrl, (client) => readDatabasePage(client, parts))),
    compare('test/database/catalogue.sql', catalogueOf(parts)),
    ...[...objects, ...gone].map(([path, text]) => compare(`${objectsFolder}/${path}`, text)),
  ]);
  return files.filter((file) => file !== null);
}

/** The paths of the objects that a later migration and one before it define, alter, comment on or grant. */
export function changedObjects(baseline: readonly string[] = [], later: readonly string[] = []): Set<string> {
  const made = new Set(baseline.flatMap(definedObjects));
  return new Set(
    later.flatMap((text) => {
      const known = definedObjects(text).filter((path) => made.has(path));
      for (const path of definedObjects(text)) made.add(path);
      return known;
    }),
  );
}

/** By the words before a name; of `grant … on a, b` both. Types of arguments are left out. */
const definedObjects = (text: string): string[] =>
  [...text.replace(/\([^()]*\)/g, '').matchAll(definition)].flatMap(([, list = '']) =>
    list.split(',').map((name) => objectPath(...name.trim().replaceAll('"', '').split('.'))),
  );

const definition =
  /(?<!\bexecute )\b(?:on|table|view|function|procedure|aggregate|type|domain|column)\s+(?:if (?:not )?exists\s+)?((?:(?:,\s*)?(?:\w+|"[^"]+")\.(?:\w+|"[^"]+"))+)/gi;

const objectsFolder = 'test/database/objects';

const root = new URL('../../../', import.meta.url);

async function listObjects(): Promise<Set<string>> {
  const folder = fileURLToPath(new URL(objectsFolder, root));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  return new Set(files.map(({ parentPath, name }) => relative(folder, join(parentPath, name))));
}

/** @param normalize gives the file the layout of `text`. @returns null when they are the same */
async function compare(name: string, text: string, normalize = (file: string) => file): Promise<GoldenFile | null> {
  // An odd name is encoded in the path already.
  const url = pathToFileURL(join(fileURLToPath(root), name));
  const found = await readFile(url, 'utf8')
    .then(normalize)
    .catch(() => '');
  return found === text ? null : { name, url, text };
}

/** The schema as the service builds it, for any role that reads the catalogue. @throws when that fails */
export async function readSchema(url: string): Promise<string> {
  const pool = createPool(url, { poolSize: 1, poolWaitMs: 10_000, statementTimeoutMs: 60_000 }, createLog('silent'));
  try {
    // PostGraphile loads for a second, which a command that ends before it has built a schema does without.
    const { buildGraph } = await import('../../graphql/schema/schema.ts');
    const graph = await buildGraph(pool);
    await graph.release();
    return sortedSdl(graph.schema);
  } finally {
    await pool.end();
  }
}

/** In alphabetical order, so that a change of order in the database is no difference. */
const sortedSdl = (schema: GraphQLSchema) => `${printSchema(lexicographicSortSchema(schema))}\n`;
