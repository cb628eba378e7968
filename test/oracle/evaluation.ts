import type { Sight } from './access.ts';
import { type Credential, type DecisionArguments, decisionOf } from './decision.ts';
import { cardOf, decodeId, encodeId, idOf } from './ids.ts';
import type { Random } from './random.ts';

type Entity = { readonly type: string; readonly id: string };

/** An evaluation in the words of AuthZEN. */
export type Evaluation = {
  readonly subject: Entity;
  readonly action: { readonly name: string };
  readonly resource: Entity;
  readonly context?: { readonly time: string };
};

/** A request of several evaluations, some of whose parts stand at the top. */
export type Batch = {
  readonly evaluations: readonly Partial<Evaluation>[];
  readonly options?: { readonly evaluations_semantic: string };
} & Partial<Evaluation>;

/** The same question as `accessDecision` is asked. AuthZEN knows no reader: what one reads of a card becomes its id. */
export function toEvaluation(
  { cards }: Sight,
  { unitId, unitExternalIdentifier, credential, at }: DecisionArguments,
): Evaluation {
  return {
    subject: subjectOf(cards, credential),
    action: { name: 'enter' },
    resource: { type: 'unit', id: unitId ?? unitExternalIdentifier ?? '' },
    ...(at && { context: { time: at } }),
  };
}

function subjectOf(cards: Sight['cards'], { nfcIdentifier, beacon, ...named }: Credential): Entity {
  const { userId, userExternalIdentifier, cardId, cardExternalIdentifier } = named;
  if (userId !== undefined || userExternalIdentifier !== undefined)
    return { type: 'user', id: userId ?? userExternalIdentifier ?? '' };
  const read = cards.find((card) =>
    beacon
      ? card.proximityUuid === beacon.proximityUuid && card.major === beacon.major && card.minor === beacon.minor
      : card.nfcIdentifier !== null && card.nfcIdentifier === nfcIdentifier?.toUpperCase(),
  );
  return {
    type: 'card',
    id: cardId ?? cardExternalIdentifier ?? (read ? idOf(cardOf(read)) : encodeId('NfcCard', nobody)),
  };
}

const nobody = '01000000-0000-7000-8000-000000000000';

/** The reason of its decision, as section 12 of the contract says it, over the rows that the caller sees. */
export function reasonOf(sight: Sight, { subject, action, resource, context }: Evaluation): string {
  const isKnown = action.name === 'enter' && resource.type === 'unit' && ['user', 'card'].includes(subject.type);
  // "An action or type that is not known: 200, `decision: false`, `context.reason` `UNSUPPORTED`."
  if (!isKnown) return 'UNSUPPORTED';
  // "An external identifier is tried before an id."
  const isName = (rows: readonly { externalIdentifier: string | null }[], { id }: Entity, types: readonly string[]) =>
    rows.some(({ externalIdentifier }) => externalIdentifier === id) || !types.includes(decodeId(id)?.typeName ?? '');
  const unit = isName(sight.units, resource, ['Unit'])
    ? { unitExternalIdentifier: resource.id }
    : { unitId: resource.id };
  const user = isName(sight.users, subject, ['User']) ? { userExternalIdentifier: subject.id } : { userId: subject.id };
  const card = isName(sight.cards, subject, ['BeaconCard', 'NfcCard', 'IdentificationCode'])
    ? { cardExternalIdentifier: subject.id }
    : { cardId: subject.id };
  const credential = subject.type === 'user' ? user : card;
  return decisionOf(sight, { ...unit, credential, at: context?.time ?? null }).reason;
}

/** Some of the evaluations made into what the service does not know. */
export const withUnknown = (random: Random, evaluation: Evaluation): Evaluation =>
  random.chance(0.92)
    ? evaluation
    : random.pick([
        { ...evaluation, action: { name: 'leave' } },
        { ...evaluation, subject: { ...evaluation.subject, type: 'robot' } },
        { ...evaluation, resource: { ...evaluation.resource, type: 'door' } },
      ]);

/** A request for these, in which parts of one stand at the top, and the others have their own or take them from there. */
export function drawBatch(random: Random, evaluations: readonly Evaluation[]): Batch {
  const top = random.pick(evaluations);
  // A time at the top would be that of evaluations without one.
  const names = (['subject', 'action', 'resource', 'context'] as const).filter(
    (name) => random.chance(0.6) && (name !== 'context' || evaluations.every(({ context }) => context)),
  );
  const defaults = Object.fromEntries(names.map((name) => [name, top[name]]));
  const items = evaluations.map((evaluation) => {
    const isTaken = (name: string, part: unknown) =>
      names.some((one) => one === name) && JSON.stringify(part) === JSON.stringify(defaults[name]);
    return Object.fromEntries(Object.entries(evaluation).filter(([name, part]) => !isTaken(name, part)));
  });
  const semantic = random.pick([null, 'execute_all', 'deny_on_first_deny', 'permit_on_first_permit']);
  return { ...defaults, evaluations: items, ...(semantic && { options: { evaluations_semantic: semantic } }) };
}

/** "`deny_on_first_deny`, `permit_on_first_permit` (these return the shorter array)." */
export function answered({ options }: Batch, reasons: readonly string[]): readonly string[] {
  const ends: Record<string, (reason: string) => boolean> = {
    deny_on_first_deny: (reason) => reason !== 'GRANTED',
    permit_on_first_permit: (reason) => reason === 'GRANTED',
  };
  const isLast = ends[options?.evaluations_semantic ?? ''];
  const last = isLast ? reasons.findIndex(isLast) : -1;
  return last === -1 ? reasons : reasons.slice(0, last + 1);
}
