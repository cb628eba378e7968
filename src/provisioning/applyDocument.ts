import type { ClientBase, Pool } from 'pg';
import type { Secrets } from '../crypto/secrets.ts';
import { ownerTransaction } from '../database/pool/transactions.ts';
import type { Passwords } from '../oauth/passwords.ts';
import { writeAccess } from './access.ts';
import { writeApplications } from './applications.ts';
import { writeCards } from './cards.ts';
import { type Document, parseDocument, unitPath } from './document.ts';
import { lockOrganizations, writeOrganizations } from './organizations.ts';
import { entriesOf, type Report, requireNoProblems } from './rows.ts';
import { writeUnits } from './units.ts';
import { findTakenTokens, writePasswords, writeUsers } from './users.ts';

export type ApplyOptions = {
  secrets: Secrets;
  passwords: Passwords;
  /** Reports the progress to a person. */
  report: Report;
};

/** The document's organizations and applications; a secret only if this run made it. */
export type Applied = Awaited<ReturnType<typeof write>>;

/**
 * Changes the database to match the document, in one transaction.
 * It adds what is missing and changes what differs. It deletes nothing, and writes nothing when nothing differs. A second run waits.
 *
 * @param owner connections as the owner of the tables
 * @param source the document, as parsed JSON
 * @throws {ProvisioningError} with every problem of one step; nothing was changed. The steps are the document itself, its applications,
 * units, users, and what the users have
 */
export async function applyDocument(owner: Pool, source: unknown, options: ApplyOptions): Promise<Applied> {
  const document = parseDocument(source);
  return ownerTransaction(owner, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('provisioning', 0))`);
    return write(client, document, options);
  });
}

async function write(client: ClientBase, { organizations }: Document, { secrets, passwords, report }: ApplyOptions) {
  const organizationIds = await writeOrganizations(
    client,
    organizations.map(({ name }) => name),
  );
  await lockOrganizations(client, organizationIds);
  const generated = await writeApplications(client, entriesOf(organizations, organizationIds, 'applications'));
  await writeUnits(client, entriesOf(organizations, organizationIds, 'units', unitPath), report);
  const users = entriesOf(organizations, organizationIds, 'users');
  const written = await writeUsers(client, users, secrets, report);
  requireNoProblems([
    ...(await findTakenTokens(client, users, written, secrets)),
    ...(await writeAccess(client, users, written)),
    ...(await writeCards(client, users, written)),
  ]);
  await writePasswords(client, users, written, passwords, report);

  return {
    organizations: organizations.map(({ name, applications }, index) => ({
      id: organizationIds[index] ?? '',
      name,
      applications: applications.map(({ name, clientId }) => {
        const clientSecret = generated.get(clientId);
        return { name, clientId, ...(clientSecret === undefined ? {} : { clientSecret }) };
      }),
    })),
  };
}
