import type { ClientBase } from 'pg';
import type { Findings } from './findings.ts';
import type { Entry } from './hashes.ts';

/**
 * Checks that each person whose values were erased has been deleted.
 * Only the deletion of a person erases values, and the history records it. So an attacker who erases the entries of a living person is
 * found.
 */
export class Erasures {
  readonly #persons = new Map<string, Person>();
  entries = 0;

  add({ id, organizationId, subjectId }: Entry): void {
    this.entries += 1;
    const key = `${organizationId} ${subjectId}`;
    if (!this.#persons.has(key)) this.#persons.set(key, { entry: id, organizationId, subjectId });
  }

  /** @returns whether living persons could be looked for, which an auditor's role may not do */
  async verify(client: ClientBase, findings: Findings): Promise<boolean> {
    const { rows } = await client.query<{ maySee: boolean }>(
      `select case when has_schema_privilege('app_public', 'usage') then has_table_privilege('app_public.users', 'select') else false end as "maySee"`,
    );
    const maySee = rows[0]?.maySee ?? false;
    const persons = [...this.#persons.values()];
    for (let at = 0; at < persons.length; at += personsAtOnce)
      await verifyPersons(client, persons.slice(at, at + personsAtOnce), maySee, findings);
    return maySee || persons.length === 0;
  }
}

type Person = Pick<Entry, 'organizationId' | 'subjectId'> & { readonly entry: number };

const personsAtOnce = 1000;

async function verifyPersons(
  client: ClientBase,
  persons: readonly Person[],
  maySee: boolean,
  findings: Findings,
): Promise<void> {
  const lives =
    'exists (select from app_public.users u where (u.organization_id, u.id) = (e.organization_id, e.subject_id))';
  const { rows } = await client.query<{ entry: string; isDeleted: boolean; lives: boolean }>(
    `select e.entry, ${maySee ? lives : 'false'} as lives,
       exists (
         select from audit.changes d
         where (d.organization_id, d.subject_id) = (e.organization_id, e.subject_id)
           and d.relation = 'app_public.users' and d.command = 'delete' and d.row_id = d.subject_id::text
       ) as "isDeleted"
     from unnest($1::bigint[], $2::uuid[], $3::uuid[]) as e (entry, organization_id, subject_id)`,
    [
      persons.map(({ entry }) => entry),
      persons.map(({ organizationId }) => organizationId),
      persons.map(({ subjectId }) => subjectId),
    ],
  );
  for (const { entry, isDeleted, lives } of rows) {
    if (lives) findings.add(`Entry ${entry} was erased, though its person was not deleted.`);
    else if (!isDeleted) findings.add(`Entry ${entry} was erased, and no deletion of its person is recorded.`);
  }
}
