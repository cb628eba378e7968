import { isEnumCodec, type PgCodec } from 'postgraphile/@dataplan/pg';
import { baseOf } from './baseOf.ts';
import { isUuid } from './isUuid.ts';
import { isText, unusableIn } from './unusableIn.ts';

/**
 * Validates a value of an id or a cursor: whether PostgreSQL can read it as a value of the type.
 * A client may have tampered with it, and it must not cause an error in a statement. For other types any text passes, and PostgreSQL
 * decides.
 */
export function isValueOf(type: PgCodec, value: unknown): boolean {
  const codec = baseOf(type);
  if (isEnumCodec(codec)) return codec.values.some((known) => known.value === value);
  const isOfForm = ['string', 'number', ...(codec.name === 'bool' ? ['boolean'] : [])].includes(typeof value);
  if (!isOfForm) return false;
  const text = String(value);
  return (checks[codec.name] ?? isText)(text);
}

const matches = (pattern: RegExp) => (text: string) => pattern.test(text);

const isInteger = (bits: number) => (text: string) =>
  /^-?\d{1,19}$/.test(text) && BigInt.asIntN(bits, BigInt(text)) === BigInt(text);

const isNumber = matches(/^(-?\d+(\.\d+)?(e[+-]?\d{1,3})?|NaN|-?Infinity)$/i);

function isJson(text: string): boolean {
  try {
    return isText(text) && unusableIn(JSON.parse(text)) === null;
  } catch {
    return false;
  }
}

/** By the names of PostgreSQL's types. */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  json: isJson,
  jsonb: isJson,
  uuid: isUuid,
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
