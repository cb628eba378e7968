import type { Encoded } from '../../http/compression.ts';
import type { RequestFields } from '../../observability/requestFields.ts';

/** The HTTP status and the JSON text of an answer, and its fields for log and metrics. */
export type Answer = {
  readonly status: number;
  readonly body: string;
  /** The body as it is sent, if it is encoded already; then there is no text. */
  readonly encoded?: Encoded;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the same operation may have another outcome later, since what failed is no fault of its own. */
  readonly isTransient?: boolean;
  readonly fields?: Pick<RequestFields, 'code' | 'statements' | 'planningMs' | 'server' | 'isReplayed'>;
};
