import type { Random } from '../random.ts';

/** Names and full names: with spaces to be trimmed, too long, with control characters, beyond the BMP. */
export function drawText(random: Random): string {
  const plain = `${random.pick(['Ada', 'Grace', 'Konrad', 'Halle', 'Zoë', '東京', '𝔘𝔫𝔦𝔱'])} ${random.below(4)}`;
  if (random.chance(0.65)) return plain;
  if (random.chance(0.6)) return random.pick([`  ${plain} `, `\t${plain}\u00a0`, `${plain}\n`]);
  return random.pick([
    '',
    '   ',
    'a'.repeat(200),
    'a'.repeat(201),
    '😀'.repeat(200),
    '😀'.repeat(201),
    ` ${'b'.repeat(200)} `,
    'a\tb',
    'a\nb',
    'a\u007fb',
    'a\u0085b',
    'nul \0',
    'line\u2028separator',
    '"quotes" \\ and {braces}',
    "'; drop table users; --",
    'null',
  ]);
}

/** Few, so that they meet rows and each other. */
export function drawIdentifier(random: Random, prefix: string): string {
  if (random.chance(0.93)) return `${prefix}-${random.below(9)}`;
  return random.pick([
    '',
    ' ',
    `${prefix}-0 `,
    `${prefix.toUpperCase()}-0`,
    'x'.repeat(200),
    'x'.repeat(201),
    '𝒳'.repeat(200),
    'tab\there',
    'nul\0',
    'nobody',
  ]);
}

/** Two systems, and what is no source. */
export function drawSource(random: Random): string | null {
  if (random.chance(0.9)) return random.pick([null, 'hr', 'hr', 'visitors', 'visitors']);
  return random.pick(['HR', ' hr', '', 'x'.repeat(200), '𝒳'.repeat(201), 'nul\0']);
}

/** Years away from now, in the form in which they are answered. */
export const drawTime = (random: Random): string | null =>
  random.pick([
    null,
    '2019-12-31T23:59:59.999999+00:00',
    '2020-02-29T00:00:00.000001+00:00',
    '2198-01-01T00:00:00.000000+00:00',
    '2199-12-31T23:59:59.999999+00:00',
  ]);

export function drawEmail(random: Random): string {
  const own = `person-${random.below(7)}@world.test`;
  if (random.chance(0.6)) return own;
  return random.pick([
    own.toUpperCase(),
    `Person-${random.below(7)}@World.Test`,
    `new-${random.below(1000)}@world.test`,
    `new-${random.below(1000)}@world.test`,
    'ädä@world.test',
    'ÄDÄ@world.test',
    ` trimmed-${random.below(5)}@world.test `,
    'no-at.world.test',
    'two@ats@world.test',
    'a space@world.test',
    '',
    `${'l'.repeat(243)}@world.test`,
    `${'l'.repeat(244)}@world.test`,
    'nul\0@world.test',
  ]);
}

export const drawLocale = (random: Random): string =>
  random.chance(0.8)
    ? random.pick(['de', 'en', 'de-AT', 'zh-Hant-TW'])
    : random.pick(['', 'd', 'de_AT', 'no locale', 'de-', '12']);

export const drawTimeZone = (random: Random): string =>
  random.chance(0.8)
    ? random.pick([
        'Europe/Berlin',
        'Berlin',
        'New York',
        'UTC',
        'Tokyo',
        'America/Argentina/Buenos_Aires',
        'Buenos Aires',
      ])
    : random.pick(['', 'Mars/Olympus', 'Nowhere', 'Europe/', 'UTC+1 hour', 'Berlin\0']);

export function drawToken(random: Random): string {
  if (random.chance(0.75)) return `external-token-of-u-${random.below(4)}`;
  return random.pick([
    't'.repeat(15),
    't'.repeat(16),
    't'.repeat(500),
    't'.repeat(501),
    '𝒯'.repeat(500),
    '  with spaces around  ',
    '',
    `nul${'\0'.repeat(16)}`,
  ]);
}

export function drawUrl(random: Random): string {
  if (random.chance(0.75)) return `https://hooks.example.com/${random.below(3)}`;
  return random.pick([
    '',
    'nonsense',
    'http://hooks.example.com/',
    'https://user@hooks.example.com/',
    'https://hooks.example.com/#fragment',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://10.0.0.1/',
    `https://hooks.example.com/${'l'.repeat(1974)}`,
    `https://hooks.example.com/${'l'.repeat(1975)}`,
    'ftp://hooks.example.com/',
  ]);
}
