import { z } from 'zod';

// The rules of the tables, so that a document fails with a path instead of a constraint.
// Lengths are in characters as PostgreSQL and JSON Schema count them: code points.

const notUnicode = 'must be valid Unicode text';
const beaconRange = 'must be a whole number from 0 to 65535';

/** Text for people. */
export const text = z
  .string()
  .trim()
  .refine((value) => hasLength(value, 1, 200), 'must have 1 to 200 characters')
  .refine((value) => !hasControlCharacters(value), 'must have no control characters')
  .refine((value) => value.isWellFormed(), notUnicode)
  .meta({ minLength: 1, maxLength: 200, description: 'Trimmed; no control characters.' });

export const externalIdentifier = exactly(1, 200).describe('What the client system calls it; compared exactly.');

export const email = z
  .string()
  .trim()
  .refine(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses
    (value) => /^[^@\s\u0000-\u0020\u007f-\u00a0]+@[^@\s\u0000-\u0020\u007f-\u00a0]+$/.test(value),
    'must have one @ and no space',
  )
  .refine((value) => hasLength(value, 0, 254), 'must have at most 254 characters')
  .refine((value) => value.isWellFormed(), notUnicode)
  .meta({ maxLength: 254, description: 'One `@`, no space; unique in the organization, whatever its case.' });

/** RFC 5646 section 2.1. */
const languageTag =
  /^([a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*(-[\da-wy-z](-[a-z\d]{2,8})+)*(-x(-[a-z\d]{1,8})+)?|x(-[a-z\d]{1,8})+)$/i;

export const locale = z
  .string()
  .max(200, 'must have at most 200 characters')
  .refine((value) => languageTag.test(value), 'must be a BCP 47 language tag, such as "de" or "de-AT"')
  .describe('BCP 47 tag, such as `de` or `de-AT`; `en` for a new user.');

/** The database checks whether the time zone exists. */
export const timeZone = exactly(1, 200).describe('`Europe/Berlin`, or its city alone; `UTC` for a new user.');

export const externalAuthenticationToken = exactly(16, 500).describe('Signs in by an external app; kept encrypted.');

export const time = z.iso
  .datetime({ offset: true, error: 'must be a time with its zone, such as "2027-01-31T18:00:00+01:00"' })
  .describe('ISO 8601, with the zone.');

export const source = exactly(1, 200).describe('The system that gives it; left out, it is given by hand.');

export const password = exactly(8, 200).describe('Set only for a user who has none; kept as an argon2id hash.');

/** RFC 6749 appendix A.1, without the colon that RFC 7617 ends a user name with. */
export const clientId = z
  .string()
  .regex(/^[!-9;-~]{1,200}$/, 'must have 1 to 200 visible ASCII characters, no space and no colon')
  .describe('Name of the application for OAuth; unique among all organizations.');

export const clientSecret = exactly(32, 500)
  .refine((value) => !hasControlCharacters(value), 'must have no control characters')
  .describe('Generated and printed if left out; a changed one becomes the newest of two.');

/** RFC 6749 section 3.1.2, RFC 8252 sections 7.1 and 7.3. */
export const redirectUri = z
  .string()
  .max(2000, 'must have at most 2000 characters')
  .refine(
    (value) => /^[!-~]+$/.test(value) && URL.canParse(value) && !value.includes('#'),
    'must be an absolute URI without a fragment',
  )
  .refine(
    isSafeRedirect,
    'must be https, http on a loopback address, or a private-use scheme with a dot, such as "com.example.app:/callback"',
  )
  .describe('`https`, `http` on a loopback address, or a private scheme with a dot; no fragment.');

function isSafeRedirect(value: string): boolean {
  const url = URL.parse(value);
  // It is no URI at all: already reported.
  if (!url) return true;
  if (url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'http:') return loopbackHosts.includes(url.hostname);
  return url.protocol === 'https:' || url.protocol.includes('.');
}

const loopbackHosts = ['127.0.0.1', '[::1]', 'localhost'];

export const nfcIdentifier = z
  .string()
  .regex(/^([\dA-Fa-f]{8}|[\dA-Fa-f]{14}|[\dA-Fa-f]{20})$/, 'must have 4, 7 or 10 bytes in hex without separators')
  .toUpperCase()
  .describe('4, 7 or 10 bytes in hex without separators; unique in the organization.');

// Beacons do not follow RFC 9562.
export const proximityUuid = z
  .guid('must be a UUID')
  .toLowerCase()
  .describe('Any 128 bits, as a UUID; unique in the organization with `major` and `minor`.');

export const beaconNumber = z.int(beaconRange).min(0, beaconRange).max(65_535, beaconRange);

function exactly(least: number, most: number) {
  return z
    .string()
    .refine((value) => hasLength(value, least, most), `must have ${least} to ${most} characters`)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), notUnicode)
    .meta({ minLength: least, maxLength: most });
}

function hasLength(value: string, least: number, most: number): boolean {
  // A code point is one or two UTF-16 units, so they are counted only where that decides.
  if (value.length < least || value.length > 2 * most) return false;
  const length = [...value].length;
  return length >= least && length <= most;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const hasControlCharacters = (value: string) => /[\u0000-\u001f\u007f-\u009f]/.test(value);
