import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * A log of JSON lines, by default on stderr, so that stdout stays readable.
 * Written synchronously: the last line before an exit is the one that matters.
 */
export function createLog(level: string, stream: DestinationStream = destination({ dest: 2, sync: true })): Log {
  const requestId = ({ id }: { id: string }) => id;
  return pino({ level, base: null, serializers: { err: describeError, error: describeError, requestId } }, stream);
}

/**
 * Redaction: the parts of an error that are safe to log.
 * An error may carry a request's raw body, a connection with its password or the row that broke a rule, so nothing else of it is written.
 */
function describeError(error: unknown): Record<string, unknown> {
  if (!Error.isError(error)) return { message: typeof error === 'string' ? error : 'not an error object' };
  const { name, message, stack, cause } = error;
  const { code, constraint, where } = error as { code?: unknown; constraint?: unknown; where?: unknown };
  const functions = typeof where === 'string' ? functionsIn(where) : undefined;
  return {
    name,
    message,
    code,
    constraint,
    functions,
    stack,
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}

/** Of an error's PL/pgSQL context, the functions and their lines alone: statements may have values. */
const functionsIn = (where: string) => where.match(/^(?:PL\/pgSQL|SQL) function .*$/gm)?.join(', ');
