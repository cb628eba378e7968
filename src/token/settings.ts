import { noRequest, type RequestId } from '../http/facts.ts';
import type { Claims, Scope } from './claims.ts';

/**
 * The trust boundary: claims become the settings of one transaction, and policies read nothing else.
 * Every key is always there; an absent claim is `''`, which every policy treats as deny, so that nothing
 * outlives the transaction before on a pooled connection.
 */
export type TransactionSettings = {
  readonly role: 'graph_app' | 'graph_user' | 'graph_basic' | 'graph_oauth';
  readonly 'graph.organization_id': string;
  readonly 'graph.application_id': string;
  readonly 'graph.user_id': string;
  /** Space separated, as in RFC 6749 section 3.3. */
  readonly 'graph.scope': string;
  readonly 'graph.grant_id': string;
  readonly 'graph.request_id': string;
  /** The server's own name of the request; no policy reads it, but the history keeps it. */
  readonly 'graph.server_request_id': string;
  /** How many rows a statement may find; see app_hidden.count_row. */
  readonly 'graph.row_limit': string;
  /** How long a statement waits for a lock, such as that of a row that another transaction changes; then it fails with SQLSTATE 55P03. */
  readonly lock_timeout: string;
};

/** The settings of a GraphQL operation. */
export function graphSettings(
  claims: Claims,
  requestId: RequestId,
  rowLimit: number,
  lockTimeout = withoutEnd,
): TransactionSettings {
  return {
    role: roleOf(claims.scopes),
    'graph.organization_id': claims.organizationId,
    'graph.application_id': claims.applicationId,
    'graph.user_id': claims.userId ?? '',
    'graph.scope': claims.scopes.join(' '),
    'graph.grant_id': claims.grantId,
    ...namesOf(requestId),
    'graph.row_limit': String(rowLimit),
    lock_timeout: lockTimeout,
  };
}

const namesOf = ({ id, ofServer }: RequestId) => ({ 'graph.request_id': id, 'graph.server_request_id': ofServer });

const withoutEnd = '0';

/** The settings of the OAuth server's own statements: inside one organization, or in none yet. */
export function oauthSettings(organizationId: string | null, requestId: RequestId): TransactionSettings {
  return {
    role: 'graph_oauth',
    'graph.organization_id': organizationId ?? '',
    'graph.application_id': '',
    'graph.user_id': '',
    'graph.scope': '',
    'graph.grant_id': '',
    ...namesOf(requestId),
    'graph.row_limit': '',
    lock_timeout: withoutEnd,
  };
}

/** Sets all of them until the end of the transaction. Prepared once per connection: every settings object has the same keys. */
export function toStatement(settings: TransactionSettings) {
  return { name: 'settings', isKept: true as const, text: settingsText, values: names.map((name) => settings[name]) };
}

const names = Object.keys(oauthSettings(null, noRequest)) as (keyof TransactionSettings)[];
const settingsText = `select ${names.map((name, index) => `set_config('${name}', $${index + 1}, true)`).join(', ')}`;

/** One role per token: `me` stands alone, and `app` includes what `basic` may do. */
function roleOf(scopes: readonly Scope[]): TransactionSettings['role'] {
  if (scopes.includes('me')) return 'graph_user';
  return scopes.includes('app') ? 'graph_app' : 'graph_basic';
}
