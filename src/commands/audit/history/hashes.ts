import { hash } from 'node:crypto';

/** An entry of audit.changes, each value as PostgreSQL prints it; `entry` has those that never change. */
export type Entry = {
  readonly id: number;
  readonly organizationId: string;
  readonly subjectId: string;
  /** The first day of its month. */
  readonly month: string;
  readonly entry: string;
  readonly salt: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly commitment: string | null;
};

/** A row of audit.seals. */
export type Seal = {
  readonly number: number;
  readonly sealedAt: string;
  readonly retention: string;
  readonly until: number;
  readonly ids: string;
  readonly pending: string;
  readonly marks: Buffer;
};

/** A row of audit.chains: the entries that a seal has added to the chain of an organization's month. */
export type Chain = { organizationId: string; month: string; entries: number; head: Buffer };

/** Whether the values were erased, and only their commitment is left. */
export const isErased = ({ salt, before, after, commitment }: Entry): boolean =>
  commitment !== null && salt === null && before === null && after === null;

/** The hash of an entry: of what never changes, and of the commitment to its values. */
export function hashEntry(entry: Entry): Buffer {
  const { salt, before, after } = entry;
  const commitment = isErased(entry)
    ? entry.commitment
    : sha256(`${salt ?? ''}\n${before ?? ''}\n${after ?? ''}`).toString('hex');
  return sha256(`${entry.entry}\n${commitment}`);
}

/** The head of a hash chain after one more entry. */
export const addToChain = (head: Buffer | undefined, entryHash: Buffer): Buffer =>
  sha256(head ? Buffer.concat([head, entryHash]) : entryHash);

/** The head of all chains: hashes a seal with its chains, and the head before it. */
export function hashSeal(previous: Buffer | undefined, seal: Seal, chains: readonly Chain[]): Buffer {
  const { number, sealedAt, retention, until, ids, pending, marks } = seal;
  const ends = chains.map(({ organizationId, month, entries, head }) => [
    organizationId,
    month,
    entries,
    head.toString('hex'),
  ]);
  const marked = sha256(marks).toString('hex');
  return sha256(
    JSON.stringify([previous?.toString('hex') ?? '', number, sealedAt, retention, until, ids, pending, marked, ends]),
  );
}

const sha256 = (data: string | Buffer): Buffer => hash('sha256', data, 'buffer');
