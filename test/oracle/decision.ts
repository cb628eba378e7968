import type { Sight } from './access.ts';
import { accessGrantOf, cardOf, decodeId, unitOf, userOf } from './ids.ts';
import type { AccessGrant, Card } from './rows.ts';

/** What somebody shows at a door; exactly one of these is given. */
export type Credential = {
  readonly userId?: string;
  readonly userExternalIdentifier?: string;
  readonly cardId?: string;
  readonly cardExternalIdentifier?: string;
  readonly nfcIdentifier?: string;
  readonly beacon?: { readonly proximityUuid: string; readonly major: number; readonly minor: number };
};

export type DecisionArguments = {
  readonly unitId?: string | null;
  readonly unitExternalIdentifier?: string | null;
  readonly credential: Credential;
  readonly at?: string | null;
};

export type Decision = ReturnType<typeof decisionOf>;

/** Whether somebody may enter, as section 12 of the contract says it, over the rows that the caller sees. */
export function decisionOf({ units, users, cards, cardAssignments, accessGrants }: Sight, asked: DecisionArguments) {
  const { credential } = asked;
  const moment = instantOf(asked.at ?? new Date().toISOString());
  const keyOf = (id: string | null | undefined) => (id ? decodeId(id)?.key : undefined);

  const unit = units.find(
    asked.unitId
      ? ({ id }) => id === keyOf(asked.unitId)
      : ({ externalIdentifier }) => externalIdentifier === asked.unitExternalIdentifier,
  );
  const isByUser = credential.userId !== undefined || credential.userExternalIdentifier !== undefined;
  const named = users.find(
    credential.userId !== undefined
      ? ({ id }) => id === keyOf(credential.userId)
      : ({ externalIdentifier }) => externalIdentifier === credential.userExternalIdentifier,
  );
  const card = isByUser ? undefined : cards.find((one) => isShown(one, credential));
  // "A card decides for its holder."
  const holders = isByUser
    ? named
      ? [named]
      : []
    : users.filter(({ id }) => cardAssignments.some(({ userId, cardId }) => userId === id && cardId === card?.id));

  // "A grant on the unit or on one above it decides", the nearest first.
  const path: string[] = [];
  for (let at = unit; at; at = units.find(({ id }) => id === at?.parentId)) path.push(at.id);
  const nearest = accessGrants
    .filter(({ userId, unitId }) => path.includes(unitId) && holders.some(({ id }) => id === userId))
    .sort((a, b) => path.indexOf(a.unitId) - path.indexOf(b.unitId) || (a.id < b.id ? -1 : 1));
  const hasBegun = ({ validFrom }: AccessGrant) => validFrom === null || instantOf(validFrom) <= moment;
  const hasEnded = ({ validUntil }: AccessGrant) => validUntil !== null && instantOf(validUntil) <= moment;
  const valid = nearest.find((grant) => hasBegun(grant) && !hasEnded(grant));
  const early = nearest.find((grant) => !hasBegun(grant));
  const over = nearest.find(hasEnded);

  // "`reason` is the first that holds."
  const [reason, grant] = !unit
    ? (['UNIT_UNKNOWN'] as const)
    : !isByUser && !card
      ? (['CARD_UNKNOWN'] as const)
      : isByUser && !named
        ? (['USER_UNKNOWN'] as const)
        : holders.length === 0
          ? (['CARD_UNASSIGNED'] as const)
          : valid
            ? (['GRANTED', valid] as const)
            : early
              ? (['NOT_YET_VALID', early] as const)
              : over
                ? (['EXPIRED', over] as const)
                : (['NO_GRANT'] as const);
  // "`user` is who may enter, or the only holder, else null."
  const entering = reason === 'GRANTED' ? users.find(({ id }) => id === grant?.userId) : undefined;
  const user = entering ?? (holders.length === 1 ? holders[0] : undefined);
  return {
    isAllowed: reason === 'GRANTED',
    reason,
    user: user ? userOf(user) : null,
    unit: unit ? unitOf(unit) : null,
    card: card ? cardOf(card) : null,
    accessGrant: grant ? accessGrantOf(grant) : null,
  };
}

function isShown(card: Card, { cardId, cardExternalIdentifier, nfcIdentifier, beacon }: Credential): boolean {
  if (cardId !== undefined) return card.id === decodeId(cardId)?.key;
  if (cardExternalIdentifier !== undefined) return card.externalIdentifier === cardExternalIdentifier;
  // "What a reader reads, in any case."
  if (nfcIdentifier !== undefined) return card.nfcIdentifier === nfcIdentifier.toUpperCase();
  return (
    beacon !== undefined &&
    card.proximityUuid === beacon.proximityUuid.toLowerCase() &&
    card.major === beacon.major &&
    card.minor === beacon.minor
  );
}

/** Microseconds since 1970, of ISO 8601 in UTC with any number of decimals. */
function instantOf(text: string): bigint {
  const [seconds = '', decimals = ''] = text.replace(/(Z|\+00:00)$/, '').split('.');
  return BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(decimals.padEnd(6, '0').slice(0, 6) || 0);
}
