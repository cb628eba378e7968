import { document, table } from './markdown.ts';
import { rolledBack } from './rolledBack.ts';
import type { Answer, AuditedDatabase } from './withAuditedDatabase.ts';

/** `audit who-can`: see `audit.who_can`. */
export async function whoCan({ pool }: AuditedDatabase, relation: string, key: string): Promise<Answer> {
  const { rows } = await rolledBack(pool, (client) =>
    client.query(
      `select command, principal, name, columns, policies, rules as rule, through
       from audit.who_can($1, $2)`,
      [relation, key],
    ),
  );
  const text = document(`# Who can reach ${key} of ${relation}`, table(rows, 'No one.'));
  return { text, findings: 0 };
}

/** `audit explain`: see `audit.explain_access`. */
export async function explain(
  { pool }: AuditedDatabase,
  principal: string,
  relation: string,
  key: string,
): Promise<Answer> {
  const { rows } = await rolledBack(pool, (client) =>
    client.query(`select command, outcome, policy, part, holds, rule from audit.explain_access($1, $2, $3)`, [
      principal,
      relation,
      key,
    ]),
  );
  const text = document(
    `# What ${principal} can do with ${key} of ${relation}`,
    'Each command was tried and undone. A row is found when every part of one policy holds.',
    table(rows, 'Nothing is granted to this role.'),
  );
  return { text, findings: 0 };
}

/** `audit visible`: see `audit.visible`. */
export async function visible({ pool }: AuditedDatabase, principal: string): Promise<Answer> {
  const { rows } = await rolledBack(pool, (client) =>
    client.query('select relation, rows, "of" from audit.visible($1)', [principal]),
  );
  const text = document(`# What ${principal} sees`, table(rows, 'Nothing: no table is granted to this role.'));
  return { text, findings: 0 };
}
