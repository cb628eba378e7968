import type { GraphQLFormattedError } from 'postgraphile/graphql';
import type { Encoded } from '../../http/compression.ts';
import type { RequestFields } from '../../observability/requestFields.ts';
import type { ErrorCode } from '../errors.ts';
import type { ShownSecret } from './shownSecrets.ts';

/** The HTTP status and the JSON text of an answer, and its fields for log and metrics. */
export type Answer = {
  readonly status: number;
  readonly body: string;
  /** The body in its encoding, if it is encoded already; then there is no text. */
  readonly encoded?: Encoded;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the same operation may succeed later, since the failure was not its own fault. */
  readonly isTransient?: boolean;
  /** The webhooks' secrets in the body. */
  readonly shownSecrets?: readonly ShownSecret[];
  readonly fields?: Pick<RequestFields, 'code' | 'statements' | 'planningMs' | 'server' | 'isReplayed'>;
};

/** Whether one of the errors is no fault of the operation, which may succeed later. */
export const isTransient = (errors: readonly GraphQLFormattedError[]) =>
  errors.some(({ extensions }) => transientCodes.has(extensions?.code));

/** The codes of failures that are no fault of the operation. */
const transientCodes: ReadonlySet<unknown> = new Set<ErrorCode>(['INTERNAL', 'TIMEOUT', 'UNAVAILABLE']);
