import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { ClientBase } from 'pg';
import driver from 'pg/package.json' with { type: 'json' };

/**
 * The private API of the driver: all fields of pg that its types lack and this folder uses.
 * Any version may change them, so the start fails unless pg has the version in which they were read.
 */
export type DriverClient = {
  readonly connection: DriverConnection;
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly ssl: boolean | ConnectionOptions;
  readonly sslNegotiation: 'postgres' | 'direct';
  /** Whether PostgreSQL has answered all that was sent. */
  readonly readyForQuery: boolean;
  /** What is not yet sent, and the method that sends all of it. */
  readonly _queryQueue: unknown[];
  _pulseQueryQueue(): void;
  _getActiveQuery(): { readonly name?: string } | null;
  _handleErrorMessage(message: unknown): void;
};

export type DriverConnection = {
  readonly stream: Socket;
  /** Name → text. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  connect(path: string): void;
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
  parse: (message: { name: string; text: string }) => void;
  bind(message: { statement: string; values: readonly (string | Buffer | null)[] }): void;
  execute(message: { portal: string }): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
  flush(): void;
};

export type DriverQuery = {
  readonly name: string;
  readonly text: string;
  prepare(connection: DriverConnection): void;
  requiresPreparation(): boolean;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: DataRow): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
  handleError(error: Error, connection: DriverConnection): void;
  handleReadyForQuery(connection: DriverConnection): void;
};

/** The cells of a row. */
export type DataRow = { readonly fields: readonly (string | null)[] };

/** Converts a value to the protocol's form. */
export const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  prepareValue(value: unknown): string | Buffer | null;
};

export const driverOf = <Client extends ClientBase>(client: Client): Client & DriverClient =>
  client as Client & DriverClient;

/** @throws when pg is another version than the one that this folder was written for */
export function assertDriverVersion(version: string = driver.version): void {
  if (version === knownVersion) return;
  throw new Error(
    `pg is ${version}, and src/database/driver uses fields of pg ${knownVersion} that are private. ` +
      `Install ${knownVersion}, or compare these fields with ${version}, run the tests and change knownVersion in driver.ts.`,
  );
}

const knownVersion = '8.23.1';
