import { LRUCache } from 'lru-cache';
import { refusal } from '../../../plugins/refusal.ts';
import type { Claims } from '../../token/settings.ts';
import { type GraphqlRequest, RequestError } from '../request/request.ts';
import { DocumentError } from './documentError.ts';
import { type StoredOperations, sha256 } from './storedOperations.ts';

/** Persisted operations: requests name documents by id (GraphQL over HTTP, appendix A). */
export type PersistedDocuments = {
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
