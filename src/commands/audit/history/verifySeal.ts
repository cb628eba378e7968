import type { ClientBase } from 'pg';
import { Chains } from './chains.ts';
import type { Erasures } from './erasures.ts';
import type { Findings } from './findings.ts';
import { type Chain, hashEntry, isErased } from './hashes.ts';
import { idsAt, parseRanges, printRangesUpTo, type Ranges, rangeOf, sizeOf } from './ranges.ts';
import { readEntries, type SealWithHead } from './readHistory.ts';

/** The allowed differences from a seal, at the head. */
export type Allowed = {
  /** Ids below a seal's own range that a later seal has. */
  readonly late: Ranges;
  /** Ids that may come at any time, since their transactions were open at the head. */
  readonly pending: Ranges;
  /** Entries of months that had ended by this day may be gone. */
  readonly expiredUntil: string;
};

export type Found = { readonly findings: Findings; readonly erasures: Erasures };

/** Compares the entries of a seal, and any inserted between them, with what was sealed. */
export async function verifySeal(
  client: ClientBase,
  seal: SealWithHead,
  { after, sealed }: { readonly after: number; readonly sealed: readonly Chain[] },
  allowed: Allowed,
  { findings, erasures }: Found,
): Promise<void> {
  const ids = parseRanges(seal.ids);
  // This also bounds memory: forged ids could ask for more than the seal itself takes.
  if (sizeOf(ids) * 4 !== seal.marks.length)
    return findings.add(`Seal ${seal.number} was changed: its ids are not those of its marks.`);
  const isSeen = new Uint8Array(sizeOf(ids));
  const chains = new Chains(client, seal.number);
  const before = findings.count;

  const span = { after, until: seal.until, late: printRangesUpTo(ids, after) };
  for await (const entry of readEntries(client, span)) {
    const place = rangeOf(ids, entry.id);
    if (place === undefined) {
      if (rangeOf(allowed.pending, entry.id) !== undefined) findings.cameLater += 1;
      else if (rangeOf(allowed.late, entry.id) === undefined) findings.add(`Entry ${entry.id} was inserted.`);
      continue;
    }
    const hash = hashEntry(entry);
    if (isSeen[place]) findings.add(`Entry ${entry.id} is there twice.`);
    else if (hash.compare(seal.marks, place * 4, place * 4 + 4, 0, 4) !== 0)
      findings.add(`Entry ${entry.id} was changed.`);
    isSeen[place] = 1;
    findings.compared += 1;
    if (isErased(entry)) erasures.add(entry);
    await chains.add(entry, hash);
  }

  const isExpired = ({ month }: Chain) => monthAfter(month) <= allowed.expiredUntil;
  const lacks = (chain: Chain) => chain.entries - (chains.get(chain)?.entries ?? 0);
  const expired = sealed.filter((chain) => isExpired(chain) && lacks(chain) > 0);
  for (const chain of expired) findings.expired += lacks(chain);
  // It is unknown which ids were dropped with an expired month.
  if (expired.length === 0) {
    const missing = Array.from(isSeen.keys()).filter((place) => !isSeen[place]);
    for (const id of idsAt(ids, missing)) findings.add(`Entry ${id} is gone.`);
  }
  if (findings.count > before) return;
  for (const chain of sealed.filter((one) => !expired.includes(one)))
    if (!chains.get(chain)?.head.equals(chain.head)) findings.add(describeChain(chain, lacks(chain)));
}

function describeChain({ organizationId, month }: Chain, lacking: number): string {
  const of = `of organization ${organizationId} in ${month.slice(0, 7)}`;
  return lacking > 0 ? `Entries ${of} are gone: ${lacking}.` : `The entries ${of} are not those that were sealed.`;
}

/** The first day of the next month, in which entries of the month before may expire. */
function monthAfter(month: string): string {
  const day = new Date(`${month}T00:00:00Z`);
  day.setUTCMonth(day.getUTCMonth() + 1);
  return day.toISOString().slice(0, 10);
}
