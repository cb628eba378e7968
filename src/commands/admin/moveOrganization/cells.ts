import type { Client } from 'pg';
import { problemOfConnectionUrl, toDriverUrl, toLibpqUrl } from '../../../connectionUrl.ts';
import { withClient } from '../../../database/pool/transactions.ts';
import { StartupError } from '../../../errors/errors.ts';

/** A database of the service, by a connection of its own: session locks end with the command, however that ends. */
export type Cell = {
  readonly client: Client;
  /** For one more connection of the driver. */
  readonly url: string;
  /** Its system identifier and oid, which no other database has. */
  readonly identity: string;
  /** Such as 18 for PostgreSQL 18.4. */
  readonly majorVersion: number;
};

/** The cell that an organization leaves, and the one that it goes to. */
export type Cells = { readonly from: Cell; readonly to: Cell };

/** Connects to both. @throws {StartupError} when one cannot be reached, with the option that names it */
export function withCells<T>(fromUrl: string, toUrl: string, work: (cells: Cells) => Promise<T>): Promise<T> {
  return withCell(fromUrl, 'DATABASE_URL', (from) => withCell(toUrl, '--to URL', (to) => work({ from, to })));
}

/** @param name of the option or variable with the URL, which itself may have a password */
export async function withCell<T>(url: string, name: string, work: (cell: Cell) => Promise<T>): Promise<T> {
  const problem = isUrl.test(url) ? problemOfConnectionUrl(url, {}) : 'is no URL such as postgres://user@host/database';
  if (problem !== null) throw new StartupError(`${name} ${problem}.`);
  let isConnected = false;
  try {
    // The URL may be one of the driver's already, whose settings must not be added twice.
    const driverUrl = toDriverUrl(toLibpqUrl(url));
    return await withClient(driverUrl, async (client) => {
      isConnected = true;
      return work(await open(client, driverUrl));
    });
  } catch (error) {
    if (isConnected) throw error;
    const message = `The database of ${name} cannot be reached; nothing was changed. See whether it runs, and whether the URL is right.`;
    throw new StartupError(message, { cause: error });
  }
}

const isUrl = /^postgres(ql)?:\/\//;

async function open(client: Client, url: string): Promise<Cell> {
  // The locks of a command whose machine or network is gone end after some seconds, and not after hours.
  await client.query('set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3');
  const { rows } = await client.query<{ identity: string; version: number }>(`
    select concat_ws('/', s.system_identifier, d.oid) as identity, current_setting('server_version_num')::int as version
    from pg_control_system() s join pg_database d on d.datname = current_database()`);
  const [row] = rows;
  if (!row) throw new Error('A database is in its own catalogue');
  return { client, url, identity: row.identity, majorVersion: Math.floor(row.version / 10_000) };
}
