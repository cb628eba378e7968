/**
 * Reads a time of RFC 3339, whose seconds may be absent, as in the examples of AuthZEN; null when it is another text.
 * The result is in UTC, in words that PostgreSQL reads whatever its settings: it knows no year 0, and no offset of more than 15 hours.
 * Decimals beyond microseconds are cut: no grant begins or ends between two microseconds.
 */
export function readTime(text: string): string | null {
  const [, year = '', month, day, hour, minute, second = '00', decimals = '', offset = ''] = pattern.exec(text) ?? [];
  if (year === '') return null;
  const numbers = [year, month, day, hour, minute].map(Number) as [number, number, number, number, number];
  const [, , date, hours, minutes] = numbers;
  const [offsetHours = 0, offsetMinutes = 0] = offset.slice(1).split(':').map(Number);
  const local = toDate(numbers);
  if (local.getUTCDate() !== date || hours > 23 || minutes > 59 || offsetHours > 23 || offsetMinutes > 59) return null;

  const direction = offset.startsWith('-') ? 1 : -1;
  local.setUTCMinutes(local.getUTCMinutes() + direction * (60 * offsetHours + offsetMinutes));
  if (Number(second) > 59 && !(second === '60' && isEndOfMonth(local))) return null;
  local.setUTCSeconds(Number(second));
  return inUtc(local, decimals);
}

const pattern = /^(\d{4})-(0[1-9]|1[0-2])-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:[Zz]|([+-]\d\d:\d\d))$/;

function toDate([year, month, day, hour, minute]: readonly [number, number, number, number, number]): Date {
  const date = new Date(0);
  // `Date.UTC` takes the years before 100 for others.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute);
  return date;
}

/** Where a leap second may be (RFC 3339 appendix D). */
const isEndOfMonth = (date: Date) => new Date(date.getTime() + 60_000).toISOString().endsWith('-01T00:00:00.000Z');

function inUtc(date: Date, decimals: string): string {
  const year = date.getUTCFullYear();
  const padded = String(year > 0 ? year : 1 - year).padStart(4, '0');
  const rest = date.toISOString().slice(-20, -5);
  return `${padded}${rest}.${decimals.slice(0, 6).padEnd(6, '0')}Z${year > 0 ? '' : ' BC'}`;
}
