import { document, type Row, table } from './markdown.ts';
import { rolledBack } from './rolledBack.ts';
import type { Answer, AuditedDatabase } from './withAuditedDatabase.ts';

/** `audit who-can`: see `audit.who_can`. */
export async function whoCan(database: AuditedDatabase, relation: string, key: string): Promise<Answer> {
  const columns = 'command, principal, name, columns, policies, rules as rule, through';
  const rows = await ask(database, `select ${columns} from audit.who_can($1, $2)`, relation, key);
  return { text: document(`# Who can reach ${key} of ${relation}`, table(rows, 'No one.')), findings: 0 };
}

/** `audit explain`: see `audit.explain_access`. */
export async function explain(
  database: AuditedDatabase,
  principal: string,
  relation: string,
  key: string,
): Promise<Answer> {
  const text = 'select command, outcome, policy, part, holds, rule from audit.explain_access($1, $2, $3)';
  const answer = document(
    `# What ${principal} can do with ${key} of ${relation}`,
    'Each command was tried and undone. A row is found when every part of one policy holds.',
    table(await ask(database, text, principal, relation, key), 'Nothing is granted to this role.'),
  );
  return { text: answer, findings: 0 };
}

/** `audit visible`: see `audit.visible`. */
export async function visible(database: AuditedDatabase, principal: string): Promise<Answer> {
  const rows = await ask(database, 'select relation, rows, "of" from audit.visible($1)', principal);
  const text = document(`# What ${principal} sees`, table(rows, 'Nothing: no table is granted to this role.'));
  return { text, findings: 0 };
}

async function ask({ pool }: AuditedDatabase, text: string, ...values: string[]): Promise<Row[]> {
  const { rows } = await rolledBack(pool, (client) => client.query(text, values));
  return rows;
}
