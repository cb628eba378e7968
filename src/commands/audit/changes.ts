import { findRow, isKey } from './findRow.ts';
import { document, table } from './markdown.ts';
import type { Answer, AuditedDatabase } from './withAuditedDatabase.ts';

export type ChangesOptions = { table?: string; of?: string; since?: string; limit: number };

/** `audit changes`: the history, the newest first. */
export async function readChanges(database: AuditedDatabase, options: ChangesOptions): Promise<Answer> {
  const { of = null } = options;
  // An auditor has an id, and may not read the tables.
  const subject = of === null || isKey(of) ? of : (await findRow(database, 'app_public.users', of)).key;
  const { rows } = await database.pool.query(
    `select
       occurred_at as "when", coalesce('user ' || user_id, 'application ' || application_id, 'login ' || login) as who, role,
       command, relation as "table", row_id as row, columns, before, after, request_id as request, server_request_id as "server request"
     from audit.changes
     where ($1::text is null or relation = $1)
       and ($2::uuid is null or subject_id = $2)
       and ($3::timestamptz is null or occurred_at >= $3)
     order by occurred_at desc, id desc
     limit $4`,
    [options.table ?? null, subject, options.since ?? null, options.limit],
  );
  return { text: document('# Changes', table(rows, 'None.')), findings: 0 };
}
