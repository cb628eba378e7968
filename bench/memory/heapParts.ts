import { dominatorsOf } from './dominatorsOf.ts';
import { readSnapshot, type Snapshot } from './readSnapshot.ts';

/** A heap by its parts, in bytes. */
export async function heapParts(file: string): Promise<ReadonlyMap<string, number>> {
  const snapshot = await readSnapshot(file);
  const dominators = dominatorsOf(snapshot);
  const named = new Map<number, string>();
  for (let node = 0; node < snapshot.count; node++) {
    const owner = ownerOf(snapshot, node);
    if (owner) named.set(node, owner);
    snapshot.eachReference(node, (to, name) => {
      const part = partOfReference(snapshot, node, to, name);
      if (part) named.set(to, part);
    });
  }
  const parts = new Map<string, number>();
  for (let node = 0; node < snapshot.count; node++) {
    if (dominators[node] === -1) continue;
    let owner = node;
    while (owner !== 0 && !named.has(owner)) owner = dominators[owner] as number;
    const part = named.get(owner) ?? byType[snapshot.typeOf(node)] ?? 'other objects';
    parts.set(part, (parts.get(part) ?? 0) + snapshot.sizeOf(node));
  }
  return new Map([...parts].toSorted(([, one], [, other]) => other - one));
}

/** The part that has everything which this node dominates. */
function ownerOf({ typeOf, nameOf }: Snapshot, node: number): string | null {
  if (typeOf(node) !== 'object') return null;
  if (nameOf(node) === 'GraphQLSchema') return 'schema';
  return nameOf(node) === 'OperationPlan' ? 'plans' : null;
}

function partOfReference({ typeOf, nameOf }: Snapshot, from: number, to: number, name: string): string | null {
  if (typeOf(to) !== 'string') return null;
  if (name === 'introspectionText') return "the catalogue's text";
  if (name !== 'source' || typeOf(from) !== 'code') return null;
  // Part of Node.js' program, which is shared and counted as such.
  return nameOf(from).startsWith('node:') ? "source text of Node.js' modules" : 'source text of modules';
}

const byType: Readonly<Record<string, string>> = {
  code: 'code of modules',
  closure: 'code of modules',
  'object shape': 'code of modules',
  string: 'other strings',
  'concatenated string': 'other strings',
  'sliced string': 'other strings',
};
