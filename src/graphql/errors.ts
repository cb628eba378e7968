import { channel } from 'node:diagnostics_channel';
import { DatabaseError } from 'pg';
import { isEnumCodec, type PgCodec } from 'postgraphile/@dataplan/pg';
import { SafeError } from 'postgraphile/grafast';
import {
  type FragmentDefinitionNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLFormattedError,
  GraphQLID,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  type OperationDefinitionNode,
  TypeInfo,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'postgraphile/graphql';
import { type ConstraintRules, columnKey, ruleKey } from '../../plugins/ConstraintRulesPlugin.ts';
import { baseOf } from '../../plugins/values.ts';
import { isStalePlan } from '../database/driver/driver.ts';
import { isUnavailable, logUnavailable } from '../database/pool/unavailable.ts';
import type { Log } from '../log.ts';
import { isDue, type RequestId } from '../observability/requestFields.ts';
import { shortened } from './document/documentError.ts';

/**
 * Every `extensions.code`, its meaning, and the HTTP status of a request that it refuses as a whole.
 * An error of one field leaves the status at 200, except for `UNAVAILABLE`. HTTP's own refusals, such as 405, have a code but another
 * status.
 */
export const errorCodes = {
  UNAUTHENTICATED: { status: 401, meaning: 'The request carries no valid access token.' },
  FORBIDDEN: { status: 200, meaning: 'The access token has the wrong scope.' },
  BAD_USER_INPUT: {
    status: 400,
    meaning: 'A value cannot be used; extensions.argument names the argument, extensions.variable its variable.',
  },
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
  UNAVAILABLE: {
    status: 503,
    meaning:
      'The database is away, overloaded or being migrated, the organization is being moved, or a change collided with another; try again later.',
  },
  IDEMPOTENCY_KEY_REUSED: { status: 422, meaning: 'The Idempotency-Key was used for another request; use a new one.' },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    meaning: 'The first request with this Idempotency-Key is still under way; repeat it after Retry-After.',
  },
  UNREPRESENTABLE: {
    status: 200,
    meaning: 'The stored value has no form in the type of its field, as NaN has none in Float; the field is null.',
  },
  CURSOR_EXPIRED: {
    status: 200,
    meaning: 'The cursor of the change feed is older than what is kept, or of before a restore; read everything anew.',
  },
  INTERNAL: { status: 500, meaning: 'A defect of the service; the log tells more under extensions.requestId.' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

declare module 'graphql' {
  interface GraphQLErrorExtensions {
    code?: ErrorCode;
  }
}

/** The context in which an error becomes part of an answer. */
type ErrorContext = {
  readonly requestId: RequestId;
  readonly rules: ConstraintRules;
  readonly log: Log;
  /** Whether a migration has changed the database since the schema was built. */
  readonly isOutdated?: boolean;
  /** Whose arguments may be to blame; none are named without it. */
  readonly operation?: { readonly prepared: ExecutableOperation; readonly coerced: Readonly<Record<string, unknown>> };
};

/**
 * Error mapping: the error as the client reads it. No SQL, no stack and no row leaves the service.
 * An error with a code stays as it is. PostgreSQL's errors get a code by SQLSTATE and constraint. Any other becomes `INTERNAL` and is
 * logged.
 */
export function presentError(error: GraphQLError, context: ErrorContext): GraphQLFormattedError {
  const { code, message, ...extensions } = describeError(error, context);
  const { locations, path } = error;
  return { message, ...(locations && { locations }), ...(path && { path }), extensions: { code, ...extensions } };
}

type Description = { readonly code: ErrorCode; readonly message: string } & Record<string, unknown>;

function describeError(
  error: GraphQLError,
  { requestId, rules, log, isOutdated, operation }: ErrorContext,
): Description {
  const { code } = error.extensions;
  if (code && code in errorCodes) return { ...error.extensions, code, message: error.message };

  const original = rootOf(error);
  if (isUnavailable(original)) {
    logUnavailable(log, original, { requestId });
    return { code: 'UNAVAILABLE', message: 'The database is not available; try again later.' };
  }
  if (original instanceof DatabaseError) {
    if (original.code === insufficientPrivilege) logMissingRight(log, original, requestId);
    const declared = operation ? declaredArguments(operation.prepared, operation.coerced, error.path?.[0]) : [];
    const known = ofDatabase(original, rules, declared);
    if (known) return known;
    if (isOutdated || isStalePlan(original)) {
      log.info({ requestId, error: original }, 'a statement was of the schema before a migration');
      return { code: 'UNAVAILABLE', message: 'The schema has just changed; try again.' };
    }
    defects.publish(original);
  }
  const leaf = error.path && original instanceof GraphQLError ? notRepresented.exec(original.message) : null;
  if (leaf) return { code: 'UNREPRESENTABLE', message: `The stored value is none that ${leaf[1]} can have.` };
  if (original instanceof SafeError) return { code: 'BAD_USER_INPUT', message: shortened(original.message) };

  log.error({ requestId, error: original }, 'a field failed');
  return { code: 'INTERNAL', message: 'Something went wrong on our side.', requestId: requestId.id };
}

/** Publishes each error of PostgreSQL that is a mistake in SQL, and not the client's. */
export const defects = channel('graph-query-service:defects');

/** Result coercion of GraphQL.js (October 2021, section 3.5.2): the beginning of its message. */
const notRepresented = /^(Int|Float) cannot represent/;

const insufficientPrivilege = '42501';

/** The message names the object. Any client can cause it at will, so a minute has at most so many warnings of each. */
function logMissingRight(log: Log, error: DatabaseError, requestId: RequestId): void {
  const level = isDue(log, error.message, missingRightsPerMinute) ? 'warn' : 'debug';
  log[level]({ requestId, error }, `a right is missing; logged ${missingRightsPerMinute} times a minute`);
}

const missingRightsPerMinute = 100;

/**
 * The code for a SQLSTATE; null when a client cannot cause it.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function ofDatabase(
  error: DatabaseError,
  rules: ConstraintRules,
  declared: readonly DeclaredArgument[],
): Description | null {
  const { code = '' } = error;
  const wordsOf = (otherwise: string) => ofConstraint(error, rules, declared, otherwise);
  switch (code) {
    case '23505': // unique_violation
    case '23P01': // exclusion_violation
    case '2BP01': // dependent_objects_still_exist
      return { code: 'CONFLICT', ...wordsOf('A value is already used.') };
    case '23001': // restrict_violation, for which PostgreSQL before 18 reports the next one
    case '23503': // foreign_key_violation
    case '23514': // check_violation
    case '44000': // with_check_option_violation
      return { code: 'BAD_USER_INPUT', ...wordsOf('A value is not allowed.') };
    case '23502': // not_null_violation
      return { code: 'BAD_USER_INPUT', ...wordsOf('A value that is needed is null.') };
    case 'P0002': // no_data_found
      return { code: 'NOT_FOUND', message: sentence(error) };
    case insufficientPrivilege:
      return { code: 'FORBIDDEN', message: 'The access token does not allow this.' };
    case '54000': // program_limit_exceeded, raised by app_hidden.count_row
      return isRaised(error)
        ? { code: 'LIMIT_EXCEEDED', message: sentence(error), limit: 'rows' }
        : { code: 'BAD_USER_INPUT', message: 'A value is longer than can be stored here.' };
    case 'MOVED': // app_hidden.require_service
      return { code: 'UNAVAILABLE', message: movedMessage };
    case '57014': // query_canceled
      return { code: 'TIMEOUT', message: 'The statement took too long and was cancelled; ask for less.' };
    case '55P03': // lock_not_available, after lock_timeout
      return { code: 'UNAVAILABLE', message: 'What would be changed is locked by another change; try again.' };
    case '40001': // serialization_failure
    case '40P01': // deadlock_detected
      return { code: 'UNAVAILABLE', message: 'The change collided with another one; try again.' };
    case '42601': // syntax_error, of a statement or of a value of a type such as ltree
      return isOfValue(error) ? ofData(error, declared) : null;
    default:
      return code.startsWith('22') ? ofData(error, declared) : null;
  }
}

/** The message for clients of an organization that is being moved, or has moved. */
export const movedMessage = 'The organization is being moved to another database; try again later.';

/** The constraint's comment, else a function's own message, else a sentence from the columns or the argument of a domain. */
function ofConstraint(
  error: DatabaseError,
  rules: ConstraintRules,
  declared: readonly DeclaredArgument[],
  otherwise: string,
) {
  const { schema, table, dataType, constraint, column } = error;
  // The column of a null that is not allowed, or one about which a trigger raises an error.
  const isOfColumn = column !== undefined;
  const key = isOfColumn ? columnKey(schema, table, column) : ruleKey(schema, table ?? dataType, constraint);
  const {
    comment,
    argument: named = raisedFor(error),
    fallback = otherwise,
    columns = [],
    composite,
  } = rules.get(key) ?? {};
  const [only, ...others] = columns;
  const ofDomain = others.length === 0 ? only : undefined;
  const isOfDomain = ({ extensions }: PgCodec) =>
    extensions?.pg?.schemaName === schema && extensions?.pg?.name === dataType;
  const argument =
    (dataType === undefined ? undefined : argumentOfType(declared, isOfDomain)) ??
    (composite && argumentOfType(declared, ({ extensions }) => extensions?.oid === composite)) ??
    argumentNamed(named ?? ofDomain ?? '', declared);
  const subject = dataType === undefined ? undefined : (argument ?? ofDomain);
  const ofSubject = subject && `${subject} ${error.code === '23502' ? 'cannot be null' : 'is not allowed'}.`;
  const message = comment ?? (isRaised(error) ? sentence(error) : (ofSubject ?? fallback));
  return { message, ...(argument !== undefined && { argument }) };
}

/** The argument about which a function has raised an error: given as a column without a table. */
const raisedFor = (error: DatabaseError) => (isRaised(error) && error.table === undefined ? error.column : undefined);

/** Class 22, data exceptions, and syntax errors of values. */
function ofData(error: DatabaseError, declared: readonly DeclaredArgument[]): Description {
  const argument = isRaised(error)
    ? argumentNamed(raisedFor(error) ?? '', declared)
    : argumentOfParameter(error, declared);
  return { code: 'BAD_USER_INPUT', message: sentenceOfData(error), ...(argument !== undefined && { argument }) };
}

function sentenceOfData(error: DatabaseError): string {
  if (isRaised(error)) return sentence(error);
  return isOfTime(error)
    ? 'A date or time does not exist, or is not written as in ISO 8601, such as "2026-01-31T18:00:00Z".'
    : 'A value is out of range, or of another form than its type asks for.';
}

/** invalid_datetime_format, datetime_field_overflow */
const isOfTime = ({ code = '' }: DatabaseError) => /^2200[78]$/.test(code);

/** The argument whose text PostgreSQL could not read as a parameter: the only one of a type whose texts the service does not check, and no id. */
function argumentOfParameter(error: DatabaseError, declared: readonly DeclaredArgument[]): string | undefined {
  const { where: context = '' } = error;
  // In any language, the context of a parameter is one line that ends in its number.
  if (!/^[^\n]*\$\d+(?: = '.*')?$/s.test(context)) return undefined;
  const texts = declared.filter(({ argument }) => getNamedType(argument.type) !== GraphQLID);
  return argumentOfType(texts, (codec) => {
    const { name, attributes, arrayOfCodec, rangeOfCodec } = baseOf(codec);
    const isMultirange = name.endsWith('multirange');
    // data_exception: the bounds of a range are in the wrong order.
    if (error.code === '22000') return rangeOfCodec !== undefined || isMultirange;
    // numeric_value_out_of_range
    if (error.code === '22003') return isMultirange || rangedNumbers.has(name);
    if (attributes || arrayOfCodec || rangeOfCodec || isEnumCodec(baseOf(codec))) return false;
    return isOfTime(error) ? timeTypes.has(name) : !timeTypes.has(name) && !checkedTypes.has(name);
  });
}

const timeTypes: ReadonlySet<string> = new Set(['date', 'timestamp', 'timestamptz', 'time', 'timetz', 'interval']);
/** Numbers that the service accepts and PostgreSQL may not. */
const rangedNumbers: ReadonlySet<string> = new Set(['int2', 'int8', 'float4', 'numeric', 'money', 'oid']);
const checkedTypes: ReadonlySet<string> = new Set(
  'text varchar bpchar citext name bool int2 int4 float4 float8 uuid json jsonb'.split(' '),
);

/** Whether an input function has raised it: an error of a statement has a position, or is of the parser or PL/pgSQL. */
const isOfValue = ({ position, internalPosition, file = '' }: DatabaseError) =>
  position === undefined &&
  internalPosition === undefined &&
  !/^(?:postgres|gram|scan|analyze|parse\w*|pl_\w+)\./.test(file);

/** Whether a function has raised it, with a sentence for the client. */
const isRaised = ({ routine }: DatabaseError) => routine === 'exec_stmt_raise';

const sentence = ({ message }: DatabaseError) => shortened(/[.!?]$/.test(message) ? message : `${message}.`);

/** Grafast and GraphQL.js wrap thrown errors, sometimes twice. */
export function rootOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootOf(error.originalError) : error;
}

/** An argument that an operation might give, and whether it gives a value. */
type DeclaredArgument = { readonly argument: GraphQLArgument; readonly isGiven: boolean };

/** An operation, the fragments of its document, and the schema that it is for. */
type ExecutableOperation = {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
};

/**
 * The arguments that may be to blame for an error below a root field, whose key begins the error's path.
 * Of a mutation these are its own; a query's field is one statement with all fields below it.
 */
function declaredArguments(
  { schema, operation, fragments }: ExecutableOperation,
  coerced: Readonly<Record<string, unknown>>,
  key: string | number | undefined,
): readonly DeclaredArgument[] {
  const types = new TypeInfo(schema);
  const root = schema.getRootType(operation.operation);
  const found: DeclaredArgument[] = [];
  const visitor = visitWithTypeInfo(types, {
    Field({ name, alias, arguments: given = [] }) {
      const isRoot = types.getParentType() === root;
      if (isRoot ? (alias ?? name).value !== key : operation.operation === 'mutation') return false;
      for (const argument of types.getFieldDef()?.args ?? []) {
        const value = given.find((each) => each.name.value === argument.name)?.value;
        found.push({ argument, isGiven: value !== undefined && valueFromAST(value, argument.type, coerced) != null });
      }
      return undefined;
    },
  });
  for (const node of [operation, ...fragments.values()]) visit(node, visitor);
  return found;
}

/** The argument of this name, else the only one whose input objects have such a field. */
function argumentNamed(name: string, declared: readonly DeclaredArgument[]): string | undefined {
  if (declared.some(({ argument }) => argument.name === name)) return name;
  return onlyName(declared.filter(({ argument }) => hasField(argument.type, name)));
}

/** The only argument that is given and of a type of PostgreSQL, or of one that contains it. */
const argumentOfType = (declared: readonly DeclaredArgument[], isOfType: (codec: PgCodec) => boolean) =>
  onlyName(
    declared.filter(({ argument: { extensions }, isGiven }) => {
      const codec = extensions.pgCodec as PgCodec | undefined;
      return isGiven && codec !== undefined && typesWithin(codec).some(isOfType);
    }),
  );

function onlyName(declared: readonly DeclaredArgument[]): string | undefined {
  const [name, ...others] = new Set(declared.map(({ argument }) => argument.name));
  return others.length === 0 ? name : undefined;
}

function hasField(type: GraphQLInputType, name: string, above: readonly unknown[] = []): boolean {
  const object = getNamedType(type);
  if (!isInputObjectType(object) || above.includes(object)) return false;
  const fields = Object.values(object.getFields());
  return fields.some((field) => field.name === name || hasField(field.type, name, [...above, object]));
}

/** A type, and those that its values are made of. */
function typesWithin(codec: PgCodec): PgCodec[] {
  const { arrayOfCodec, domainOfCodec, rangeOfCodec, attributes } = codec;
  const parts = [
    arrayOfCodec,
    domainOfCodec,
    rangeOfCodec,
    ...Object.values(attributes ?? {}).map((each) => each.codec),
  ];
  return [codec, ...parts.flatMap((part) => (part ? typesWithin(part as PgCodec) : []))];
}
