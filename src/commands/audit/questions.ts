import { rolledBack } from '../../database/pool/transactions.ts';
import { StartupError } from '../../errors/errors.ts';
import { findRow } from './findRow.ts';
import { document, type Row, table as toTable } from './markdown.ts';
import type { Answer, AuditedDatabase } from './withAuditedDatabase.ts';

/** A past time, answered from the history; now unless given. */
type AsOf = { readonly at?: string };

/** `audit who-can`: see `audit.who_can` and `audit.who_could`. */
export async function whoCan(database: AuditedDatabase, table: string, name: string, { at }: AsOf): Promise<Answer> {
  const { relation, key } = await findRow(database, table, name);
  const columns = 'command, principal, name, columns, policies, rules as rule, through';
  const asked = at === undefined ? 'who_can($1, $2)' : 'who_could($1, $2, $3)';
  const values = at === undefined ? [relation, key] : [relation, key, at];
  const rows = await ask(database, `select ${columns} from audit.${asked}`, ...values).catch((error) => {
    // SQLSTATE no_data_found, with a hint about the key, which is not what is wrong.
    if (at === undefined || error.code !== 'P0002') throw error;
    const remedy = `\`npm run -s audit -- changes --table ${relation}\` shows when.`;
    throw new StartupError(
      `${relation} had no row ${name} then (${at}): it was made later, or deleted before. ${remedy}`,
    );
  });
  const title =
    at === undefined ? `# Who can reach ${name} of ${relation}` : `# Who could reach ${name} of ${relation}, ${at}`;
  return { text: document(title, toTable(rows, 'No one.')), findings: 0 };
}

/** `audit explain`: see `audit.explain_access`. */
export async function explain(
  database: AuditedDatabase,
  principal: string,
  table: string,
  name: string,
): Promise<Answer> {
  const { relation, key } = await findRow(database, table, name);
  const text = 'select command, outcome, policy, part, holds, rule from audit.explain_access($1, $2, $3)';
  const answer = document(
    `# What ${principal} can do with ${name} of ${relation}`,
    'Each command was tried and undone. A row is found when every part of one policy holds.',
    toTable(await ask(database, text, principal, relation, key), 'Nothing is granted to this role.'),
  );
  return { text: answer, findings: 0 };
}

/** `audit explain` of a decision: see `audit.explain_decision`. */
export async function explainDecision(
  database: AuditedDatabase,
  application: string,
  question: string,
  { at }: AsOf,
): Promise<Answer> {
  const text = 'select step, name, detail, holds, id from audit.explain_decision($1, $2, $3)';
  const rows = await ask(database, text, application, question, at ?? null);
  const title = `# What ${application} is told about ${question}${at === undefined ? '' : `, ${at}`}`;
  return { text: document(title, 'A grant holds if it was valid then.', toTable(rows, 'Nothing.')), findings: 0 };
}

/** `audit visible`: see `audit.visible` and `audit.visible_at`. */
export async function visible(database: AuditedDatabase, principal: string, { at }: AsOf): Promise<Answer> {
  if (at !== undefined) {
    const rows = await ask(database, 'select relation, key, value from audit.visible_at($1, $2)', principal, at);
    return { text: document(`# What ${principal} could see, ${at}`, toTable(rows, 'Nothing.')), findings: 0 };
  }
  const rows = await ask(database, 'select relation, rows, "of" from audit.visible($1)', principal);
  const text = document(`# What ${principal} sees`, toTable(rows, 'Nothing: no table is granted to this role.'));
  return { text, findings: 0 };
}

async function ask({ pool }: AuditedDatabase, text: string, ...values: (string | null)[]): Promise<Row[]> {
  const { rows } = await rolledBack(pool, (client) => client.query(text, values));
  return rows;
}
