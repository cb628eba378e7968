import { isEnumCodec, type PgCodec } from 'postgraphile/@dataplan/pg';

/**
 * Validates a value of an id or a cursor: whether PostgreSQL can read it as a value of the type.
 * It may have been tampered with, and must not become an error of a statement. For other types any text passes, and PostgreSQL decides.
 */
export function isValueOf(codec: PgCodec, value: unknown): boolean {
  if (codec.domainOfCodec) return isValueOf(codec.domainOfCodec as PgCodec, value);
  if (isEnumCodec(codec)) return codec.values.some((known) => known.value === value);
  if (!['string', 'number', 'boolean'].includes(typeof value)) return false;
  const text = String(value);
  return (checks[codec.name] ?? isText)(text);
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
export const isText = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);

const isInteger = (bits: number) => (text: string) =>
  /^-?\d{1,19}$/.test(text) && BigInt.asIntN(bits, BigInt(text)) === BigInt(text);

const isNumber = matches(/^(-?\d+(\.\d+)?(e[+-]?\d+)?|NaN|-?Infinity)$/i);

/** By the names of PostgreSQL's types. */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  uuid: matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  bool: matches(/^(true|false)$/),
  int2: isInteger(16),
  int4: isInteger(32),
  int8: isInteger(64),
  numeric: isNumber,
  float4: isNumber,
  float8: isNumber,
  date: matches(/^(\d{4,}-\d\d-\d\d( BC)?|-?infinity)$/),
  timestamp: matches(/^(\d{4,}-\d\d-\d\d[ T][\d:.]+( BC)?|-?infinity)$/),
  timestamptz: matches(/^(\d{4,}-\d\d-\d\d[ T][\d:.]+[+-][\d:]+( BC)?|-?infinity)$/),
  time: matches(/^[\d:.]+$/),
  timetz: matches(/^[\d:.]+[+-][\d:]+$/),
};
