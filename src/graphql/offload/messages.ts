import type { Config } from '../../config.ts';
import type { Precondition } from '../../database/driver/driver.ts';
import type { PoolSettings } from '../../database/pool/pools.ts';
import type { Encoding } from '../../http/compression.ts';
import type { ThreadState } from '../../observability/metrics.ts';
import type { ServerName } from '../../replica/watchReplica.ts';
import type { Claims } from '../../token/settings.ts';
import type { StatementUse } from '../../token/transaction.ts';
import type { Answer } from '../answer.ts';
import type { Operation } from '../operation.ts';

/** Worker data of the offload thread. */
export type OffloadSettings = {
  readonly config: PoolSettings &
    Pick<
      Config,
      'limits' | 'compilation' | 'logLevel' | 'slowMs' | 'tracing' | 'replicaUrl' | 'webhookPrivateAddresses'
    >;
  readonly authUrl: string;
  readonly keys: readonly [Uint8Array, ...Uint8Array[]];
};

/** An operation as a message to the offload thread, which prepares the document again. */
type OffloadedOperation = Omit<Operation, 'prepared' | 'coerced' | 'signal' | 'token'> & {
  readonly id: number;
  readonly claims: Claims | null;
  /** The check of the token, which runs there. */
  readonly tokenCheck: Precondition | null;
  readonly query: string;
  readonly operationName: string | null;
  /** The encoding of the answer; null when its text is needed. */
  readonly encoding: Encoding | null;
  /** Its trace, as headers of W3C Trace Context. */
  readonly trace: Readonly<Record<string, string>>;
};

/** Messages to the offload thread: an operation, its cancellation, to renew its connections, or to end. */
export type OffloadRequest =
  | OffloadedOperation
  | { readonly id: number; readonly aborted: true }
  | { readonly reconnect: ServerName }
  | { readonly end: true };

export type OffloadRefusal = 'rows' | 'bytes' | 'token' | 'unavailable';

/** Messages from the offload thread: an answer, a refusal, a failure, a log line, its state, or uses. */
export type OffloadMessage =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly refused: OffloadRefusal }
  | { readonly id: number; readonly failed: true }
  | { readonly line: string }
  | { readonly state: ThreadState }
  | { readonly used: readonly StatementUse[] };
