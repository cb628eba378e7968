import { LRUCache } from 'lru-cache';
import type { Claims } from '../token/claims.ts';
import { DocumentRefused } from './document.ts';
import { graphqlError } from './errors.ts';
import { type GraphqlRequest, RequestRefused } from './request.ts';
import { type StoredOperations, sha256 } from './storedOperations.ts';

/**
 * How requests name documents by ids instead of sending them (GraphQL over HTTP, appendix A: persisted documents).
 */
export type PersistedDocuments = {
  /**
   * The document of the request.
   *
   * @throws {DocumentRefused} the id is unknown, or the document not allowed
   * @throws {RequestRefused} the document is not the one of the id
   */
  find(request: GraphqlRequest, claims: Claims | null): string;
  /** Remembers the document of a request that was in order; who sent it may name it by its id from now on. */
  keep(request: GraphqlRequest, claims: Claims | null): void;
};

/** Only these documents are answered, named by their ids or sent as they are. */
export function allowOnly(operations: StoredOperations): PersistedDocuments {
  const allowed = new Set(operations.values());
  return {
    find({ query, documentId }) {
      if (documentId !== null) {
        const document = operations.get(documentId);
        if (document === undefined) throw notFound('No stored operation has this id.');
        if (query !== null && query !== document)
          throw new RequestRefused(400, 'The document is not the one of this id.');
        return document;
      }
      if (query === null || !allowed.has(query)) {
        const message = 'This service answers stored operations only; name one by its id in "documentId".';
        throw new DocumentRefused([graphqlError('PERSISTED_QUERY_ONLY', message)]);
      }
      return query;
    },
    keep: () => undefined,
  };
}

/** So many characters of documents are remembered; what was not asked for the longest goes first. */
const rememberedCharacters = 2_000_000;

/**
 * Automatic persisted queries, as Apollo's clients send them: the SHA-256 alone, and when that is unknown, the document beside it.
 * Each organization has its own, since what others ask is none of its business; who has no token is not remembered.
 */
export function rememberDocuments(): PersistedDocuments {
  const known = new LRUCache<string, string>({
    maxSize: rememberedCharacters,
    sizeCalculation: (document, key) => document.length + key.length,
  });
  const keyOf = (documentId: string, { organizationId }: Claims) => `${organizationId} ${documentId}`;
  return {
    find({ query, documentId }, claims) {
      if (query !== null && (documentId === null || documentId === sha256(query))) return query;
      if (query !== null || documentId === null)
        throw new RequestRefused(400, 'The id is not the SHA-256 of the document, in lower-case hex.');
      const document = claims && known.get(keyOf(documentId, claims));
      // The sentence by which urql and Apollo's mobile clients know that they have to send the document.
      if (!document) throw notFound('PersistedQueryNotFound');
      return document;
    },
    keep({ query, documentId }, claims) {
      if (claims && query !== null && documentId !== null) known.set(keyOf(documentId, claims), query);
    },
  };
}

const notFound = (message: string) => new DocumentRefused([graphqlError('PERSISTED_QUERY_NOT_FOUND', message)]);
