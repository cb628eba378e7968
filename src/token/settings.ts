import { noRequest, type RequestId } from '../observability/requestFields.ts';
import { roleOf, type Scope, type ScopeRole } from './scopes.ts';

/**
 * The trust boundary: claims become the settings of one transaction, and policies read nothing else.
 * Every key is always set. An absent claim is `''`, which every policy treats as deny. So no setting of the previous transaction survives
 * on a pooled connection.
 */
export type TransactionSettings = ReaderSettings & Partial<WriterSettings>;

type ReaderSettings = {
  readonly role: ScopeRole | 'graph_oauth' | 'graph_worker';
  readonly 'graph.organization_id': string;
  readonly 'graph.application_id': string;
  readonly 'graph.user_id': string;
  /** Space separated, as in RFC 6749 section 3.3. */
  readonly 'graph.scope': string;
  readonly 'graph.grant_id': string;
  readonly 'graph.request_id': string;
  /** How many rows a statement may find; see app_hidden.count_row. */
  readonly 'graph.row_limit': string;
};

/** Only transactions that may write set these: each setting is 1 % of a small query. */
type WriterSettings = {
  /** The server's own id of the request, for the history. */
  readonly 'graph.server_request_id': string;
  /** How long a statement waits for a lock, such as another transaction's row; then SQLSTATE 55P03. */
  readonly lock_timeout: string;
};

/** The settings of a GraphQL query. */
export function graphSettings(claims: Claims, { id }: RequestId, rowLimit: number): TransactionSettings {
  return {
    role: roleOf(claims.scopes),
    'graph.organization_id': claims.organizationId,
    'graph.application_id': claims.applicationId,
    'graph.user_id': claims.userId ?? '',
    'graph.scope': claims.scopes.join(' '),
    'graph.grant_id': claims.grantId,
    'graph.request_id': id,
    'graph.row_limit': String(rowLimit),
  };
}

/** The settings of a mutation. @param lockTimeout with a unit, as PostgreSQL reads it */
export function mutationSettings(
  claims: Claims,
  requestId: RequestId,
  rowLimit: number,
  lockTimeout: string,
): TransactionSettings {
  return { ...graphSettings(claims, requestId, rowLimit), ...writerSettings(requestId, lockTimeout) };
}

const writerSettings = ({ ofServer }: RequestId, lockTimeout: string): WriterSettings => ({
  'graph.server_request_id': ofServer,
  lock_timeout: lockTimeout,
});

/**
 * The settings of the OAuth server's own statements: inside one organization, or in none yet.
 * A token request waits for several locks, one after the other, and all of them together must end before a client gives up.
 */
export function oauthSettings(organizationId: string | null, requestId: RequestId): TransactionSettings {
  return {
    role: 'graph_oauth',
    'graph.organization_id': organizationId ?? '',
    'graph.application_id': '',
    'graph.user_id': '',
    'graph.scope': '',
    'graph.grant_id': '',
    'graph.request_id': requestId.id,
    'graph.row_limit': '',
    ...writerSettings(requestId, '1200ms'),
  };
}

/** The settings of the webhook sender: inside one organization, or for a look at all. */
export const workerSettings = (organizationId: string | null): TransactionSettings => ({
  ...oauthSettings(organizationId, noRequest),
  role: 'graph_worker',
});

/** Sets all until the end of the transaction; prepared once per connection for reads, once for writes. */
export function toStatement(settings: TransactionSettings) {
  const { name, text, keys } = 'lock_timeout' in settings ? writing : reading;
  return { name, isPinned: true as const, text, values: keys.map((key) => settings[key] ?? '') };
}

function settingAll(name: string, keys: readonly string[]) {
  const calls = keys.map((key, index) => `set_config('${key}', $${index + 1}, true)`);
  return { name, text: `select ${calls.join(', ')}`, keys: keys as readonly (keyof TransactionSettings)[] };
}

const keys = Object.keys(oauthSettings(null, noRequest));
const writing = settingAll('settings', keys);
const reading = settingAll(
  'settings of a query',
  keys.filter((key) => !(key in writerSettings(noRequest, ''))),
);

/** The claims of a verified access token. They determine everything that a request may do. */
export type Claims = {
  readonly organizationId: string;
  readonly applicationId: string;
  readonly clientId: string;
  /** The person; null for an application's own token. */
  readonly userId: string | null;
  readonly grantId: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
};
