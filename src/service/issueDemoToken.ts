import type { Pool } from 'pg';
import { findApplication } from '../oauth/client/application.ts';
import { issueToApplication } from '../oauth/grants/clientCredentials.ts';
import { noRequest } from '../observability/requestFields.ts';

/**
 * An access token for the command that a start prints, as `demo-backend` gets one by `client_credentials`.
 * It is issued in the database, so that a start makes no request to itself.
 *
 * @returns null when the application is gone, disabled or has lost the scope
 */
export async function issueDemoToken(owner: Pool): Promise<string | null> {
  const application = await findApplication(owner, 'demo-backend', noRequest);
  if (!application?.scopes.includes('app')) return null;
  const { access_token } = await issueToApplication(owner, application, ['app'], noRequest);
  return access_token;
}
