import { Client, type ClientConfig, type PoolClient } from 'pg';
import { assertDriverVersion, type DriverClient } from './driver.ts';
import { retire } from './retire.ts';

export type ServerClientOptions = {
  /** How long connecting may take, however long requests wait for a connection. */
  readonly connectMs: number;
  /** Whether statements may have names. Behind some poolers each transaction has another session. */
  readonly preparesStatements: boolean;
};

/** The class of clients that the server's pools make. */
export function serverClient({ connectMs, preparesStatements }: ServerClientOptions) {
  assertDriverVersion();
  const Base: new (config?: ClientConfig) => Client = preparesStatements ? PreparingClient : UnpreparedClient;
  return class extends Base {
    constructor(config?: ClientConfig) {
      super({ ...config, connectionTimeoutMillis: connectMs });
    }
  };
}

/** Whether statements with a name are prepared on this connection. */
export const preparesStatements = (client: PoolClient): boolean => !(client instanceof UnpreparedClient);

const BaseClient = Client as unknown as new (config?: ClientConfig) => Client & DriverClient;

class PreparingClient extends BaseClient {
  override _handleErrorMessage(message: unknown): void {
    const { name } = this._getActiveQuery() ?? {};
    // PgBouncer records the name even so, and closes the connection if it parses the name again.
    if (name && !(name in this.connection.parsedStatements)) retire(this);
    super._handleErrorMessage(message);
  }
}

class UnpreparedClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...values: unknown[]) => unknown;
    this.query = ((asked: unknown, ...values: unknown[]) => query(withoutName(asked), ...values)) as typeof this.query;
  }
}

/** A query object that submits itself keeps its name. */
function withoutName(asked: unknown): unknown {
  if (typeof asked !== 'object' || asked === null || 'submit' in asked) return asked;
  return { ...asked, name: undefined };
}
