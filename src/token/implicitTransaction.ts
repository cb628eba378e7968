import { type PoolClient, Query, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { keepPrepared } from './preparedStatements.ts';
import { settingsStatement, type TransactionSettings, toStatement } from './settings.ts';

/** A statement; one with a name is prepared, and the connection keeps it for the next time. */
export type Statement = Readonly<Pick<QueryConfig, 'text' | 'values' | 'name'>> & { readonly rowMode?: 'array' };

/**
 * Runs one statement under these settings in a transaction of its own and one round trip: PostgreSQL makes one transaction of all
 * messages before a Sync ("Pipelining" in its protocol's documentation) and ends the settings with it, whatever its outcome.
 * When this is over the connection may be used by somebody else.
 */
export function queryInImplicitTransaction<Row extends QueryResultRow>(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
): Promise<QueryResult<Row>> {
  prepareSettings(client, settings);
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null, result: QueryResult<Row>) => (error ? reject(error) : resolve(result));
    client.query(new QueryUnderSettings(settings, { ...keepPrepared(client, statement), callback }));
  });
}

const knowing = new WeakSet<PoolClient>();

/** Once for each connection, together with what follows. */
function prepareSettings(client: PoolClient, settings: TransactionSettings): void {
  if (knowing.has(client)) return;
  knowing.add(client);
  // If it fails so does what follows, where it is told; the next one tries again.
  const callback = (error: Error | null) => error && knowing.delete(client);
  client.query(new Preparation({ ...toStatement(settings), callback }));
}

/** What the driver's query and connection have, though its types do not say so. */
type DriverQuery = {
  readonly name: string;
  readonly text: string;
  prepare(connection: DriverConnection): void;
  requiresPreparation(): boolean;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
};
type DriverConnection = {
  bind(message: { statement: string; values: readonly string[] }): void;
  execute(message: { portal: string }): void;
  parse(message: { name: string; text: string }): void;
  sync(): void;
};
const BaseQuery = Query as unknown as new (config: QueryConfig & { callback: unknown }) => DriverQuery & Query;

class Preparation extends BaseQuery {
  override prepare(connection: DriverConnection): void {
    connection.parse(this);
    connection.sync();
  }
}

/** The driver's query with the settings before it: their portal is not described, so that all they answer is a row and its end. */
class QueryUnderSettings extends BaseQuery {
  readonly #settings: TransactionSettings;
  #areSet = false;

  constructor(settings: TransactionSettings, config: QueryConfig & { callback: unknown }) {
    super(config);
    this.#settings = settings;
  }

  override requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: DriverConnection): void {
    connection.bind({ statement: settingsStatement, values: Object.values(this.#settings) });
    connection.execute({ portal: '' });
    super.prepare(connection);
  }

  override handleDataRow(message: unknown): void {
    if (this.#areSet) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.#areSet) super.handleCommandComplete(message, connection);
    else this.#areSet = true;
  }
}
