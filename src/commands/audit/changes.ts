import { StartupError } from '../../errors/errors.ts';
import { findRow, isId } from './findRow.ts';
import { document, table } from './markdown.ts';
import type { Answer, AuditedDatabase } from './withAuditedDatabase.ts';

type ChangesOptions = { table?: string; of?: string; by?: string; since?: string; limit: number };

/** `audit changes`: the history, the newest first. It names applications and people, who have ids in the history, by what they are called now. */
export async function readChanges(database: AuditedDatabase, options: ChangesOptions): Promise<Answer> {
  const { of = null, by = null } = options;
  const hasNames = await readsNames(database);
  // An auditor has an id, and may not read the tables.
  const isGiven = of === null || (isId(of) && !hasNames);
  const subject = isGiven ? of : (await findRow(database, 'app_public.users', of)).key;
  const caller = by === null || isId(by) ? by : await findCaller(database, by);
  const { rows } = await database.pool.query(
    `select
       occurred_at as "when", concat_ws(' ', ${hasNames ? nameOfCaller : 'null'}, ${callerById}) as who, role,
       command, relation as "table", row_id as row, columns, before, after, request_id as request, server_request_id as "server request"
     from audit.changes c
     where ($1::text is null or relation = $1)
       and ($2::uuid is null or subject_id = $2)
       and ($3::timestamptz is null or occurred_at >= $3)
       and ($4::uuid is null or application_id = $4 or user_id = $4)
     order by occurred_at desc, id desc
     limit $5`,
    [options.table ?? null, subject, options.since ?? null, caller, options.limit],
  );
  return { text: document('# Changes', table(rows, 'None.')), findings: 0 };
}

/**
 * The id of an application or person that is named as `audit.find_principal` takes it.
 *
 * @throws {StartupError} for a principal that is neither
 */
async function findCaller({ pool }: AuditedDatabase, principal: string): Promise<string> {
  const { rows } = await pool.query(
    'select coalesce(p.user_id, p.application_id) as id from audit.find_principal($1) p',
    [principal],
  );
  const { id } = rows[0];
  if (id === null)
    throw new StartupError(`${principal} is no application or person; name app:<client id> or me:<e-mail>.`);
  return id;
}

const callerById = "coalesce('user ' || user_id, 'application ' || application_id, 'login ' || login)";

/** Null if there was no token, or if the person or application has been deleted. */
const nameOfCaller = `case
  when user_id is not null then (select full_name from app_public.users u where u.id = c.user_id)
  else (select name from oauth.applications a where a.id = c.application_id)
end || ','`;

/** An auditor may read the history, and none of the rows that have names. */
async function readsNames({ pool }: AuditedDatabase): Promise<boolean> {
  const { rows } = await pool.query(
    `select bool_and(has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')) as reads
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where (n.nspname, c.relname) in (('app_public', 'users'), ('oauth', 'applications'))`,
  );
  return rows[0]?.reads === true;
}
