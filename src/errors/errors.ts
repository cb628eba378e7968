import { DatabaseError } from 'pg';
import type { Log } from '../log.ts';

/** Whether the driver says by its text alone that a connection was lost: it gives these errors neither a class nor a code. */
export const isConnectionLost = (error: Error): boolean =>
  /^(Connection terminated|timeout expired$|Query read timeout$|Client (has encountered a connection error|was closed))/.test(
    error.message,
  );

/** Whether an error has one of these codes, the operating system's (`ENOENT`) or a SQLSTATE. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/**
 * The service cannot start or a command cannot run, for a reason that its user can remove.
 * The message has the remedy, and is printed without a stack.
 */
export class StartupError extends Error {
  override name = 'StartupError';
}

/** The database does not give a schema: two of its names meet in GraphQL, or a comment says what cannot be. */
export class SchemaError extends StartupError {
  override name = 'SchemaError';
  /** The objects that the message names, such as `app_public.gates` or `app_public.gates.first_name`. */
  readonly objects: readonly string[];

  constructor(message: string, objects: readonly string[], options: ErrorOptions) {
    super(`The schema cannot be built: ${message}`, options);
    this.objects = objects;
  }
}

/**
 * Logs a failure after which the process goes on: its cause and remedy, and the stack at `debug` only.
 * A fault of the service has no other explanation than its stack.
 */
export function logFailure(
  log: Log,
  level: 'warn' | 'error',
  { error, ...fields }: { readonly error: unknown } & Readonly<Record<string, unknown>>,
  message: string,
): void {
  const isExplained = error instanceof StartupError || explainFailure(error) !== null;
  log[level]({ ...fields, ...(isExplained ? { cause: describeFailure(error) } : { error }) }, message);
  if (isExplained) log.debug({ error }, 'where that failed');
}

/** A failure outside of this program, in sentences. */
type Explanation = {
  /** The failure, with its object. */
  readonly cause: string;
  /** The action that the user can take. */
  readonly remedy: string;
};

/**
 * Explains a failure of PostgreSQL, the network or a file by its SQLSTATE or errno; null for any other error.
 * An error that only wraps such a failure as its cause is explained by it.
 */
export function explainFailure(error: unknown): Explanation | null {
  // A StartupError has sentences of its own.
  if (!(error instanceof Error) || error instanceof StartupError) return null;
  return explainOwn(error) ?? explainFailure(error.cause);
}

/** The same as one text; the message alone of an error that is not explained. */
export function describeFailure(error: unknown): string {
  const explained = explainFailure(error);
  if (explained) return `${explained.cause} ${explained.remedy}`;
  return error instanceof Error ? error.message : String(error);
}

