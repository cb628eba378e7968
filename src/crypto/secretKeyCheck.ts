import { createHmac, randomBytes } from 'node:crypto';
import { subkey } from './secrets.ts';

/** A checksum by which a database knows its SECRET_KEY: HMAC-SHA-256 of a salt of its own, under a subkey. */
export type SecretKeyCheck = { readonly salt: Buffer; readonly checksum: Buffer };

export const secretKeyCheck = (key: Buffer, salt: Buffer = randomBytes(16)): SecretKeyCheck => ({
  salt,
  checksum: createHmac('sha256', subkey(key, 'check of the key')).update(salt).digest(),
});

/** Whether the key is the one of the checksum. */
export const isCheckedKey = (key: Buffer, { salt, checksum }: SecretKeyCheck): boolean =>
  secretKeyCheck(key, salt).checksum.equals(checksum);
