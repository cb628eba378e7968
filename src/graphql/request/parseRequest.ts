import type { IncomingMessage } from 'node:http';
import type { GraphQLSchema } from 'postgraphile/graphql';
import type { Config } from '../../config.ts';
import { weighJson } from '../../http/requestBody.ts';
import { traced } from '../../observability/tracing/traced.ts';
import { inTurn, inTurnIfLong } from '../../scheduling/turns.ts';
import type { Claims } from '../../token/claims.ts';
import { createDocumentReader, type PreparedDocument } from '../document/document.ts';
import { DocumentError } from '../document/documentError.ts';
import { createAllowlist, createPersistedQueryCache } from '../document/persisted.ts';
import { checkStoredOperations, type StoredOperations } from '../document/storedOperations.ts';
import { declaredVariables } from '../document/variables.ts';
import { isIntrospection } from '../execution/introspection.ts';
import { type GraphqlRequest, RequestError, readRequest } from './request.ts';

/** Its variables are those that the operation declares. */
export type ParsedRequest = {
  readonly parameters: GraphqlRequest;
  readonly prepared: PreparedDocument;
  /** The time in milliseconds that checking its values takes at most. */
  readonly costMs: number;
};

export type RequestParser = ReturnType<typeof createRequestParser>;

/**
 * Reads the parameters of requests, and their documents by text or id.
 *
 * @throws {ConfigError} when a stored operation does not fit the schema
 */
export function createRequestParser(schema: GraphQLSchema, config: Config, operations: StoredOperations | null) {
  const readDocument = createDocumentReader(schema, config.limits);
  if (operations) checkStoredOperations(operations, readDocument);
  const persisted = operations ? createAllowlist(operations) : createPersistedQueryCache();

  /** Whether errors suggest no names: without a token, or when not everyone may read the schema. */
  const hidesNames = (claims: Claims | null) => !claims || !config.publicIntrospection;

  const parse = async (request: IncomingMessage, body: Buffer, claims: Claims | null): Promise<ParsedRequest> => {
    const weight = weighJson(body);
    const parameters = await inTurnIfLong(weight.costMs, () => readRequest(request, body, weight));
    const query = persisted.find(parameters, claims);
    const read = () => traced('read document', () => readDocument(query, parameters.operationName, hidesNames(claims)));
    const isLong = query.length > maxShortDocument && !readDocument.isKnown(query);
    const prepared = isLong ? await inTurn(msOfCharacter * query.length, read) : read();
    const variables = declaredVariables(parameters.variables, prepared.operation);
    return { parameters: { ...parameters, variables }, prepared, costMs: weight.costMs };
  };

  return {
    hidesNames,
    parse,

    /** The request if it is only introspection, which needs no token. */
    async parseIntrospection(request: IncomingMessage, body: Buffer): Promise<ParsedRequest | null> {
      if (!config.publicIntrospection) return null;
      try {
        const parsed = await parse(request, body, null);
        return isIntrospection(parsed.prepared) ? parsed : null;
      } catch (error) {
        if (error instanceof RequestError || error instanceof DocumentError) return null;
        throw error;
      }
    },

    /** Stores the document of a successful request under its id. */
    store: persisted.store,
  };
}

/** In characters. To parse and validate a longer document is a piece of work of its own in a turn of the event loop. */
const maxShortDocument = 500;
const msOfCharacter = 5e-4;
