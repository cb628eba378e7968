import { createHash } from 'node:crypto';
import { Client } from 'pg';

/** The first column of the rows, sorted; or how many rows were changed; or the SQLSTATE of the refusal. */
export type Outcome = string[] | number | { refused: string };

/** `reads`: it changes nothing, so that its transaction can be committed, as a request's is. */
export type Statement = { text: string; values: string[]; reads?: true };

export const insufficientPrivilege = '42501';

/**
 * Two connections of the authenticator that everybody shares, in turn and in one order. Each attempt is one transaction under
 * exactly these settings, and what changes something is undone. Statements are prepared once for each connection, as a running server does.
 */
export async function openAttempts(authUrl: string) {
  const connections = [await connect(authUrl), await connect(authUrl)] as const;
  let turn = 0;

  async function attempt(settings: Record<string, string>, { text, values, reads }: Statement): Promise<Outcome> {
    const connection = connections[turn++ % 2] ?? connections[0];
    const name = createHash('sha1').update(text).digest('hex');
    // Sent together: after a failure PostgreSQL refuses the rest, until the transaction ends.
    const [begun, set, done, ended] = await Promise.allSettled([
      connection.query('begin'),
      connection.query({ name: 'settings', text: setSettings, values: [JSON.stringify(settings)] }),
      connection.query<string[]>({ name, text, values, rowMode: 'array' }),
      connection.query(reads ? 'commit' : 'rollback'),
    ]);
    for (const part of [begun, set, ended]) if (part.status === 'rejected') throw part.reason;
    if (done.status === 'rejected') {
      const { code = String(done.reason) } = done.reason as { code?: string };
      if (code === notSupported && text.startsWith('merge into')) return { refused: insufficientPrivilege };
      return code === noDataFound ? [] : { refused: code };
    }
    const { fields, rows, rowCount } = done.value;
    return fields.length > 0 ? rows.map(([first]) => String(first)).sort() : (rowCount ?? 0);
  }

  return { attempt, close: () => Promise.all(connections.map((connection) => connection.end())) };
}

async function connect(connectionString: string): Promise<Client> {
  const connection = new Client({ connectionString, pipeline: true });
  await connection.connect();
  return connection;
}

/** How app_hidden.lock_user says that it found nothing, when it is asked at all: the planner may know before. */
const noDataFound = 'P0002';

/** Before 17 PostgreSQL merges into no view, and says so before it asks for rights. */
const notSupported = '0A000';

const setSettings = 'select set_config(key, value, true) from jsonb_each_text($1)';
