import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'postgraphile/graphql';
import { createPool } from '../../database/pool/pools.ts';
import { withClient } from '../../database/pool/withClient.ts';
import { buildGraph } from '../../graphql/schema/schema.ts';
import { createLog } from '../../log.ts';
import { readDatabaseObjects } from './databaseObjects.ts';
import { readDatabasePage } from './databasePage.ts';

/** A golden file (snapshot) of a database, which a person reviews whenever it changes. */
export type GoldenFile = {
  /** From the root of the repository. */
  readonly name: string;
  readonly url: URL;
  /** What the database gives. */
  readonly text: string;
  /** What the file says, laid out the same way; empty when it is missing or no schema. */
  readonly found: string;
};

/**
 * The golden files (snapshots) that do not say what the database gives.
 * They are the schema of GraphQL, `docs/database.md`, and each object of the database. An object that is gone has an empty text.
 */
export async function staleGoldenFiles(ownerUrl: string): Promise<GoldenFile[]> {
  const objects = await withClient(ownerUrl, readDatabaseObjects);
  const files = [
    await golden('graphql/schema.graphql', await readSchema(ownerUrl), (text) => sortedSdl(buildSchema(text))),
    await golden('../docs/database.md', await withClient(ownerUrl, readDatabasePage)),
    ...(await Promise.all([...objects].map(([path, text]) => golden(`${objectsFolder}/${path}`, text)))),
    ...(await Promise.all(
      (
        await listObjects()
      )
        .difference(objects)
        .values()
        .map((path) => golden(`${objectsFolder}/${path}`, '')),
    )),
  ];
  return files.filter(({ found, text }) => found !== text);
}

const objectsFolder = 'database/objects';

async function listObjects(): Promise<Set<string>> {
  const folder = new URL(`../../../test/${objectsFolder}`, import.meta.url);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  return new Set(files.map(({ parentPath, name }) => relative(fileURLToPath(folder), join(parentPath, name))));
}

/** Whether it is one of the files by object, which are many and are listed together. */
export const isOfObject = ({ name }: GoldenFile) => name.startsWith(`test/${objectsFolder}/`);

async function golden(path: string, text: string, normalize = (file: string) => file): Promise<GoldenFile> {
  const url = new URL(`../../../test/${path}`, import.meta.url);
  const found = await readFile(url, 'utf8')
    .then(normalize)
    .catch(() => '');
  return { name: relative(root, fileURLToPath(url)), url, text, found };
}

/**
 * What the database gives and the file has not (`+`), or the other way round (`-`).
 * As sets: a line that has only moved is no difference. Of a file that only one of them has, the first line stands for all.
 */
export function compareLines({ found, text }: Pick<GoldenFile, 'found' | 'text'>): string[] {
  if (found === '' || text === '') return [`${text ? '+' : '-'} ${(text || found).split('\n', 1)}`];
  const [old, given] = [linesOf(found), linesOf(text)];
  return [
    ...[...given.difference(old)].map((line) => `+ ${line.trim()}`),
    ...[...old.difference(given)].map((line) => `- ${line.trim()}`),
  ];
}

const linesOf = (text: string) => new Set(text.split('\n').filter((line) => line.trim() !== ''));

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** As the service builds it, whatever role reads the catalogue. @throws when it cannot be built */
export async function readSchema(url: string): Promise<string> {
  const pool = createPool(url, { poolSize: 1, poolWaitMs: 10_000, statementTimeoutMs: 60_000 }, createLog('silent'));
  try {
    const graph = await buildGraph(pool);
    await graph.release();
    return sortedSdl(graph.schema);
  } finally {
    await pool.end();
  }
}

/** In alphabetical order, so that a change of the database's own order is none. */
const sortedSdl = (schema: GraphQLSchema) => `${printSchema(lexicographicSortSchema(schema))}\n`;
