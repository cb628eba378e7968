import { Client, type ClientConfig, type PoolClient } from 'pg';

export type ServerClientOptions = {
  /** How long connecting may take, however long the pool's users wait for a connection. */
  readonly connectMs: number;
  /** Whether a statement may get a name, by which the session keeps it. Behind some poolers each transaction has another session. */
  readonly preparesStatements: boolean;
};

/** The driver's client as the server's pools make them. */
export function serverClient({ connectMs, preparesStatements }: ServerClientOptions) {
  const Base = preparesStatements ? Client : UnpreparedClient;
  return class extends Base {
    constructor(config?: ClientConfig) {
      super({ ...config, connectionTimeoutMillis: connectMs });
    }
  };
}

/** Whether statements with a name are prepared on this connection. */
export const preparesStatements = (client: PoolClient): boolean => !(client instanceof UnpreparedClient);

class UnpreparedClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...values: unknown[]) => unknown;
    this.query = ((asked: unknown, ...values: unknown[]) => query(withoutName(asked), ...values)) as typeof this.query;
  }
}

/** What brings its own way to the server knows what it does. */
function withoutName(asked: unknown): unknown {
  if (typeof asked !== 'object' || asked === null || 'submit' in asked) return asked;
  return { ...asked, name: undefined };
}
