import type { Encoded } from '../../http/compression.ts';
import type { RequestFields } from '../../observability/requestFields.ts';

/** The HTTP status and the JSON text of an answer, and its fields for log and metrics. */
export type Answer = {
  readonly status: number;
  readonly body: string;
  /** The body in its encoding, if it is encoded already; then there is no text. */
  readonly encoded?: Encoded;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the same operation may succeed later, since the failure was not its own fault. */
  readonly isTransient?: boolean;
  readonly fields?: Pick<RequestFields, 'code' | 'statements' | 'planningMs' | 'server' | 'isReplayed'>;
};
