// What a client gets for a value, from the text that PostgreSQL writes under `TimeZone = UTC` and `DateStyle = ISO`.

export const same = (text: string) => text;
export const instant = (text: string) => {
  if (text.endsWith('infinity')) return text;
  const [, date, seconds, fraction = '', zone = '', era = ''] =
    /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?(\+00)?( BC)?$/.exec(text) ?? [];
  return `${date}T${seconds}.${fraction.padEnd(6, '0')}${zone && '+00:00'}${era}`;
};
export const time = (text: string) => {
  const [, seconds, fraction = '', zone = ''] = /^(\d\d:\d\d:\d\d)(?:\.(\d+))?([+-].+)?$/.exec(text) ?? [];
  return `${seconds}.${fraction.padEnd(6, '0')}${zone.length === 3 ? `${zone}:00` : zone}`;
};
export const interval = (text: string) => {
  const part = (unit: RegExp) => Number(new RegExp(`(-?\\d+) ${unit.source}`).exec(text)?.[1] ?? 0);
  const [, sign, hours, minutes, seconds] = /(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text) ?? ['', '', 0, 0, 0];
  const signed = (amount: unknown) => (Number(amount) === 0 ? 0 : Number(`${sign}${amount}`));
  const days = { years: part(/years?/), months: part(/mons?/), days: part(/days?/) };
  return { ...days, hours: signed(hours), minutes: signed(minutes), seconds: signed(seconds) };
};
export const range = (text: string) => {
  if (text === 'empty') return { start: null, end: null };
  const [, open, from, to, close] = /^([[(])(.*),(.*)([\])])$/.exec(text) ?? [];
  const bound = (value = '', bracket?: string) =>
    value === '' ? null : { value: Number(value), inclusive: bracket === '[' || bracket === ']' };
  return { start: bound(from, open), end: bound(to, close) };
};

/** A composite value's text: fields between commas, quoted where they have to be, empty without quotes for null. */
export function pair(text: string) {
  const fields = [...text.slice(1, -1).matchAll(/("(?:[^"\\]|\\.|"")*"|[^,]*)(,|$)/g)].map(([, field = '']) => field);
  const [word = '', amount = ''] = fields.map((field) => (field.startsWith('"') ? field : field || null)) as string[];
  const unquoted = word?.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)|"(")/g, '$1$2') : word;
  return { word: unquoted, amount: amount || null };
}

export const texts = [
  '',
  ' ',
  'a',
  'A',
  'b',
  'B',
  'ä',
  'z',
  'é',
  'Zz',
  '"',
  '\\',
  "it's",
  '{a,b}',
  '(a,b)',
  'NULL',
  'a,b',
  '😀',
  '\u{1d11e}x',
  '￿',
  'a\u0301',
  '%',
  '_',
  'a%b',
  '\t',
  '$1',
  '日本',
];

/** An array of texts: items between commas, quoted where they have to be, in braces for each dimension. */
export const words = (text: string) =>
  [...text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,{}]+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain === 'NULL' ? null : plain) : quoted.replaceAll(/\\(.)/g, '$1'),
  );
