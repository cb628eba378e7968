import { badInput, type Failure } from './outcome.ts';

/** What is stored of a value, or undefined when the contract does not allow it. */
type Reader = (value: string) => string | undefined;

/** Section 4: "Texts: trimmed, not empty, at most 200 characters, no control characters." */
const readText: Reader = (value) => {
  const trimmed = value.trim();
  return trimmed !== '' && lengthOf(trimmed) <= 200 && !/\p{Cc}/u.test(trimmed) ? trimmed : undefined;
};

/** "One `@`, no space, at most 254 characters". */
const readEmail: Reader = (value) => {
  const trimmed = value.trim();
  return /^[^@\s]+@[^@\s]+$/u.test(trimmed) && lengthOf(trimmed) <= 254 && !/\p{Cc}/u.test(trimmed)
    ? trimmed
    : undefined;
};

/** "1 to 200 characters, compared exactly". */
const readIdentifier: Reader = (value) => (lengthOf(value) >= 1 && lengthOf(value) <= 200 ? value : undefined);

/** "16 to 500 characters". */
const readToken: Reader = (value) => (lengthOf(value) >= 16 && lengthOf(value) <= 500 ? value : undefined);

/** "A locale is a BCP 47 tag". */
const readLocale: Reader = (value) => {
  try {
    return Intl.getCanonicalLocales(value).length === 1 ? value : undefined;
  } catch {
    return undefined;
  }
};

/** "An IANA name (`Europe/Berlin`) or the city alone (`Berlin`, `New York`), stored and returned as given." */
const readTimeZone: Reader = (value) => (timeZones.has(value) || isIanaName(value) ? value : undefined);

/** "4, 7 or 10 bytes of hex, upper-cased". */
const readNfcIdentifier: Reader = (value) =>
  /^([0-9a-f]{8}|[0-9a-f]{14}|[0-9a-f]{20})$/i.test(value) ? value.toUpperCase() : undefined;

const readers: Readonly<Record<string, Reader>> = {
  fullName: readText,
  name: readText,
  email: readEmail,
  locale: readLocale,
  timeZone: readTimeZone,
  timezone: readTimeZone,
  externalIdentifier: readIdentifier,
  externalAuthenticationToken: readToken,
  nfcIdentifier: readNfcIdentifier,
};

/** Reads the argument, and adds a failure when its value is not allowed; PostgreSQL stores no NUL in any text. */
export function readValue(argument: string, value: string, failures: Failure[]): string {
  const read = value.includes('\0') ? undefined : readers[argument]?.(value);
  // The specification's other spelling may be reported under the first.
  if (read === undefined) failures.push(badInput(argument === 'timezone' ? ['timezone', 'timeZone'] : argument));
  return read ?? value;
}

/** What addresses are compared by. */
export const withoutCase = (email: string): string => email.toLowerCase();

const lengthOf = (text: string) => [...text].length;

/** `Intl` lists one of the names of a zone, and knows the others. */
function isIanaName(value: string): boolean {
  try {
    return value.includes('/') && new Intl.DateTimeFormat('en', { timeZone: value }) !== undefined;
  } catch {
    return false;
  }
}

const timeZones = new Set(
  ['UTC', ...Intl.supportedValuesOf('timeZone')].flatMap((name) => {
    const city = name.slice(name.lastIndexOf('/') + 1);
    return [name, city, city.replaceAll('_', ' ')];
  }),
);
