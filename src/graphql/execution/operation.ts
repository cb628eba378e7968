import type { Pool } from 'pg';
import type { Precondition } from '../../database/driver/driver.ts';
import type { RequestId } from '../../observability/requestFields.ts';
import type { RequiredLsns } from '../../replica/watchReplica.ts';
import type { AccessToken } from '../../token/accessTokens.ts';
import type { PreparedDocument } from '../document/document.ts';
import type { QueryCost } from '../document/queryCost.ts';
import type { IdempotencyKey } from '../request/request.ts';

/** A validated operation: document, variables and arguments. */
export type Operation = {
  readonly prepared: PreparedDocument;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables in the types that the operation declares, with its defaults. */
  readonly coerced: Readonly<Record<string, unknown>>;
  /** Null under public introspection only. */
  readonly token: AccessToken | null;
  readonly requestId: RequestId;
  /** Query cost, if every page is full. */
  readonly cost: QueryCost;
  /** How many rows its mutations get in lists. */
  readonly writtenRows: number;
  /** Minimum LSNs of a replica that may answer; null when only the primary may. */
  readonly replicaLsns: RequiredLsns | null;
  /** The key of a mutation that is executed once, however often it is sent. */
  readonly idempotencyKey?: IdempotencyKey | null;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

/** The pool that a statement runs on, and the LSN check before it. */
export type QueryTarget = {
  readonly pool: Pool;
  /** Runs before each transaction; if it fails, the transaction does not run. */
  readonly lsnCheck: Precondition | null;
};

/** A statement that was run, and its duration, the wait for a connection included. */
export type RanStatement = { readonly text: string; readonly durationMs: number };

export const isQueryOf = ({ operation }: PreparedDocument) => operation.operation === 'query';
