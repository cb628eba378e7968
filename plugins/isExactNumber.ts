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
