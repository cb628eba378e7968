import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { Kind, parse } from 'postgraphile/graphql';
import { refusal } from '../../../plugins/refusal.ts';
import { ConfigError } from '../../config.ts';
import type { Claims } from '../../token/settings.ts';
import { type GraphqlRequest, RequestError, withoutPrefix } from '../request.ts';
import type { DocumentReader } from './document.ts';
import { DocumentError } from './documentError.ts';

/** Persisted operations: requests name documents by id (GraphQL over HTTP, appendix A). */
type PersistedDocuments = {
  /**
   * The document of the request.
   *
   * @throws {DocumentError} the id is unknown, or the document not allowed
   * @throws {RequestError} the id belongs to another document
   */
  find(request: GraphqlRequest, claims: Claims | null): string;
  /** Stores the document of a successful request; from then on its organization may send its id instead. */
  store(request: GraphqlRequest, claims: Claims | null): void;
};

/** Operation allowlist: only these documents are answered, named by id or sent in full. */
export function createAllowlist(operations: StoredOperations): PersistedDocuments {
  const allowed = new Set(operations.values());
  return {
    find({ query, documentId }) {
      if (documentId !== null) {
        const document = operations.get(documentId);
        if (document === undefined) throw notFound('No stored operation has this id.');
        if (query !== null && query !== document) throw new RequestError('The document is not the one of this id.');
        return document;
      }
      if (query === null || !allowed.has(query)) {
        const message = 'This service answers stored operations only; name one by its id in "documentId".';
        throw new DocumentError([refusal('PERSISTED_QUERY_ONLY', message)]);
      }
      return query;
    },
    store: () => undefined,
  };
}

/** The size of the document cache, in characters; least recently used documents are evicted first. */
const cacheCharacters = 2_000_000;

/**
 * Automatic persisted queries (APQ, Apollo): the SHA-256, and the document too if that is unknown.
 * Each organization has its own, so that none learns of another's documents. Requests without a token are not stored.
 */
export function createPersistedQueryCache(): PersistedDocuments {
  const known = new LRUCache<string, string>({
    maxSize: cacheCharacters,
    sizeCalculation: (document, key) => document.length + key.length,
  });
  const keyOf = (documentId: string, { organizationId }: Claims) => `${organizationId} ${documentId}`;
  return {
    find({ query, documentId }, claims) {
      if (query !== null && (documentId === null || documentId === sha256(query))) return query;
      if (query !== null || documentId === null)
        throw new RequestError('The id is not the SHA-256 of the document, in lower-case hex.');
      const document = claims && known.get(keyOf(documentId, claims));
      // urql and Apollo's mobile clients send the document when they read this exact sentence.
      if (!document) throw notFound('PersistedQueryNotFound');
      return document;
    },
    store({ query, documentId }, claims) {
      if (claims && query !== null && documentId !== null) known.set(keyOf(documentId, claims), query);
    },
  };
}

const notFound = (message: string) => new DocumentError([refusal('PERSISTED_QUERY_NOT_FOUND', message)]);

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
  if (problems.length > 0) throw toConfigError(problems);
  return operations;
}

/** @throws {ConfigError} with everything in the documents that the schema or the limits do not allow */
export function checkStoredOperations(operations: StoredOperations, readDocument: DocumentReader): void {
  const problemsIn = (document: string): string[] => {
    try {
      for (const name of operationNames(document)) readDocument(document, name);
      return [];
    } catch (error) {
      if (error instanceof DocumentError) return error.errors.map(({ message }) => message);
      throw error;
    }
  };
  const problems = [...operations].flatMap(([id, document]) =>
    problemsIn(document).map((problem) => `${id}: ${problem}`),
  );
  if (problems.length > 0) throw toConfigError(problems);
}

/** The lower-case hexadecimal SHA-256 of the document's text. */
export const sha256 = (document: string) => createHash('sha256').update(document).digest('hex');

/** The visible files: a mounted folder has hidden ones beside its files. */
async function filesOf(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(unreadable);
  if (files === null) throw toConfigError(['must be a folder that the service may read']);
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

const toConfigError = (problems: string[]) =>
  new ConfigError(problems.map((problem) => `PERSISTED_OPERATIONS: ${problem}`));
