import { readFile, writeFile } from 'node:fs/promises';
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
  /** Whether the file says the same; how it is laid out does not matter. */
  isUpToDate(): Promise<boolean>;
  /** What the database gives and the file has not (`+`), or the other way round (`-`). */
  differences(): Promise<string[]>;
};

/** The schema, policies and privileges of a database, beside the golden files that tests compare. */
export async function goldenFiles(ownerUrl: string): Promise<GoldenFile[]> {
  const owner = new Pool({ connectionString: ownerUrl, max: 1 });
  try {
    const lines = async (statement: string) => {
      const { rows } = await owner.query<[string]>({ text: statement, rowMode: 'array' });
      return rows.map(([line]) => line);
    };
    return [
      golden('graphql/schema.graphql', await readSchema(ownerUrl), (text) => sortedSdl(buildSchema(text))),
      golden('database/policies.txt', (await lines(policies)).join('\n')),
      golden('database/privileges.txt', `${(await lines(privileges)).join('\n')}\n`),
    ];
  } finally {
    await owner.end();
  }
}

/** Writes what differs. @returns the names of the files that were written */
export async function writeGoldenFiles(files: readonly GoldenFile[]): Promise<string[]> {
  const written: string[] = [];
  for (const file of files) {
    if (await file.isUpToDate()) continue;
    await writeFile(file.url, file.text);
    written.push(file.name);
  }
  return written;
}

function golden(path: string, text: string, normalize = (file: string) => file): GoldenFile {
  const url = new URL(`../../../test/${path}`, import.meta.url);
  const read = async () => {
    try {
      return normalize(await readFile(url, 'utf8'));
    } catch {
      // It is missing, or no schema.
      return '';
    }
  };
  return {
    name: relative(root, fileURLToPath(url)),
    url,
    text,
    isUpToDate: async () => (await read()) === text,
    differences: async () => compareLines(await read(), text),
  };
}

/** As sets: a line that has only moved is no difference. */
function compareLines(before: string, after: string): string[] {
  const [old, given] = [before, after].map((text) => new Set(text.split('\n').filter((line) => line.trim() !== '')));
  return [
    ...[...(given?.difference(old ?? new Set()) ?? [])].map((line) => `+ ${line.trim()}`),
    ...[...(old?.difference(given ?? new Set()) ?? [])].map((line) => `- ${line.trim()}`),
  ];
}

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
