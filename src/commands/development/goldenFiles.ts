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
  /** The text made from the database. */
  readonly text: string;
  /** The text of the file in the same layout; empty when it is missing or no schema. */
  readonly found: string;
};

/**
 * The golden files (snapshots) that differ from the database.
 * They are the schema of GraphQL, `docs/database.md`, and each object of the database. A deleted object has an empty text.
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

/** Whether it is one of the many files by object, which are listed together. */
export const isOfObject = ({ name }: GoldenFile) => name.startsWith(`test/${objectsFolder}/`);

async function golden(path: string, text: string, normalize = (file: string) => file): Promise<GoldenFile> {
  const url = new URL(`../../../test/${path}`, import.meta.url);
  const found = await readFile(url, 'utf8')
    .then(normalize)
    .catch(() => '');
  return { name: relative(root, fileURLToPath(url)), url, text, found };
}

/**
 * The lines that only the database has (`+`), and those that only the file has (`-`).
 * As sets, so a line that has only moved is no difference. If one side has no text, the other's first line stands for all.
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

/** The schema as the service builds it, for any role that reads the catalogue. @throws when that fails */
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

/** In alphabetical order, so that a change of order in the database is no difference. */
const sortedSdl = (schema: GraphQLSchema) => `${printSchema(lexicographicSortSchema(schema))}\n`;
