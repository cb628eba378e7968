import type { Pool, PoolClient, QueryConfig } from 'pg';
import { type TransactionSettings, toStatement } from '../../../../src/token/settings.ts';
import { inOneWrite, type Row } from '../queryPipelined.ts';

/** The one transaction of an operation. It begins with the first statement and in the same packet; nothing is sent without one. */
export class OperationTransaction {
  readonly #pool: Pool;
  readonly #settings: TransactionSettings;
  #begun: Promise<PoolClient> | null = null;

  constructor(pool: Pool, settings: TransactionSettings) {
    this.#pool = pool;
    this.#settings = settings;
  }

  async query(statement: QueryConfig): Promise<Row[]> {
    if (this.#begun) return (await (await this.#begun).query<Row>(statement)).rows;
    const connecting = this.#pool.connect();
    this.#begun = connecting;
    const client = await connecting;
    const [, , result] = await inOneWrite(client, () =>
      Promise.all([client.query('begin'), client.query(toStatement(this.#settings)), client.query<Row>(statement)]),
    );
    return result.rows;
  }

  /** Commits before the answer is sent, so that each acknowledged change is there. */
  async end(failed: boolean): Promise<void> {
    const client = await this.#begun;
    if (!client) return;
    await client.query(failed ? 'rollback' : 'commit');
    client.release();
  }
}
