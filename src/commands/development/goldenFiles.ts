import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'postgraphile/graphql';
import { createPool } from '../../database/pool/pools.ts';
import { buildGraph } from '../../graphql/schema/schema.ts';
import { createLog } from '../../log.ts';
import { policies, privileges } from './permissions.ts';

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
 * Those of the golden files that do not say what the database gives.
 * Tests compare them: the schema, the policies and the privileges.
 */
export async function staleGoldenFiles(ownerUrl: string): Promise<GoldenFile[]> {
  const owner = new Pool({ connectionString: ownerUrl, max: 1 });
  try {
    const lines = async (statement: string) => {
      const { rows } = await owner.query<[string]>({ text: statement, rowMode: 'array' });
      return rows.map(([line]) => line);
    };
    const files = [
      await golden('graphql/schema.graphql', await readSchema(ownerUrl), (text) => sortedSdl(buildSchema(text))),
      await golden('database/policies.txt', (await lines(policies)).join('\n')),
      await golden('database/privileges.txt', `${(await lines(privileges)).join('\n')}\n`),
    ];
    return files.filter(({ found, text }) => found !== text);
  } finally {
    await owner.end();
  }
}

async function golden(path: string, text: string, normalize = (file: string) => file): Promise<GoldenFile> {
  const url = new URL(`../../../test/${path}`, import.meta.url);
  const found = await readFile(url, 'utf8')
    .then(normalize)
    .catch(() => '');
  return { name: relative(root, fileURLToPath(url)), url, text, found };
}

/**
 * What the database gives and the file has not (`+`), or the other way round (`-`).
 * As sets: a line that has only moved is no difference.
 */
export function compareLines({ found, text }: GoldenFile): string[] {
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
