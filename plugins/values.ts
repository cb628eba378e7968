import { isEnumCodec, type PgCodec } from 'postgraphile/@dataplan/pg';
import { type SQL, sql } from 'postgraphile/pg-sql2';

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

/** How many levels of lists and objects a JSON value may have: PostgreSQL parses it recursively. */
const maxDepth = 500;

/** Known to be usable, since one value of a variable may stand in many places. */
const usable = new WeakSet<object>();

/** The reason why PostgreSQL cannot store a value, such as NUL or half a surrogate pair; else null. */
export function unusableIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return problemWithin(value, maxDepth);
  if (usable.has(value)) return null;
  const problem = problemWithin(value, maxDepth);
  if (problem === null) usable.add(value);
  return problem;
}

const isText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

const notText = 'contains a character that is not Unicode text';

function problemWithin(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return isText(value) ? null : notText;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return null;
  if (depth === 0) return 'is nested too deep';
  const isList = Array.isArray(value);
  if (!isList && !Object.keys(value).every(isText)) return notText;
  for (const item of isList ? value : Object.values(value)) {
    const problem = problemWithin(item, depth - 1);
    if (problem) return problem;
  }
  return null;
}

/** Whether a value is a UUID as PostgreSQL writes it. */
export function isUuid(value: unknown): value is string {
  return (
    typeof value === 'string' && value.length === 36 && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
  );
}

/**
 * Whether a double keeps the decimal value of a number, of JSON or of a GraphQL document.
 * JavaScript writes the shortest text that reads as the same double (ECMA-262, Number::toString). This function compares that text and
 * the number's own as digits and an exponent. So a double keeps `1.10` and `1e3`, and neither 9007199254740993, `1e400` nor
 * `1.00000000000000000001`.
 */
export function isExactNumber(source: string): boolean {
  if (isShort.test(source)) return true;
  const [digits, exponent] = decimalOf(source);
  const [keptDigits, keptExponent] = decimalOf(String(Number(source)));
  return digits === keptDigits && exponent === keptExponent;
}

/** A number of 16 characters, or with an exponent; a double keeps all others. It may be part of a string or a name. */
export const mayBeInexact = /\d(?:[\d.]{15}|[eE])/;

/** A double always keeps fifteen digits (IEEE 754, `DBL_DIG`), except at the ends of the range. */
const isShort = /^-?\d{1,9}(?:\.\d{1,6})?(?:[eE][+-]?[12]?\d{1,2})?$/;

/** The digits without zeros at either end, and the power of ten of the last; −0 is 0. */
function decimalOf(text: string): readonly [digits: string, exponent: number] {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return [whole && '0', 0];
  return [sign + digits.slice(start, end), Number(power) - fraction.length + digits.length - end];
}

/** The type beneath a domain, or beneath several. */
export function baseOf(codec: PgCodec): PgCodec {
  return codec.domainOfCodec ? baseOf(codec.domainOfCodec) : codec;
}

/**
 * An expression of the type beneath its domain: PostgreSQL finds no operator for a domain over an enum, a range or a composite type.
 * An index of the column serves it, too.
 */
export const withoutDomain = (expression: SQL, codec: PgCodec): SQL =>
  codec.domainOfCodec ? sql`${expression}::${baseOf(codec).sqlType}` : expression;

/** The type of PostgreSQL that a scalar of the graph stands for; one of them if these are several. */
export function codecOfScalar(build: GraphileBuild.Build, name: string): PgCodec | undefined {
  const known = codecsOfBuilds.get(build);
  if (known) return known.get(name);
  const found = new Map<string, PgCodec>();
  for (const codec of build.allPgCodecs) {
    // An array has the type of its items in a list.
    if (codec.arrayOfCodec || !build.hasGraphQLTypeForPgCodec(codec, 'input')) continue;
    found.set(build.getGraphQLTypeNameByPgCodec(codec, 'input') ?? '', codec);
  }
  codecsOfBuilds.set(build, found);
  return found.get(name);
}

const codecsOfBuilds = new WeakMap<GraphileBuild.Build, ReadonlyMap<string, PgCodec>>();
