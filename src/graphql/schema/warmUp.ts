import { liveToken } from '../../token/accessTokens.ts';
import { type Scope, scopes } from '../../token/scopes.ts';
import type { Claims } from '../../token/settings.ts';
import { createDocumentReader } from '../document/document.ts';
import { DocumentError } from '../document/documentError.ts';
import { createExecution, type ExecutionOptions } from '../execute.ts';

/**
 * Warm-up: executes operations with claims that see no row, so that the first clients do not wait.
 * They would wait for connections, and for Node.js to compile the code that all operations share (JIT). Documents
 * that the limits or the schema refuse are left out: a team may have low limits, and other fields.
 * None is logged as slow, since the first ones always are, and they are no client's.
 */
export async function warmUp(options: ExecutionOptions): Promise<void> {
  const execute = createExecution({ ...options, config: { ...options.config, slowMs: Number.POSITIVE_INFINITY } });
  const readDocument = createDocumentReader(options.graph.schema, options.config.limits);
  const allowed = documents.flatMap(([scope, document]) => {
    const prepared = unlessRefused(() => readDocument(document, null));
    return prepared ? [{ scope, prepared }] : [];
  });
  if (allowed.length < documents.length)
    options.log.debug({ refused: documents.length - allowed.length }, 'the warm-up leaves out operations');
  const signal = new AbortController().signal;
  // As many at once as there are kept connections.
  const atOnce = Array.from({ length: options.pool.options.min ?? 1 }, (_, index) =>
    allowed.at(index % allowed.length),
  ).filter((warmed) => warmed !== undefined);
  for (let done = 0; done < executions && atOnce.length > 0; done += atOnce.length) {
    const operations = atOnce.map(({ scope, prepared }) => ({
      prepared,
      variables: {},
      coerced: {},
      token: liveToken(claimsWithoutRows(scope)),
      requestId: { id: 'warm-up', ofServer: 'warm-up' },
      cost: { rows: 1, values: 1, once: 0 },
      writtenRows: 0,
      replicaLsns: null,
      signal,
    }));
    await Promise.all(operations.map(execute));
  }
}

export const executions = 100;

export const user = 'id fullName email cardAssignments { id card { id name ... on NfcCard { nfcIdentifier } } }';

export const documents: readonly (readonly [Scope, string])[] = [
  ['me', `{ viewer { ${user} accessibleUnits(first: 20) { nodes { id name } } } }`],
  ['me', '{ viewer { accessibleUnits { edges { cursor node { parent { id } children { nodes { id } } } } } } }'],
  ['app', `{ app { users(first: 10) { nodes { ${user} } pageInfo { hasNextPage endCursor } } } }`],
  [
    'app',
    '{ app { rootUnits(first: 10) { nodes { id name children(first: 10) { nodes { id name } } } totalCount } } }',
  ],
];

function unlessRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof DocumentError) return null;
    throw error;
  }
}

const claimsWithoutRows = (scope: Scope): Claims => ({
  organizationId: nil,
  applicationId: nil,
  clientId: '',
  userId: scopes[scope].holder === 'user' ? nil : null,
  grantId: nil,
  scopes: [scope],
  createdAt: new Date(0),
  expiresAt: new Date(0),
});

/** RFC 9562 section 5.9. */
export const nil = '00000000-0000-0000-0000-000000000000';
