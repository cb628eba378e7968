import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { createLog } from '../../src/log.ts';
import { withLogin } from '../support/logins.ts';

export type EmbeddedDatabase = ReturnType<typeof embeddedDatabase>;

/** The database that a running service keeps in this folder, which a test reads and writes as its owner. */
export function embeddedDatabase(dataDir: string) {
  const find = () => findEmbeddedPostgres(dataDir, log);

  async function ask(statement: string, values: string[] = []): Promise<string[]> {
    return withLogin((await find())?.ownerUrl ?? '', async (client) => {
      const { rows } = await client.query<string[]>({ text: statement, values, rowMode: 'array' });
      return rows.map(([value = '']) => value);
    });
  }

  async function remember(word: string): Promise<void> {
    await ask('create table if not exists public.words (word text)');
    await ask('insert into public.words values ($1)', [word]);
  }

  const remembered = () => ask('select word from public.words');

  async function postmasterPid(): Promise<number> {
    const [lines = ''] = await ask('select pg_read_file($1)', ['postmaster.pid']);
    return Number(lines.split('\n')[0]);
  }

  /** PostgreSQL's log since its start. */
  async function postgresLog(): Promise<string> {
    const [directory = ''] = await ask('show data_directory');
    return readFile(join(dirname(directory), 'postgres.log'), 'utf8');
  }

  return { find, remember, remembered, postmasterPid, postgresLog };
}

const log = createLog('silent');
