import { randomBytes } from 'node:crypto';
import type { ClientBase } from 'pg';
import { hashToken } from '../token/accessTokens.ts';
import { defaultScopes, scopesOf } from '../token/scopes.ts';
import type { Application } from './document.ts';
import { type Entry, forRows, type Problem, requireNoProblems } from './rows.ts';

/** An application that the database already has, found by its client id. */
type ExistingApplication = {
  organization_id: string;
  client_id: string;
  confidential: boolean;
  scopes: Application['scopes'];
};

export async function readApplications(
  client: ClientBase,
  clientIds: readonly string[],
): Promise<Map<string, ExistingApplication>> {
  const { rows } = await client.query<ExistingApplication>(
    'select organization_id, client_id, confidential, scopes from oauth.applications where client_id = any ($1)',
    [clientIds],
  );
  return new Map(rows.map((row) => [row.client_id, row]));
}

/** Problems that only the database can show: whose the client id is, and its present settings. */
function findApplicationProblems(
  applications: readonly Entry<Application>[],
  existing: ReadonlyMap<string, ExistingApplication>,
): Problem[] {
  return applications.flatMap(({ organizationId, value, path }) => {
    const before = existing.get(value.clientId);
    if (before && before.organization_id !== organizationId) {
      return [{ path: [...path, 'clientId'], message: 'belongs to another organization' }];
    }
    if (value.confidential ?? before?.confidential ?? true) return [];

    const problems: Problem[] = [];
    if (value.clientSecret !== undefined) {
      problems.push({ path: [...path, 'clientSecret'], message: 'must be absent: a public application has no secret' });
    }
    const scopes = value.scopes ?? before?.scopes ?? [defaultScopes.application];
    if (scopes.some((scope) => !publicScopes.includes(scope))) {
      problems.push({
        path: [...path, 'scopes'],
        message: `must be ${publicScopes.map((scope) => `"${scope}"`).join(' or ')} alone for a public application`,
      });
    }
    return problems;
  });
}

const publicScopes = scopesOf('user');

/**
 * Adds applications and changes those that differ; what the document leaves out stays.
 * A secret that is not one of the two valid ones becomes the newest of two. A confidential application without any gets a new one.
 *
 * @returns the new secrets by client id
 * @throws {ProvisioningError} when a client id is another organization's, or a public application would have what it cannot keep
 */
export async function writeApplications(
  client: ClientBase,
  applications: readonly Entry<Application>[],
): Promise<Map<string, string>> {
  const existing = await readApplications(
    client,
    applications.map(({ value }) => value.clientId),
  );
  requireNoProblems(findApplicationProblems(applications, existing));
  const rows = applications.map(({ organizationId, value }) => ({
    organization_id: organizationId,
    name: value.name,
    client_id: value.clientId,
    confidential: value.confidential,
    scopes: value.scopes,
    redirect_uris: value.redirectUris,
    mobile_app_given: value.mobileApp !== undefined,
    mobile_app: value.mobileApp?.authenticationType,
  }));
  await forRows(client, rows, writeDifferences);
  return writeSecrets(client, applications);
}

const writeDifferences = `
  with wanted as (
    select
      given.organization_id, given.name, given.client_id,
      coalesce(given.confidential, a.confidential, true) as confidential,
      coalesce(given.scopes, a.scopes, '{${defaultScopes.application}}') as scopes,
      coalesce(given.redirect_uris, a.redirect_uris, '{}') as redirect_uris,
      case when mobile_app_given then given.mobile_app else a.mobile_app_authentication_type end as mobile_app
    from jsonb_to_recordset($1) as given (
      organization_id uuid, name text, client_id text, confidential boolean, scopes text[], redirect_uris text[],
      mobile_app_given boolean, mobile_app text)
    left join oauth.applications a on a.organization_id = given.organization_id and a.client_id = given.client_id
  )
  insert into oauth.applications as a (
    organization_id, name, client_id, confidential, scopes, redirect_uris, mobile_app_authentication_type)
  select * from wanted
  where not exists (
    select from oauth.applications a
    where a.client_id = wanted.client_id
      and (a.name, a.confidential, a.scopes, a.redirect_uris, a.mobile_app_authentication_type) is not distinct from
        (wanted.name, wanted.confidential, wanted.scopes, wanted.redirect_uris, wanted.mobile_app))
  on conflict (client_id) do update set
    (name, confidential, scopes, redirect_uris, mobile_app_authentication_type) =
      (excluded.name, excluded.confidential, excluded.scopes, excluded.redirect_uris, excluded.mobile_app_authentication_type)
  where a.organization_id = excluded.organization_id`;

async function writeSecrets(
  client: ClientBase,
  applications: readonly Entry<Application>[],
): Promise<Map<string, string>> {
  const valid = await readValidSecrets(client, applications);
  const generated = new Map<string, string>();
  const rows = applications.flatMap(({ organizationId, value: { clientId, clientSecret } }) => {
    const application = valid.get(clientId);
    if (!application?.confidential) return [];
    const secret = clientSecret ?? (application.hashes.length === 0 ? createClientSecret() : undefined);
    if (secret === undefined) return [];
    if (clientSecret === undefined) generated.set(clientId, secret);
    const hash = hashToken(secret).toString('hex');
    if (application.hashes.includes(hash)) return [];
    return [{ organization_id: organizationId, application_id: application.id, secret_hash: hash }];
  });
  await forRows(client, rows, insertSecrets);
  await forRows(client, rows, deleteOldSecrets);
  return generated;
}

/** 256 random bits; the prefix lets a person or a secret scanner recognize a leaked one. */
export const createClientSecret = (): string => `gqs_cs_${randomBytes(32).toString('base64url')}`;

type ValidSecrets = { id: string; client_id: string; confidential: boolean; hashes: string[] };

async function readValidSecrets(
  client: ClientBase,
  applications: readonly Entry<Application>[],
): Promise<Map<string, ValidSecrets>> {
  const { rows } = await client.query<ValidSecrets>(
    `select a.id, a.client_id, a.confidential, array(
       select encode(s.secret_hash, 'hex')
       from oauth.application_secrets s
       where s.organization_id = a.organization_id and s.application_id = a.id
       order by s.created_at desc
       limit 2
     ) as hashes
     from oauth.applications a
     where a.client_id = any ($1)`,
    [applications.map(({ value }) => value.clientId)],
  );
  return new Map(rows.map((row) => [row.client_id, row]));
}

const insertSecrets = `
  insert into oauth.application_secrets (organization_id, application_id, secret_hash)
  select organization_id, application_id, decode(secret_hash, 'hex')
  from jsonb_to_recordset($1) as given (organization_id uuid, application_id uuid, secret_hash text)
  on conflict on constraint application_secrets_pkey do update set created_at = excluded.created_at`;

const deleteOldSecrets = `
  delete from oauth.application_secrets old
  using jsonb_to_recordset($1) as given (organization_id uuid, application_id uuid)
  where old.organization_id = given.organization_id and old.application_id = given.application_id
    and (
      select count(*)
      from oauth.application_secrets newer
      where newer.organization_id = old.organization_id and newer.application_id = old.application_id
        and newer.created_at > old.created_at
    ) >= 2`;