function explainOwn(error: Error): Explanation | null {
  if (error instanceof DatabaseError) return explainRejection(error);
  // A host with two addresses gives an error for each.
  const [first] = error instanceof AggregateError ? error.errors : [];
  const { code = '', syscall = '', path, ...at } = (first ?? error) as NodeJS.ErrnoException & Partial<Address>;
  if (/^(connect|getaddrinfo)/.test(syscall)) return unreachable(code, at);
  if (isConnectionLost(error) || /^(ECONNRESET|EPIPE|ETIMEDOUT)$/.test(code))
    return { cause: `A connection was lost: ${error.message}.`, ...again };
  if (isOfConnecting(code, error.message)) return { cause: `No connection to PostgreSQL: ${error.message}.`, ...login };
  if (/MODULE_NOT_FOUND$/.test(code)) return { cause: firstLine(error.message), ...install };
  if (syscall.startsWith('spawn')) return { cause: `Cannot run ${path}: ${code}.`, ...program };
  if (!/^E[A-Z0-9]+$/.test(code) || !syscall) return null;
  const reason = firstLine(error.message)
    .replace(/^E\w+: /, '')
    .replace(/, \w+( '.*)?$/s, '');
  const cause = `Cannot ${syscall} ${path ?? 'a file'}: ${reason} (${code}).`;
  return { cause, remedy: files[code] ?? 'The operating system says why, in its log or manual.' };
}

type Address = { address: string; port: number; hostname: string };

function unreachable(code: string, { hostname, address, port }: Partial<Address>): Explanation {
  const where = hostname ?? [address, port].filter(Boolean).join(':');
  return {
    cause: `No PostgreSQL answers at ${where} (${code}).`,
    remedy: `Start it, or correct host and port in DATABASE_URL.`,
  };
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? '';

const login = { remedy: `Correct user, password or sslmode in DATABASE_URL.` };
const again = { remedy: "Run it again once PostgreSQL answers; PostgreSQL's log says why." };
const install = { remedy: 'Run `npm ci`, with its development dependencies for commands of developers.' };
const program = { remedy: 'Install it, or put its folder into PATH.' };

/** Errors of TLS, and of the driver, which gives a missing password or missing TLS no code. */
const isOfConnecting = (code: string, message: string) =>
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO)/.test(code) ||
  /^(SASL|SCRAM)|SSL connections?$/.test(message);

/** By errno. */
const files: Readonly<Record<string, string>> = {
  ENOENT: 'Put it there, or correct the path.',
  EACCES: 'Give this user the right to it, or choose another path.',
  EPERM: 'Give this user the right to it, or choose another path.',
  EISDIR: 'A file must be there, and not a folder.',
  ENOTDIR: 'A folder must be there, and not a file.',
  EEXIST: 'Move away what is there.',
  ENOSPC: 'Free space on its disk.',
  EDQUOT: 'Free space in the quota of this user.',
  EROFS: 'Its file system is read-only; choose another path.',
  EMFILE: 'Raise the limit of open files (ulimit -n).',
  ENFILE: 'Raise the limit of open files (ulimit -n).',
};

/** The message and hint name the object. The detail may have a row's values, which no log may have. */
function explainRejection({ message, code = '', hint }: DatabaseError): Explanation {
  const [, remedy = other] = remedies.find(([codes]) => codes.test(code)) ?? [];
  return { cause: `PostgreSQL: ${message} (SQLSTATE ${code}).${hint ? ` ${hint}` : ''}`, remedy };
}

const other = "If the message does not say what to do, PostgreSQL's log has more.";

/** By SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/^28/, `Correct user and password in DATABASE_URL, or what pg_hba.conf allows them.`],
  [/^(3D000|57P04)$/, `Create the database, or correct its name in DATABASE_URL.`],
  [/^42501$/, 'Name the owner of the database and its tables in DATABASE_URL, or grant its role what is missing.'],
  [/^25006$/, 'It is a standby, or read-only by a setting; name the primary in the URL.'],
  [/^53100$/, "Free space on PostgreSQL's disk."],
  [/^23/, 'If another session is changing the same rows, run it again.'],
  [
    /^53200$/,
    'Close other sessions or give PostgreSQL more memory; a full lock table needs a higher max_locks_per_transaction, or smaller parts.',
  ],
  [/^53300$/, 'Close other sessions, or raise max_connections or the limit of the role or database.'],
  [/^5(3|4)/, 'Raise the limit that the message names.'],
  [/^57P03$/, 'PostgreSQL starts, stops or recovers; run it again once it accepts connections.'],
  [/^(57P|08)/, again.remedy],
  [/^57014$/, 'Run it again; statement_timeout of the role or database may be too short, or it was cancelled.'],
  [/^(40|55P03|55006)/, 'Another session uses the object; run it again when that has ended.'],
  [
    /^(42P01|42703|42704|42883|3F000|42P02|42804|42P10)$/,
    'The database is not what its migrations make; `npm run db:status` says where. Perhaps a dump was restored in part.',
  ],
  [/^(42P0[467]|42710|42723)$/, 'Rename or drop what has this name, if nothing else needs it.'],
  [/^0A000$/, 'It needs PostgreSQL 15 to 18.'],
  [/^(58|XX00[12])/, "PostgreSQL's disk or files are damaged: look at its log, and restore a backup if needed."],
];
