import type { ClientBase } from 'pg';
import { rolledBack } from '../../../database/pool/transactions.ts';
import { document, table } from '../markdown.ts';
import type { Answer, AuditedDatabase } from '../withAuditedDatabase.ts';
import { Erasures } from './erasures.ts';
import { Findings } from './findings.ts';
import { hashSeal } from './hashes.ts';
import type { Head } from './head.ts';
import { parseRanges } from './ranges.ts';
import { asHashed, readChains, readSeal, type SealWithHead } from './readHistory.ts';
import { type Allowed, verifySeal } from './verifySeal.ts';

/**
 * `audit verify`: computes the hash chain again, and compares it with a head that was kept elsewhere.
 * It calls no function of the audited database, and trusts its seals only when they lead to that head.
 */
export function verify({ pool }: AuditedDatabase, head: Head, now = new Date()): Promise<Answer> {
  return rolledBack(pool, async (client) => {
    await client.query(`${asHashed} set transaction read only`);
    const [findings, erasures] = [new Findings(), new Erasures()];
    const last = await verifySeals(client, head, now, { findings, erasures });
    if (last) await verifyNewer(client, last, findings);
    const isComplete = await erasures.verify(client, findings);
    const text = describeVerification(head, last?.retention, findings, erasures, isComplete);
    return { text, findings: findings.count };
  });
}

async function verifySeals(
  client: ClientBase,
  { number, head }: Head,
  now: Date,
  found: { findings: Findings; erasures: Erasures },
): Promise<SealWithHead | undefined> {
  const allowed = await readAllowed(client, number, now);
  let last: SealWithHead | undefined;
  let computed: Buffer | undefined;
  while ((last?.number ?? 0) < number) {
    const next = (last?.number ?? 0) + 1;
    const seal = await readSeal(client, next);
    if (!seal) {
      found.findings.add(`Seal ${next} is gone: it was deleted, or a backup from before it was restored.`);
      return undefined;
    }
    const sealed = await readChains(client, next);
    const after = last?.until ?? Number.MIN_SAFE_INTEGER;
    await verifySeal(client, seal, { after, sealed }, allowed, found);
    computed = hashSeal(computed, seal, sealed);
    if (!computed.equals(seal.head)) {
      found.findings.add(`Seal ${next} was changed.`);
      computed = seal.head;
    }
    last = seal;
  }
  if (!last?.head.equals(head)) found.findings.add(`Seal ${number} has another head: the seals were made anew.`);
  return last;
}

async function readAllowed(client: ClientBase, number: number, now: Date): Promise<Allowed> {
  const { rows } = await client.query<{ late: string; pending: string; expiredUntil: string }>(
    `select
       coalesce(range_agg(ids * int8multirange(int8range(null, after, '(]'))), '{}')::text as late,
       coalesce((array_agg(pending order by number desc))[1], '{}')::text as pending,
       to_char(greatest(max(sealed_at - retention), $2::timestamptz - (array_agg(retention order by number desc))[1]), 'YYYY-MM-DD')
         as "expiredUntil"
     from (select *, coalesce(lag(until) over (order by number), $3) as after from audit.seals where number <= $1) as seals`,
    [number, now.toISOString(), Number.MIN_SAFE_INTEGER],
  );
  const { late = '{}', pending = '{}', expiredUntil } = rows[0] ?? {};
  return { late: parseRanges(late), pending: parseRanges(pending), expiredUntil: expiredUntil ?? '' };
}

/** Finds inserted entries: those above the last seal that are older than it, and those below all seals. */
async function verifyNewer(client: ClientBase, { until, sealedAt }: SealWithHead, findings: Findings): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `select id from audit.changes where id > $1 and occurred_at < $2 or id <= $3 order by id limit 1000`,
    [until, sealedAt, Number.MIN_SAFE_INTEGER],
  );
  for (const { id } of rows) findings.add(`Entry ${id} was inserted: by its time or id it is older than the seal.`);
}

function describeVerification(
  { number }: Head,
  retention: string | undefined,
  findings: Findings,
  erasures: Erasures,
  isComplete: boolean,
): string {
  const { count, compared, expired, cameLater } = findings;
  const counts = [
    { entries: compared, which: 'were compared with their seal' },
    { entries: erasures.entries, which: 'of these were erased, since their persons were deleted' },
    { entries: expired, which: `are gone with months that were older than ${retention}` },
    { entries: cameLater, which: 'came later, from transactions that were open at the seal' },
  ];
  return document(
    `# The history up to seal ${number}`,
    count === 0 ? 'Nothing was changed, removed, inserted or reordered.' : findings.list().join('\n'),
    table(
      counts.filter(({ entries }) => entries > 0),
      'It has no entry.',
    ),
    ...(isComplete ? [] : ['Whether these persons are really gone only the owner of the database can ask.']),
  );
}
