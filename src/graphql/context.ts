import type { Secrets } from '../secrets.ts';
import type { Claims } from '../token/claims.ts';

/** What plans may read: derived from the verified token and nothing else. There are no claims under public introspection. */
export function createContext(
  claims: Claims | null,
  secrets: Secrets,
  countRows: Grafast.Context['countRows'],
): Partial<Grafast.Context> {
  return {
    countRows,
    scopes: claims?.scopes ?? [],
    organizationId: claims?.organizationId ?? '',
    openExternalAuthenticationToken: secrets.open,
    sealExternalAuthenticationToken(token, owner) {
      const [, previousHash] = secrets.lookupHashes(token, owner.organizationId);
      const hash = secrets.lookupHash(token, owner.organizationId);
      return { ciphertext: secrets.seal(token, owner), hash, previousHash };
    },
  };
}
