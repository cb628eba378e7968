import type { Random } from '../random.ts';

/** Names that meet, differ in case or normal form alone, or sort differently by UTF-16 than by their bytes. */
const names = [
  ...['Hall', 'hall', 'HALL', 'Hall 2', 'Hall 10', 'Ärger', 'A\u0308rger', 'ärger', 'É', 'E\u0301', 'é'],
  ...['😀', '\u{1F511} key', '\u{FF5E} wave', '\u{10FFFF}', '\u{E000}', 'ﬃ', 'ß', 'ss', 'İ', 'ı', '北館', 'مبنى'],
  ...['"quoted"', "'quoted'", 'back\\slash', '{}', '{"a":1}', '[null]', 'NULL', 'null', '0', '-1', '1e3', '%', '_'],
  ...['a,b', '(a)', '$1', ':x', '--', '/*', 'a  b', 'x'.repeat(200)],
];

export const drawName = (random: Random): string => random.pick(names);

/** Identifiers that both organizations have; unlike names they may have spaces around them and control characters. */
const identifiers = [
  ...['e', 'E', 'é', 'e\u0301', 'É', ' e', 'e ', '😀', '\u{FF5E}', '\u{10FFFF}', '0', '00', '-1', 'null', 'NULL', '""'],
  ...['\\', '\\\\', '{}', '{a,b}', 'a,b', 'a\nb', '\t', '\u0001', '%', '$1', '[]', 'true', 'y'.repeat(200)],
  ...Array.from({ length: 150 }, (_, index) => `e-${index}`),
];

/** As many as wanted, each once; the strange ones come first where few are wanted. */
export function drawIdentifiers(random: Random, count: number): (string | null)[] {
  const strange = random.some(identifiers.slice(0, 29), Math.ceil(count / 2));
  const ordinary = random.some(identifiers.slice(29), count);
  return random.some([...strange, ...ordinary], count).map((one) => (random.chance(0.25) ? null : one));
}

/** Addresses, each once whatever its case. */
export function drawEmails(random: Random, count: number): string[] {
  const hosts = ['x.test', 'X.TEST', 'sub.x.test', '北.test'];
  return Array.from({ length: count }, (_, index) => {
    const email = `${random.pick(['ada', 'Ada', 'ADA', '"', "o'hara", 'x+y', '_', '%', '北', '😀', 'z'])}${index}@${random.pick(hosts)}`;
    return random.chance(0.2) ? email.toUpperCase() : email;
  });
}

/** A version 7 UUID of random digits, so that keys are in no order of insertion. */
export function drawUuid(random: Random): string {
  const digits = (count: number) => Array.from({ length: count }, () => random.below(16).toString(16)).join('');
  return `${digits(8)}-${digits(4)}-7${digits(3)}-${random.pick(['8', '9', 'a', 'b'])}${digits(3)}-${digits(12)}`;
}

export function drawTime(random: Random): string {
  const second = new Date(
    Date.UTC(2024, random.below(24), 1 + random.below(28), random.below(24), random.below(60), random.below(60)),
  );
  const micros = random.pick([0, 1, 10, 100_000, 120_000, 123_456, 999_999, random.below(1_000_000)]);
  return `${second.toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}+00:00`;
}
