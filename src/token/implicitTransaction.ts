import { type PoolClient, Query, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import { evictPoolOf } from '../database/pools.ts';
import { preparesStatements } from '../database/serverClient.ts';
import { isReadOnly } from '../database/unavailable.ts';
import { withPreparedName } from './preparedStatements.ts';
import { type TransactionSettings, toStatement } from './settings.ts';

/** A statement; one with a name is prepared once per connection. */
export type Statement = {
  readonly name?: string | undefined;
  /** Whether it is never evicted from the connection's prepared statements. */
  readonly isPinned?: true;
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly rowMode?: 'array';
};

/** Runs first in the same transaction; when it raises, the statement does not run. All are pinned. */
export type Precondition = {
  readonly name: string;
  readonly isPinned: true;
  readonly text: string;
  readonly values: readonly (string | Buffer)[];
};

/**
 * Runs one statement under these settings in an implicit transaction: one round trip, pipelined.
 * PostgreSQL makes one transaction of all messages before a Sync ("Pipelining" in its protocol's documentation) and ends the settings
 * with it, whatever its outcome. Then the connection may serve another request, unless its server is read-only: the primary may be
 * another by now.
 *
 * @param precondition runs under the settings before the statement, which does not run if that fails
 */
export function queryInImplicitTransaction<Row extends QueryResultRow>(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null = null,
): Promise<QueryResult<Row>> {
  const set = toStatement(settings);
  const first = precondition ? [set, precondition] : [set];
  if (preparesStatements(client)) {
    prepare(client, set, []);
    // Parsing it needs the rights of its role.
    if (precondition) prepare(client, precondition, [set]);
  }
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null, result: QueryResult<Row>) => {
      if (isReadOnly(error)) evictPoolOf(client);
      if (error) reject(error);
      else resolve(result);
    };
    const named = withPreparedName(client, statement);
    client.query(new QueryAfter(first, { ...named, callback }, preparesStatements(client)));
  });
}

/** Once per connection, pipelined with what follows, which fails and reports the error if this fails. */
function prepare(client: PoolClient, { name, text }: Precondition, settings: readonly Precondition[]): void {
  const { connection } = client as PoolClient & { readonly connection: DriverConnection };
  const isKnown = name in connection.parsedStatements || name in connection.submittedNamedStatements;
  if (!isKnown) client.query(new Preparation(settings, { name, text, callback: () => undefined }));
}

/** The driver's fields of a query and a connection, which its types lack. */
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
  bind(message: { statement: string; values: Precondition['values'] }): void;
  execute(message: { portal: string }): void;
  parse(message: { name: string; text: string }): void;
  sync(): void;
};
const BaseQuery = Query as unknown as new (config: QueryConfig & { callback: unknown }) => DriverQuery & Query;

class Preparation extends BaseQuery {
  readonly #first: readonly Precondition[];

  constructor(first: readonly Precondition[], config: QueryConfig & { callback: unknown }) {
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

function execute(connection: DriverConnection, statements: readonly Precondition[], arePrepared = true): void {
  for (const { name, text, values } of statements) {
    if (!arePrepared) connection.parse({ name: '', text });
    connection.bind({ statement: arePrepared ? name : '', values });
    connection.execute({ portal: '' });
  }
}

/** The driver's query after others, whose portals are not described: they answer with rows and an end. */
class QueryAfter extends BaseQuery {
  readonly #first: readonly Precondition[];
  readonly #arePrepared: boolean;
  #awaited: number;

  constructor(first: readonly Precondition[], config: QueryConfig & { callback: unknown }, arePrepared: boolean) {
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
