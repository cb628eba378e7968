import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

export type Secrets = ReturnType<typeof createSecrets>;

export type WebhookOwner = { readonly organizationId: string; readonly webhookId: string };

type TokenOwner = { readonly organizationId: string; readonly userId: string };

/**
 * Encryption and keyed hashes by SECRET_KEY, with a subkey for each purpose.
 *
 * @param keys SECRET_KEY, then SECRET_KEY_PREVIOUS if set; 32 bytes each.
 */
export function createSecrets(keys: readonly [Buffer, ...Buffer[]]) {
  const sealingKeys = keys.map((key) => subkey(key, 'external authentication token sealing'));
  const lookupKeys = keys.map((key) => subkey(key, 'external authentication token lookup'));
  const answerKeys = keys.map((key) => subkey(key, 'idempotent answer sealing'));
  const webhookKeys = keys.map((key) => subkey(key, 'webhook secret sealing'));
  // As key objects: with the bytes themselves each HMAC would make a key of them.
  const cursorKeys = keys.map((key) => createSecretKey(subkey(key, 'change feed cursor')));
  const [sealingKey, lookupKey, answerKey, webhookKey] = [sealingKeys, lookupKeys, answerKeys, webhookKeys].map(
    ([current]) => current,
  ) as [Buffer, Buffer, Buffer, Buffer];

  return {
    /**
     * Seals an external authentication token for one user: AES-256-GCM.
     * The organization and user are associated data, so that a ciphertext copied to another row does not open.
     */
    seal: (plaintext: string, owner: TokenOwner) => encrypt(sealingKey, plaintext, associatedData(owner)),
    /** Opens a token that `seal` made, also under SECRET_KEY_PREVIOUS. Throws for another owner or key. */
    open(ciphertext: Buffer, owner: TokenOwner): string {
      const plaintext = decryptByAny(sealingKeys, ciphertext, associatedData(owner));
      if (plaintext !== null) return plaintext;
      throw new Error('An external authentication token does not open under SECRET_KEY or SECRET_KEY_PREVIOUS');
    },
    /** Keyed hash (HMAC-SHA-256) by which the token is found within its organization. */
    lookupHash: (token: string, organizationId: string) => keyedHash(lookupKey, token, organizationId),
    /** The hashes that a token may be stored under: by SECRET_KEY, then by SECRET_KEY_PREVIOUS if set. */
    lookupHashes: (token: string, organizationId: string) =>
      lookupKeys.map((key) => keyedHash(key, token, organizationId)),
    /** Seals the secret of a webhook, and binds it to that webhook. */
    sealWebhookSecret: (secret: string, owner: WebhookOwner) => encrypt(webhookKey, secret, dataOfWebhook(owner)),
    /** Opens the secret, also under SECRET_KEY_PREVIOUS. Throws for another webhook or key. */
    openWebhookSecret(ciphertext: Buffer, owner: WebhookOwner): string {
      const secret = decryptByAny(webhookKeys, ciphertext, dataOfWebhook(owner));
      if (secret !== null) return secret;
      throw new Error('The secret of a webhook does not open under SECRET_KEY or SECRET_KEY_PREVIOUS');
    },
    /** The checksums (HMAC-SHA-256, 12 bytes) that a cursor may have: by SECRET_KEY, then by SECRET_KEY_PREVIOUS if set. */
    cursorChecksums: (text: string) => cursorKeys.map((key) => checksum(key, text)),
    /** The checksum that a new cursor gets, by SECRET_KEY. */
    cursorChecksum: (text: string) => checksum(cursorKeys[0] as KeyObject, text),
    /** Seals the answer to a request. `request`, the whole text of the request, is associated data. */
    sealAnswer: (answer: string, request: string) => encrypt(answerKey, answer, request),
    /** Opens an answer, also under SECRET_KEY_PREVIOUS; null for another request or key. */
    openAnswer: (ciphertext: Buffer, request: string) => decryptByAny(answerKeys, ciphertext, request),
  };
}

/** AES-256-GCM: 12 bytes of nonce, 16 of tag, then the ciphertext. `key` is 32 bytes. */
export function encrypt(key: Buffer, plaintext: string, associatedData: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(associatedData));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** The plaintext that `encrypt` was given, or null when key, associated data or bytes differ. */
export function decrypt(key: Buffer, sealed: Buffer, associatedData: string): string | null {
  if (sealed.length < 28) return null;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), { authTagLength: 16 })
    .setAAD(Buffer.from(associatedData))
    .setAuthTag(sealed.subarray(12, 28));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function decryptByAny(keys: readonly Buffer[], sealed: Buffer, associatedData: string): string | null {
  for (const key of keys) {
    const plaintext = decrypt(key, sealed, associatedData);
    if (plaintext !== null) return plaintext;
  }
  return null;
}

/** One key per purpose from one secret (HKDF, RFC 5869), 32 bytes. */
export function subkey(secret: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `graph-query-service ${purpose}`, 32));
}

const associatedData = (owner: TokenOwner) => `${owner.organizationId}\0${owner.userId}`;

const dataOfWebhook = (owner: WebhookOwner) => `${owner.organizationId}\0${owner.webhookId}`;

const checksum = (key: KeyObject, text: string) =>
  createHmac('sha256', key).update(text).digest('base64url').slice(0, 16);

const keyedHash = (key: Buffer, token: string, organizationId: string) =>
  createHmac('sha256', key).update(`${organizationId}\0${token}`).digest();

/** A checksum by which a database knows its SECRET_KEY: HMAC-SHA-256 of a salt of its own, under a subkey. */
export type SecretKeyCheck = { readonly salt: Buffer; readonly checksum: Buffer };

export const secretKeyCheck = (key: Buffer, salt: Buffer = randomBytes(16)): SecretKeyCheck => ({
  salt,
  checksum: createHmac('sha256', subkey(key, 'check of the key')).update(salt).digest(),
});

/** Whether the key is the one of the checksum. */
export const isCheckedKey = (key: Buffer, { salt, checksum }: SecretKeyCheck): boolean =>
  secretKeyCheck(key, salt).checksum.equals(checksum);
