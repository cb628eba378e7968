import { isatty } from 'node:tty';
import { inspect } from 'node:util';
import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * A log of JSON lines, by default on stderr, so that stdout stays readable.
 * A terminal gets them as text. Lines are written synchronously, since the last line before an exit matters most.
 */
export function createLog(level: string, stream = isatty(2) ? toTerminal : destination({ dest: 2, sync: true })): Log {
  const requestId = ({ id }: { id: string }) => id;
  return pino({ level, base: null, serializers: { err: describeError, error: describeError, requestId } }, stream);
}

/** ECMA-48: to the start of the line, and everything behind it erased. */
export const eraseLine = '\r\x1b[K';

/** A command may have left its progress in the line. */
const toTerminal: DestinationStream = { write: (line) => void process.stderr.write(eraseLine + textOf(line)) };

/**
 * A line of the log for a person.
 * Text from clients is escaped, since a terminal obeys control characters.
 */
export function textOf(line: string): string {
  const { level, time, msg = '', error, ...fields }: LogLine = JSON.parse(line);
  const named = Object.entries(fields).map(([name, value]) => `${name}=${inspect(value, { breakLength: Infinity })}`);
  const parts = [new Date(time).toTimeString().slice(0, 8), pino.levels.labels[level]?.padEnd(5), msg, ...named];
  return `${parts.join(' ')}\n${error === undefined ? '' : `${inspect(error, { depth: null })}\n`}`;
}

type LogLine = { level: number; time: number; msg?: string; error?: unknown } & Record<string, unknown>;

/**
 * Redaction: the parts of an error that are safe to log.
 * An error may carry a request's raw body, a connection with its password or the row that broke a rule, so no other part is written.
 */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: typeof error === 'string' ? error : 'not an error object' };
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

/** Keeps the functions and lines of an error's PL/pgSQL context, since its statements may have values. */
const functionsIn = (where: string) => where.match(/^(?:PL\/pgSQL|SQL) function .*$/gm)?.join(', ');
