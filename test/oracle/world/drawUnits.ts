import type { Random } from '../random.ts';
import type { Unit } from '../rows.ts';
import { drawIdentifiers, drawName, drawTime } from './texts.ts';

type Shape = 'none' | 'one' | 'chain' | 'star' | 'forest' | 'tree' | 'wide';

const shapes: Record<Shape, number> = { none: 1, one: 1, chain: 2, star: 2, forest: 2, tree: 5, wide: 0.5 };

/** Trees of any shape, parents before their children; `nextId` has each of the keys once. */
export function drawUnits(random: Random, organizationId: string, nextId: () => string): Unit[] {
  const shape = random.weighted(shapes);
  const count = { none: 0, one: 1, wide: random.between(101, 125) }[shape as string] ?? random.between(2, 25);
  const identifiers = drawIdentifiers(random, count);
  const units: Unit[] = [];
  for (const externalIdentifier of identifiers) {
    units.push({
      organizationId,
      id: nextId(),
      parentId: parentOf(random, shape, units),
      externalIdentifier,
      name: drawName(random),
      createdAt: drawTime(random),
      updatedAt: drawTime(random),
    });
  }
  return units;
}

function parentOf(random: Random, shape: Shape, units: readonly Unit[]): string | null {
  switch (shape) {
    case 'chain':
      return units.at(-1)?.id ?? null;
    case 'star':
    case 'wide':
      return units[0]?.id ?? null;
    case 'forest':
      return random.chance(0.6) ? null : random.pickOr(units, null) && random.pick(units).id;
    default:
      return random.chance(0.1) ? null : (random.pickOr(units, null)?.id ?? null);
  }
}
