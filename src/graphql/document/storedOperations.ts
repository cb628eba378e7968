import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Kind, parse } from 'postgraphile/graphql';
import { ConfigError } from '../../config.ts';
import type { createDocumentReader } from './document.ts';
import { DocumentError } from './documentError.ts';

/** Documents by the ids that clients send. */
export type StoredOperations = ReadonlyMap<string, string>;

/**
 * Reads a folder of documents: `<id>.graphql` holds one, a `.json` file maps ids to documents.
 * relay-compiler (`persistConfig.file`) and graphql-codegen (`persistedDocuments`) write such files. An id that looks like a SHA-256 must
 * be that of its document.
 *
 * @throws {ConfigError} with everything that is wrong in the folder
 */
export async function readStoredOperations(folder: string): Promise<StoredOperations> {
  const operations = new Map<string, string>();
  const problems: string[] = [];
  const add = (file: string, id: string, document: unknown) => {
    const problem = problemWith(withoutPrefix(id), document, operations);
    if (problem !== null) problems.push(`${file}: ${problem}`);
    else operations.set(withoutPrefix(id), String(document));
  };

  for (const file of await filesOf(folder)) {
    const extension = extname(file);
    const text = await readFile(join(folder, file), 'utf8').catch(unreadable);
    if (text === null) problems.push(`${file}: cannot be read`);
    else if (extension === '.graphql') add(file, file.slice(0, -extension.length), text);
    else if (extension !== '.json') problems.push(`${file}: is neither a .graphql nor a .json file`);
    else {
      const entries = parseMap(text);
      if (!entries) problems.push(`${file}: is not a JSON object of ids and documents`);
      else for (const [id, document] of Object.entries(entries)) add(file, id, document);
    }
  }
  if (operations.size === 0 && problems.length === 0) problems.push('the folder has no document');
  refuse(problems);
  return operations;
}

/** @throws {ConfigError} with everything in the documents that the schema or the limits do not allow */
export function checkStoredOperations(
  operations: StoredOperations,
  readDocument: ReturnType<typeof createDocumentReader>,
): void {
  const problemsOf = (document: string): string[] => {
    try {
      for (const name of operationNames(document)) readDocument(document, name);
      return [];
    } catch (error) {
      if (error instanceof DocumentError) return error.errors.map(({ message }) => message);
      throw error;
    }
  };
  refuse([...operations].flatMap(([id, document]) => problemsOf(document).map((problem) => `${id}: ${problem}`)));
}

/** The lower-case hexadecimal SHA-256 of the document's text. */
export const sha256 = (document: string) => createHash('sha256').update(document).digest('hex');

/** GraphQL over HTTP, appendix A: `sha256:` in front of an id only names its kind. */
export const withoutPrefix = (id: string) => id.replace(/^sha256:/, '');

/** The visible files: a mounted folder has hidden ones beside its files. */
async function filesOf(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(unreadable);
  if (files === null) throw refusal(['must be a folder that the service may read']);
  return files.filter((file) => !file.startsWith('.')).toSorted();
}

/** Null for an error of the operating system. */
function unreadable(error: unknown): null {
  if (error instanceof Error && 'syscall' in error) return null;
  throw error;
}

function problemWith(id: string, document: unknown, others: StoredOperations): string | null {
  if (typeof document !== 'string') return `the document of ${id} is not a string`;
  if (/^[0-9a-f]{64}$/.test(id) && id !== sha256(document))
    return `the SHA-256 of the document is not ${id}, but ${sha256(document)}`;
  return (others.get(id) ?? document) === document ? null : `there is another document with the id ${id}`;
}

function parseMap(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Null for an operation without a name, and for a document without operations. */
function operationNames(document: string): (string | null)[] {
  try {
    const operations = parse(document).definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    return operations.length > 0 ? operations.map(({ name }) => name?.value ?? null) : [null];
  } catch {
    return [null];
  }
}

function refuse(problems: string[]): void {
  if (problems.length > 0) throw refusal(problems);
}

const refusal = (problems: string[]) => new ConfigError(problems.map((problem) => `PERSISTED_OPERATIONS: ${problem}`));
