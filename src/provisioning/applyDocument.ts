import { randomUUID } from 'node:crypto';
import { type ClientBase, DatabaseError, type Pool } from 'pg';
import type { Secrets } from '../crypto/secrets.ts';
import { ownerTransaction } from '../database/pool/transactions.ts';
import type { Passwords } from '../oauth/passwords.ts';
import { findAccessProblems, writeAccess } from './access.ts';
import { findApplicationProblems, readApplications, writeApplications } from './applications.ts';
import { findCardProblems, writeCards } from './cards.ts';
import { type Document, findDuplicates, type Outline, parseDocument, unitPath } from './document.ts';
import { lockOrganizations, writeOrganizations } from './organizations.ts';
import { entriesOf, ProvisioningError, type Report } from './rows.ts';
import { writeUnits } from './units.ts';
import { findUserProblems, readUsers, writePasswords, writeUsers } from './users.ts';

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
 * @throws {ProvisioningError} with every problem at once; nothing was changed
 */
export async function applyDocument(owner: Pool, source: unknown, options: ApplyOptions): Promise<Applied> {
  const { document, outline, problems } = parseDocument(source);
  const duplicates = findDuplicates(outline);

  return ownerTransaction(owner, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('provisioning', 0))`);
    const existing = await readExisting(client, outline, options.secrets);
    if (!document || duplicates.length + existing.problems.length > 0) {
      throw new ProvisioningError([...problems, ...duplicates, ...existing.problems]);
    }
    return write(client, document, existing, options);
  }).catch((error: unknown) => {
    throw asDocumentError(error);
  });
}

/** Reads the objects that the database already has, and finds problems with them. */
async function readExisting(client: ClientBase, { organizations }: Outline, secrets: Secrets) {
  // Organizations are written before the checks, so that everything else can refer to them. A problem rolls them back.
  const organizationIds = await writeOrganizations(
    client,
    organizations.map(({ name }) => name),
  );
  await lockOrganizations(
    client,
    organizationIds.filter((id) => id !== null),
  );
  // A client id cannot be checked without the organization's name. The rest is compared within the document.
  const idsOrNew = organizationIds.map((id) => id ?? randomUUID());
  const applications = entriesOf(organizations, organizationIds, 'applications');
  const users = entriesOf(organizations, idsOrNew, 'users');
  const units = entriesOf(organizations, idsOrNew, 'units', unitPath);

  const existing = await readUsers(client, users);
  return {
    organizationIds,
    users: existing,
    problems: [
      ...findApplicationProblems(applications, await readApplications(client, applications)),
      ...(await findUserProblems(client, users, secrets)),
      ...(await findAccessProblems(client, users, units)),
      ...(await findCardProblems(client, users, existing)),
    ],
  };
}

async function write(
  client: ClientBase,
  { organizations }: Document,
  existing: Awaited<ReturnType<typeof readExisting>>,
  { secrets, passwords, report }: ApplyOptions,
) {
  const { organizationIds } = existing;
  const applications = entriesOf(organizations, organizationIds, 'applications');
  const users = entriesOf(organizations, organizationIds, 'users');

  const generated = await writeApplications(client, applications);
  await writeUnits(client, entriesOf(organizations, organizationIds, 'units', unitPath), report);
  const ids = await writeUsers(client, users, existing.users, secrets, report);
  const written = existing.users.map((user, index) => ({ ...user, id: ids[index] as string }));
  await writeAccess(client, users, written);
  await writeCards(client, users, written, report);
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

/** Makes PostgreSQL's rejection a problem of the document; returns any other error unchanged. */
function asDocumentError(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { code = '', constraint } = error;
  // Class 23, a broken rule: another session wrote meanwhile, or a table is stricter than these checks.
  const brokenRule = `breaks the rule ${constraint}; if another session is changing the same things, try again`;
  const message = code.startsWith('23') ? brokenRule : code === outOfMemory ? noMemory : undefined;
  return message === undefined ? error : new ProvisioningError([{ path: [], message }]);
}

/**
 * SQLSTATE out_of_memory, which a full lock table also causes.
 * Each organization's sync holds a lock until the transaction ends: thousands fill the table of PostgreSQL's default settings.
 */
const outOfMemory = '53200';
const noMemory = 'is more than PostgreSQL has memory for; apply it in parts, or raise max_locks_per_transaction';
