import { type PoolClient, Query, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { evictPoolOf } from '../database/pools.ts';
import { preparesStatements } from '../database/serverClient.ts';
import { isReadOnly } from '../database/unavailable.ts';
import { keepPrepared } from './preparedStatements.ts';
import { type TransactionSettings, toStatement } from './settings.ts';

/** A statement; one with a name is prepared, and the connection keeps it for the next time. */
export type Statement = {
  readonly name?: string | undefined;
  /** Whether the connection keeps it whatever others there are. */
  readonly isKept?: true;
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly rowMode?: 'array';
};

/** A statement that only has to succeed. There are few of them, and what follows one relies on its being prepared. */
export type Preliminary = {
  readonly name: string;
  readonly isKept: true;
  readonly text: string;
  readonly values: readonly (string | Buffer)[];
};

/**
 * Runs one statement under these settings in a transaction of its own and one round trip: PostgreSQL makes one transaction of all
 * messages before a Sync ("Pipelining" in its protocol's documentation) and ends the settings with it, whatever its outcome.
 * When this is over the connection may be used by somebody else, unless it was of a server that may not write: the primary may be
 * another by now.
 *
 * @param proof runs under the settings before the statement, which does not run if that fails
 */
export function queryInImplicitTransaction<Row extends QueryResultRow>(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
  proof: Preliminary | null = null,
): Promise<QueryResult<Row>> {
  const set = toStatement(settings);
  const first = proof ? [set, proof] : [set];
  if (preparesStatements(client)) {
    prepare(client, set, []);
    // Only who has its role may name what it asks.
    if (proof) prepare(client, proof, [set]);
  }
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null, result: QueryResult<Row>) => {
      if (isReadOnly(error)) evictPoolOf(client);
      if (error) reject(error);
      else resolve(result);
    };
    client.query(new QueryAfter(first, { ...keepPrepared(client, statement), callback }, preparesStatements(client)));
  });
}

/** Once for each connection, together with what follows. If it fails so does that, where it is told. */
function prepare(client: PoolClient, { name, text }: Preliminary, settings: readonly Preliminary[]): void {
  const { connection } = client as PoolClient & { readonly connection: DriverConnection };
  const isKnown = name in connection.parsedStatements || name in connection.submittedNamedStatements;
  if (!isKnown) client.query(new Preparation(settings, { name, text, callback: () => undefined }));
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
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  bind(message: { statement: string; values: Preliminary['values'] }): void;
  execute(message: { portal: string }): void;
  parse(message: { name: string; text: string }): void;
  sync(): void;
};
const BaseQuery = Query as unknown as new (config: QueryConfig & { callback: unknown }) => DriverQuery & Query;

class Preparation extends BaseQuery {
  readonly #first: readonly Preliminary[];

  constructor(first: readonly Preliminary[], config: QueryConfig & { callback: unknown }) {
    super(config);
    this.#first = first;
  }

  override prepare(connection: DriverConnection): void {
    execute(connection, this.#first);
    connection.parse(this);
    connection.submittedNamedStatements[this.name] = this.text;
    connection.sync();
  }

  override handleDataRow(): void {}

  override handleCommandComplete(): void {}
}

function execute(connection: DriverConnection, statements: readonly Preliminary[], arePrepared = true): void {
  for (const { name, text, values } of statements) {
    if (!arePrepared) connection.parse({ name: '', text });
    connection.bind({ statement: arePrepared ? name : '', values });
    connection.execute({ portal: '' });
  }
}

/** The driver's query with others before it: their portals are not described, so that all they answer is rows and an end. */
class QueryAfter extends BaseQuery {
  readonly #first: readonly Preliminary[];
  readonly #arePrepared: boolean;
  #awaited: number;

  constructor(first: readonly Preliminary[], config: QueryConfig & { callback: unknown }, arePrepared: boolean) {
    super(config);
    this.#first = first;
    this.#arePrepared = arePrepared;
    this.#awaited = first.length;
  }

  override requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: DriverConnection): void {
    execute(connection, this.#first, this.#arePrepared);
    super.prepare(connection);
  }

  override handleDataRow(message: unknown): void {
    if (this.#awaited === 0) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.#awaited === 0) super.handleCommandComplete(message, connection);
    else this.#awaited--;
  }
}
