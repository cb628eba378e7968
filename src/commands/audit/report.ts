import type { ClientBase } from 'pg';
import { rolledBack } from '../../database/pool/transactions.ts';
import { document, type Row, table } from './markdown.ts';
import type { Answer, AuditedDatabase } from './withAuditedDatabase.ts';

/** `npm run audit`: the findings, then all other answers from catalogue and history, on one page. */
export function report({ pool }: AuditedDatabase): Promise<Answer> {
  return rolledBack(pool, write);
}

async function write(client: ClientBase): Promise<Answer> {
  const read = async (statement: string): Promise<Row[]> => (await client.query(statement)).rows;
  const [about] = await read(aboutDatabase);
  const findings = await read(
    'select name, level, object, detail, remedy from audit.findings order by level, name, object',
  );
  const counted = findings.length === 1 ? 'There is 1 finding.' : `There are ${findings.length} findings.`;
  const text = document(
    `# Audit of ${about?.database}, ${about?.today}`,
    findings.length === 0 ? 'There is no finding.' : counted,
    '## Findings',
    table(findings, 'None.'),
    '## What escapes row-level security, and why it may',
    table(await read(bypasses), 'Nothing.'),
    '## Who may do what',
    'A role that is missing may not give the command. Without a policy it finds no row.',
    table(await read(matrix), 'No role may do anything.'),
    '## Tables',
    table(await read(relations), 'There is no table.'),
    '## Functions that a role may call',
    table(await read(functions), 'There is none.'),
    '## The history',
    table(await read(history), 'Nothing has changed yet.'),
  );
  return { text, findings: findings.length };
}

const aboutDatabase = `select current_database() as database, to_char(now(), 'YYYY-MM-DD') as today`;

const bypasses = 'select kind, object, who, how, reason, known from audit.bypasses order by known, kind, object, who';

const matrix = `
  select name as "table", role, command, columns, personal as "personal data",
    case when kind = 'view' then array['What the policies of its tables say.'] else rules end as rule
  from audit.matrix
  join audit.relations using (relation, kind)
  where granted
  order by name, role, command <> 'select', command`;

const relations = `
  select name as "table", kind, owner::text, row_security as "row-level security",
    split_part(comment, E'\\n', -1) as about
  from audit.relations
  order by kind, name`;

const functions = `
  select name as function, callers, case when definer then owner::text else 'the caller' end as "runs with the rights of",
    split_part(comment, E'\\n', -1) as about
  from audit.functions
  where callers <> '{}'
  order by name`;

const history = `
  select relation as "table", command, count(*) as changes, min(occurred_at) as first, max(occurred_at) as last
  from audit.changes
  group by relation, command
  order by relation, command`;
