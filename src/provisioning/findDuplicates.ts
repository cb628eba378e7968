import type { Grant, Outline } from './document.ts';
import { formatPath, type Path, type Problem } from './problem.ts';
import { unitPath } from './unitTree.ts';

/**
 * Duplicates within one document: the second place is the problem, and names the first.
 * E-mail addresses are compared without regard to case, everything else exactly.
 */
export function findDuplicates({ organizations }: Outline): Problem[] {
  const problems: Problem[] = [];
  const once = () => {
    const places = new Map<string, Path>();
    return (value: string | null | undefined, path: Path) => {
      if (value === null || value === undefined) return;
      const first = places.get(value);
      if (first) problems.push({ path, message: `must not be that of ${formatPath(first)}` });
      else places.set(value, path);
    };
  };

  const seeOrganization = once();
  const seeClientId = once();
  for (const [index, organization] of organizations.entries()) {
    const path = ['organizations', index];
    seeOrganization(organization.name, [...path, 'name']);

    for (const [position, { clientId }] of organization.applications.entries()) {
      seeClientId(clientId, [...path, 'applications', position, 'clientId']);
    }
    const seeUnit = once();
    for (const unit of organization.units) {
      seeUnit(unit.externalIdentifier, [...path, 'units', ...unitPath(unit), 'externalIdentifier']);
    }
    const [seeUser, seeEmail, seeToken] = [once(), once(), once()];
    const [seeIdentifier, seeChip, seeBeacon] = [once(), once(), once()];
    for (const [position, user] of organization.users.entries()) {
      const userPath = [...path, 'users', position];
      seeUser(user.externalIdentifier, [...userPath, 'externalIdentifier']);
      seeEmail(user.email?.toLowerCase(), [...userPath, 'email']);
      seeToken(user.externalAuthenticationToken, [...userPath, 'externalAuthenticationToken']);
      problems.push(...findTwoTimes(user.accessibleUnits, [...userPath, 'accessibleUnits']));
      const seeCard = once();
      for (const [cardPosition, card] of user.cards.entries()) {
        if (!card) continue;
        const cardPath = [...userPath, 'cards', cardPosition];
        if (card.externalIdentifier === undefined) seeCard(`${card.type} ${card.name}`, [...cardPath, 'name']);
        seeIdentifier(card.externalIdentifier, [...cardPath, 'externalIdentifier']);
        if (card.type === 'NfcCard') seeChip(card.nfcIdentifier, [...cardPath, 'nfcIdentifier']);
        if (card.type === 'BeaconCard')
          seeBeacon(`${card.proximityUuid} ${card.major} ${card.minor}`, [...cardPath, 'proximityUuid']);
      }
    }
  }
  return problems;
}

/** A user, a unit and a source have one grant, which has one time. Twice the same is harmless. */
function findTwoTimes(grants: readonly (Grant | undefined)[], path: Path): Problem[] {
  const first = new Map<string, { position: number; times: string }>();
  return grants.flatMap((grant, position) => {
    if (!grant) return [];
    const key = JSON.stringify([grant.unit, grant.source ?? null]);
    const times = JSON.stringify([grant.validFrom, grant.validUntil]);
    const known = first.get(key);
    if (!known) first.set(key, { position, times });
    return known && known.times !== times
      ? [{ path: [...path, position], message: `must not be that of ${formatPath([...path, known.position])}` }]
      : [];
  });
}
