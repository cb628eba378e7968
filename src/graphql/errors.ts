import { DatabaseError } from 'pg';
import { SafeError } from 'postgraphile/grafast';
import { GraphQLError, type GraphQLFormattedError } from 'postgraphile/graphql';
import type { ConstraintRules } from '../../plugins/ConstraintRulesPlugin.ts';
import { logUnavailable } from '../database/logUnavailable.ts';
import { isUnavailable } from '../database/unavailable.ts';
import type { RequestId } from '../http/facts.ts';
import type { Log } from '../log.ts';

/**
 * Every `extensions.code`, what it means, and the HTTP status of a request that it refuses as a whole. An error of one
 * field leaves the status at 200, save `UNAVAILABLE`.
 */
export const errorCodes = {
  UNAUTHENTICATED: { status: 401, meaning: 'The request carries no valid access token.' },
  FORBIDDEN: { status: 200, meaning: 'The access token has the wrong scope.' },
  BAD_USER_INPUT: { status: 400, meaning: 'An argument or variable cannot be used; extensions.argument names it.' },
  NOT_FOUND: { status: 200, meaning: 'There is no such object among those that the token may see.' },
  CONFLICT: { status: 200, meaning: 'The value is taken; extensions.argument names the argument.' },
  LIMIT_EXCEEDED: {
    status: 400,
    meaning: 'The document or its answer is too large; extensions.limit says in which way.',
  },
  GRAPHQL_PARSE_FAILED: { status: 400, meaning: 'The document is not GraphQL.' },
  GRAPHQL_VALIDATION_FAILED: { status: 400, meaning: 'The document does not fit the schema.' },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 400,
    meaning: 'No document is known by this id; send it along, unless only stored ones are answered.',
  },
  PERSISTED_QUERY_ONLY: {
    status: 400,
    meaning: 'The service answers stored operations only, and this is none of them.',
  },
  TIMEOUT: { status: 200, meaning: 'The statement took too long.' },
  UNAVAILABLE: { status: 503, meaning: 'The database is away, overloaded or being migrated; try again later.' },
  INTERNAL: { status: 200, meaning: 'A defect of the service; the log tells more under extensions.requestId.' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

export function graphqlError(code: ErrorCode, message: string, extensions: Record<string, unknown> = {}) {
  return new GraphQLError(message, { extensions: { code, ...extensions } });
}

/** What else is needed to turn an error into an answer. */
export type ErrorContext = {
  readonly requestId: RequestId;
  readonly rules: ConstraintRules;
  readonly log: Log;
  /** Whether a migration has changed the database since the schema was built. */
  readonly isOutdated?: boolean;
};

/**
 * The error as the client reads it: one with a code passes, one of PostgreSQL gets its code from its SQLSTATE and constraint,
 * anything else becomes `INTERNAL` and goes to the log. No SQL, no stack and no row leaves the service.
 */
export function presentError(error: GraphQLError, context: ErrorContext): GraphQLFormattedError {
  const { code, message, ...extensions } = describe(error, context);
  const { locations, path } = error;
  return { message, ...(locations && { locations }), ...(path && { path }), extensions: { code, ...extensions } };
}

type Description = { readonly code: ErrorCode; readonly message: string } & Record<string, unknown>;

function describe(error: GraphQLError, { requestId, rules, log, isOutdated }: ErrorContext): Description {
  const { code } = error.extensions;
  if (typeof code === 'string' && code in errorCodes)
    return { ...error.extensions, code: code as ErrorCode, message: error.message };

  const original = rootOf(error);
  if (isUnavailable(original)) {
    logUnavailable(log, original, { requestId });
    return { code: 'UNAVAILABLE', message: 'The database is not available; try again later.' };
  }
  const known = original instanceof DatabaseError ? ofDatabase(original, rules) : null;
  if (known) return known;
  if (isOutdated && original instanceof DatabaseError) {
    log.info({ requestId, error: original }, 'a statement was of the schema before a migration');
    return { code: 'UNAVAILABLE', message: 'The schema has just changed; try again.' };
  }
  if (original instanceof SafeError) return { code: 'BAD_USER_INPUT', message: original.message };

  log.error({ requestId, error: original }, 'a field failed');
  return { code: 'INTERNAL', message: 'Something went wrong on our side.', requestId: requestId.id };
}

/** SQLSTATE to code (https://www.postgresql.org/docs/current/errcodes-appendix.html); null when a client cannot cause it. */
function ofDatabase(
  { code = '', constraint = '', column, message }: DatabaseError,
  rules: ConstraintRules,
): Description | null {
  const rule = rules[constraint];
  switch (code) {
    case '23505': // unique_violation
      return rule ? { code: 'CONFLICT', ...rule } : null;
    case '23503': // foreign_key_violation
    case '23514': // check_violation
      return rule ? { code: 'BAD_USER_INPUT', ...rule } : null;
    case '23502': // not_null_violation
      return column
        ? { code: 'BAD_USER_INPUT', message: `${camelCase(column)} cannot be null.`, argument: camelCase(column) }
        : null;
    case '22001': // string_data_right_truncation
    case '22003': // numeric_value_out_of_range
    case '22007': // invalid_datetime_format
    case '22008': // datetime_field_overflow
    case '22021': // character_not_in_repertoire
    case '22P02': // invalid_text_representation
      return { code: 'BAD_USER_INPUT', message: 'A value is out of range, or of another form than its type asks for.' };
    case 'P0002': // no_data_found, raised by our functions with a sentence for the client
      return { code: 'NOT_FOUND', message: `${message}.` };
    case '42501': // insufficient_privilege
      return { code: 'FORBIDDEN', message: 'The access token does not allow this.' };
    case '54000': // program_limit_exceeded, raised by app_hidden.count_row
      return { code: 'LIMIT_EXCEEDED', message: `${message}.`, limit: 'rows' };
    case '57014': // query_canceled
      return { code: 'TIMEOUT', message: 'The statement took too long and was cancelled; ask for less.' };
    case '55P03': // lock_not_available, after lock_timeout
      return { code: 'TIMEOUT', message: 'What would be changed is locked by another change; try again.' };
    case '40001': // serialization_failure
    case '40P01': // deadlock_detected
      return { code: 'UNAVAILABLE', message: 'The change collided with another one; try again.' };
    default:
      return null;
  }
}

/** Grafast and GraphQL.js wrap what was thrown, sometimes twice. */
export function rootOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootOf(error.originalError) : error;
}

const camelCase = (column: string) => column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
