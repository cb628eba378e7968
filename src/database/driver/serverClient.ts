import { randomUUID } from 'node:crypto';
import { Client, type ClientConfig, DatabaseError, type PoolClient } from 'pg';
import { assertDriverVersion, type DriverClient } from './driver.ts';
import { isStalePlan } from './isStalePlan.ts';
import { retire } from './retire.ts';

export type ServerClientOptions = {
  /** How long connecting may take, however long requests wait for a connection. */
  readonly connectMs: number;
  /** Whether statements may have names. Behind some poolers each transaction has another session. */
  readonly preparesStatements: boolean;
  /** Called when a connection prepared a statement before its result type changed: each connection made before then is as old. */
  readonly onStalePlan: () => void;
};

/** The class of clients that the server's pools make. */
export function serverClient({ connectMs, preparesStatements, onStalePlan }: ServerClientOptions) {
  assertDriverVersion();
  const plans: Plans = {
    generation: '',
    replace(generation) {
      if (generation !== plans.generation) return;
      plans.generation = ` -- ${randomUUID()}`;
      onStalePlan();
    },
  };
  const Base: new (config: ClientConfig, plans: Plans) => Client & DriverClient = preparesStatements
    ? PreparingClient
    : UnpreparedClient;
  return class extends Base {
    constructor(config?: ClientConfig) {
      super({ ...config, connectionTimeoutMillis: connectMs }, plans);
    }

    /** After a system error (SQLSTATE class 58) the server may have lost its files: a new connection shows whether it is of use. */
    override _handleErrorMessage(message: unknown): void {
      if (message instanceof DatabaseError && message.code?.startsWith('58')) retire(this);
      super._handleErrorMessage(message);
    }
  };
}

/**
 * The prepared statements of one pool. PgBouncer has statements of the same text share one, on server connections that outlive ours.
 * So a new generation has other texts, by a comment at the end.
 */
type Plans = {
  generation: string;
  /** Begins the next generation, unless this one has ended already. */
  replace(generation: string | null): void;
};

/** Whether statements with a name are prepared on this connection. */
export const preparesStatements = (client: PoolClient): boolean => !(client instanceof UnpreparedClient);

const BaseClient = Client as unknown as new (config?: ClientConfig) => Client & DriverClient;

class PreparingClient extends BaseClient {
  readonly #plans: Plans;
  /**
   * Null until the first statement is prepared: a connection that is opened while a generation ends has the next one.
   * With the name of the one before, it would stay in the pool when its plans become stale.
   */
  #generation: string | null = null;

  constructor(config: ClientConfig, plans: Plans) {
    super(config);
    this.#plans = plans;
    const { connection } = this;
    const parse = connection.parse.bind(connection);
    connection.parse = ({ name, text, ...rest }) => {
      if (name) this.#generation ??= plans.generation;
      parse({ name, text: name ? `${text}${this.#generation}` : text, ...rest });
    };
  }

  override _handleErrorMessage(message: unknown): void {
    if (isStalePlan(message)) this.#plans.replace(this.#generation);
    const { name } = this._getActiveQuery() ?? {};
    // PgBouncer records the name even so, and closes the connection if it parses the name again.
    if (name && !(name in this.connection.parsedStatements)) retire(this);
    super._handleErrorMessage(message);
  }
}

class UnpreparedClient extends BaseClient {
  constructor(config?: ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...values: unknown[]) => unknown;
    this.query = ((asked: unknown, ...values: unknown[]) => query(withoutName(asked), ...values)) as typeof this.query;
  }

  /** Sends one statement at a time: PgBouncer before 1.21 mixes up the answers to statements that are pipelined. */
  override _pulseQueryQueue(): void {
    if (!this.readyForQuery) return;
    const later = this._queryQueue.splice(1);
    super._pulseQueryQueue();
    this._queryQueue.push(...later);
  }
}

/** A query object that submits itself keeps its name. */
function withoutName(asked: unknown): unknown {
  if (typeof asked !== 'object' || asked === null || 'submit' in asked) return asked;
  return { ...asked, name: undefined };
}
