import type { Pool } from 'pg';
import type { RequestId } from '../../observability/requestFields.ts';
import type { Scope } from '../../token/scopes.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';

/** An API application: a client in the sense of RFC 6749. */
export type Application = {
  readonly organizationId: string;
  readonly id: string;
  /** The name for people. */
  readonly name: string;
  readonly clientId: string;
  /** Whether it can keep a secret (RFC 6749 section 2.1); a public one has none. */
  readonly confidential: boolean;
  readonly scopes: readonly Scope[];
  /** Where a person may be sent back to it (RFC 6749 section 3.1.2). */
  readonly redirectUris: readonly string[];
  /** The name of the grant by which the users of its mobile app sign in; null without a mobile app. */
  readonly mobileApp: string | null;
  /** SHA-256 of the secrets that are valid now, at most two. */
  readonly secretHashes: readonly Buffer[];
};

/**
 * The enabled application with this client id, in any organization, or null.
 *
 * @throws a database error for which `hasMoved` holds when its organization is not served here
 */
export async function findApplication(pool: Pool, clientId: string, requestId: RequestId): Promise<Application | null> {
  const { rows } = await queryOnce<Omit<Application, 'clientId'>>(pool, oauthSettings(null, requestId), {
    name: 'find_application',
    text: `
      select organization_id as "organizationId", id, name, confidential, scopes, redirect_uris as "redirectUris",
        mobile_app_authentication_type as "mobileApp", secret_hashes as "secretHashes"
      from oauth.find_application($1) as application, app_hidden.require_service(application.organization_id)`,
    values: [clientId],
  });
  return rows[0] ? { ...rows[0], clientId } : null;
}
