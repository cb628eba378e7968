import type { ClientBase, Pool } from 'pg';
import { ownerTransaction } from '../../database/pool/transactions.ts';
import { StartupError } from '../../errors/errors.ts';
import { readApplications, writeApplications } from '../../provisioning/applications.ts';
import { parseApplication } from '../../provisioning/document.ts';
import { findOrganization, requireServed } from './findUser.ts';

/** `admin list-applications`: lists them by organization and name, or only those of one organization. */
export function listApplications(owner: Pool, organization: string | undefined) {
  return ownerTransaction(owner, async (client) => {
    if (organization !== undefined) await findOrganization(client, organization);
    const { rows } = await client.query(
      `select o.name as organization, a.name, a.client_id as "clientId", a.confidential, a.scopes,
         a.redirect_uris as "redirectUris", a.mobile_app_authentication_type as "mobileAppAuthenticationType",
         a.disabled_at as "disabledAt",
         array(
           select to_jsonb(s.created_at)
           from oauth.application_secrets s
           where s.organization_id = a.organization_id and s.application_id = a.id
           order by s.created_at desc
           limit 2
         ) as "secretsCreatedAt"
       from oauth.applications a
       join app_hidden.organizations o on o.id = a.organization_id
       where $1::text is null or o.name = $1
       order by o.name, a.name, a.client_id`,
      [organization],
    );
    return { applications: rows };
  });
}

/**
 * `admin create-application`: in an organization that exists.
 * The secret of a confidential application is generated and shown once.
 *
 * @throws {ProvisioningError} for values that break a rule
 * @throws {StartupError} when the client id is taken
 */
export function createApplication(owner: Pool, organization: string, source: { clientId: string }) {
  const application = parseApplication(source);
  return ownerTransaction(owner, async (client) => {
    const organizationId = await findOrganization(client, organization);
    await requireServed(client, organizationId);
    const { name, clientId } = application;
    if ((await readApplications(client, [clientId])).has(clientId))
      throw new StartupError(`There is an application ${clientId} already.`);
    const secrets = await writeApplications(client, [{ organizationId, value: application, path: [] }]);
    const clientSecret = secrets.get(clientId);
    return { organization, name, clientId, ...(clientSecret === undefined ? {} : { clientSecret }) };
  });
}

/**
 * `admin disable-application`, `enable-application`: from the next request on.
 * Tokens are refused meanwhile.
 */
export function setApplicationDisabled(owner: Pool, clientId: string, disabled: boolean) {
  return ownerTransaction(owner, async (client) => {
    const { organizationId, id } = await lockApplication(client, clientId);
    const { rows } = await client.query(
      `update oauth.applications set disabled_at = case when $3 then coalesce(disabled_at, now()) end
       where organization_id = $1 and id = $2
       returning client_id as "clientId", disabled_at as "disabledAt"`,
      [organizationId, id, disabled],
    );
    return rows[0];
  });
}

/** `admin end-application-tokens`: every grant and every unused code, from the next request on. */
export function endApplicationTokens(owner: Pool, clientId: string) {
  return ownerTransaction(owner, async (client) => {
    const { organizationId, id } = await lockApplication(client, clientId);
    // Locked, so that nothing is issued until this is done.
    const ended = await client.query(
      `with codes as (delete from oauth.authorization_codes where organization_id = $1 and application_id = $2)
       delete from oauth.grants where organization_id = $1 and application_id = $2`,
      [organizationId, id],
    );
    return { clientId, grantsEnded: ended.rowCount };
  });
}

type FoundApplication = { organizationId: string; id: string; confidential: boolean };

/** Locks an application, after its organization: no transaction writes it, or a reference to it, until this one ends. */
export async function lockApplication(client: ClientBase, clientId: string): Promise<FoundApplication> {
  await client.query(
    `select set_config('graph.organization_id', organization_id::text, true), app_hidden.lock_organization()
     from oauth.applications where client_id = $1`,
    [clientId],
  );
  const { rows } = await client.query<FoundApplication>(
    `select organization_id as "organizationId", id, confidential
     from oauth.applications where client_id = $1
     for update`,
    [clientId],
  );
  const [application] = rows;
  if (!application) throw new StartupError(`There is no application ${clientId}.`);
  await requireServed(client, application.organizationId);
  return application;
}
