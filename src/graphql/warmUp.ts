import { liveToken } from '../token/accessTokens.ts';
import type { Claims, Scope } from '../token/claims.ts';
import { createDocumentReader } from './document.ts';
import { createExecution, type ExecutionParts } from './execution.ts';

/**
 * Executes operations of nobody, who sees nothing, so that the first clients do not wait while Node.js compiles what all operations
 * share.
 */
export async function warmUp(parts: ExecutionParts): Promise<void> {
  const execute = createExecution(parts);
  const readDocument = createDocumentReader(parts.graph.schema, parts.config.limits);
  const signal = new AbortController().signal;
  for (let round = 0; round < rounds; round++) {
    const operations = documents.map(([scope, document]) => ({
      prepared: readDocument(document, null),
      variables: {},
      token: liveToken(nobody(scope)),
      requestId: { id: 'warm-up', ofServer: 'warm-up' },
      most: { rows: 1, values: 1, once: 0 },
      replicaLsns: null,
      signal,
    }));
    await Promise.all(operations.map(execute));
  }
}

const rounds = 25;

const user = 'id fullName email cardAssignments { id card { id name ... on NfcCard { nfcIdentifier } } }';
const documents: readonly (readonly [Scope, string])[] = [
  ['me', `{ viewer { ${user} accessibleUnits(first: 20) { nodes { id name } } } }`],
  ['me', '{ viewer { accessibleUnits { edges { cursor node { parent { id } children { nodes { id } } } } } } }'],
  ['app', `{ app { users(first: 10) { nodes { ${user} } pageInfo { hasNextPage endCursor } } } }`],
  [
    'app',
    '{ app { rootUnits(first: 10) { nodes { id name children(first: 10) { nodes { id name } } } totalCount } } }',
  ],
];

const nobody = (scope: Scope): Claims => ({
  organizationId: nil,
  applicationId: nil,
  clientId: '',
  userId: scope === 'me' ? nil : null,
  grantId: nil,
  scopes: [scope],
  createdAt: new Date(0),
  expiresAt: new Date(0),
});

/** RFC 9562 section 5.9. */
const nil = '00000000-0000-0000-0000-000000000000';
