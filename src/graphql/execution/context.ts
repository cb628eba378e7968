import type { Config } from '../../config.ts';
import type { Secrets } from '../../crypto/secrets.ts';
import type { Claims } from '../../token/claims.ts';
import { problemOfUrl } from '../../webhooks/addresses.ts';

/** The context of plans, all from the verified token; public introspection has no claims. */
export function createContext(
  claims: Claims | null,
  secrets: Secrets,
  countRows: Grafast.Context['countRows'],
  { webhookPrivateAddresses }: Pick<Config, 'webhookPrivateAddresses'>,
): Partial<Grafast.Context> {
  return {
    countRows,
    scopes: claims?.scopes ?? [],
    organizationId: claims?.organizationId ?? '',
    cursorChecksum: secrets.cursorChecksum,
    cursorChecksums: secrets.cursorChecksums,
    sealWebhookSecret: secrets.sealWebhookSecret,
    openWebhookSecret: secrets.openWebhookSecret,
    problemOfWebhookUrl: (url) => problemOfUrl(url, webhookPrivateAddresses),
    openExternalAuthenticationToken: secrets.open,
    sealExternalAuthenticationToken(token, owner) {
      const [, previousHash] = secrets.lookupHashes(token, owner.organizationId);
      const hash = secrets.lookupHash(token, owner.organizationId);
      return { ciphertext: secrets.seal(token, owner), hash, previousHash };
    },
  };
}
