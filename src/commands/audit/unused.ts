import { rolledBack } from '../../database/pool/transactions.ts';
import { document, table } from './markdown.ts';
import type { Answer, AuditedDatabase } from './withAuditedDatabase.ts';

/** `audit unused`: see `audit.unused`. */
export function findUnused({ pool }: AuditedDatabase, { since }: { since?: string }): Promise<Answer> {
  return rolledBack(pool, async (client) => {
    const [counted] = (await client.query(countedText, [since ?? null])).rows;
    const unused = (await client.query(unusedText, [counted.since])).rows;
    const computing = (await client.query(computingText, [counted.since])).rows.map(({ object }) => object);
    const text = document(
      `# Rights and policies that no request has used since ${counted.since}`,
      `Uses are counted since ${counted.first}.`,
      table(unused, 'None.'),
      ...(computing.length > 0
        ? [`These functions compute statements, whose uses are not known: ${computing.join(', ')}.`]
        : []),
    );
    return { text, findings: 0 };
  });
}

/** Before the first counted day, no use is known. */
const countedText = `
  select to_char(used_on, 'YYYY-MM-DD') as first, to_char(coalesce($1::timestamptz::date, used_on), 'YYYY-MM-DD') as since
  from audit.uses where role = ''`;

const unusedText = `
  select role, kind, command, object as on, array_remove(array_agg(part order by part), '') as "columns, or policy", min(rule) as rule
  from audit.unused($1)
  group by role, kind, command, object, rule
  order by role, kind, object, command`;

const computingText = `
  select distinct u.object
  from audit.uses u
  join pg_proc p on true
  join pg_namespace n on n.oid = p.pronamespace and format('%I.%I', n.nspname, p.proname) = u.object
  where u.command = 'execute' and u.used_on >= $1 and p.prolang = (select oid from pg_language where lanname = 'plpgsql')
    and p.prosrc ~* '\\mexecute\\s' and not p.prosecdef
  order by 1`;
