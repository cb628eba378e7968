import type { ClientBase } from 'pg';
import { StartupError } from '../../errors/errors.ts';

/** Names a person: in an organization, by external identifier or e-mail address. */
export type UserName = {
  readonly organization: string;
  readonly externalIdentifier?: string | undefined;
  readonly email?: string | undefined;
};

export type FoundUser = {
  readonly organizationId: string;
  readonly id: string;
  readonly externalIdentifier: string | null;
  readonly email: string;
};

/**
 * Locks the person, who then stays until the transaction ends, before anything of theirs.
 *
 * @throws {StartupError} when there is no such organization or no such person in it, or it is not served here
 */
export async function findUser(client: ClientBase, name: UserName): Promise<FoundUser> {
  const organizationId = await findOrganization(client, name.organization);
  await requireServed(client, organizationId);
  const { rows } = await client.query<FoundUser>(
    `select organization_id as "organizationId", id, external_identifier as "externalIdentifier", email
     from app_public.users
     where organization_id = $1 and (external_identifier = $2 or email_lowercase = app_hidden.lowercase($3))
     for update`,
    [organizationId, name.externalIdentifier, name.email],
  );
  const [user] = rows;
  if (user) return user;
  const [what, value] =
    name.email === undefined ? ['external identifier', name.externalIdentifier] : ['e-mail address', name.email];
  throw new StartupError(`The organization ${name.organization} has no user with the ${what} ${value}.`);
}

/** The organization's id. @throws {StartupError} when no organization has this name */
export async function findOrganization(client: ClientBase, name: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>('select id from app_hidden.organizations where name = $1', [
    name,
  ]);
  const [organization] = rows;
  if (!organization) throw new StartupError(`There is no organization ${name}.`);
  return organization.id;
}

/**
 * For what writes to an organization: the next change belongs into the cell that serves it.
 *
 * @throws {StartupError} while it is not served here
 */
export async function requireServed(client: ClientBase, organizationId: string): Promise<void> {
  const { rows } = await client.query<{ isServed: boolean }>('select app_hidden.is_served($1) as "isServed"', [
    organizationId,
  ]);
  if (!rows[0]?.isServed)
    throw new StartupError(
      'The organization is being moved to another cell, or has moved there: run the command there.',
    );
}

/** The names of a person in results. */
export const userNames = ({ externalIdentifier, email }: FoundUser) => ({ externalIdentifier, email });
