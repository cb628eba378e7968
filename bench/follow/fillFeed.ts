import { withOwnerPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';

/** Fills the feed with as many changes, of the largest organization, over the 30 days that are kept. */
export function fillFeed(ownerUrl: string, count: number): Promise<void> {
  return withOwnerPool(ownerUrl, createLog('error'), async (owner) => {
    await owner.query(`select feed.create_partition(current_date - n) from generate_series(1, 29) as n`);
    await owner.query(
      `insert into feed.changes (origin, horizon, at, organization_id, relation, key, operation, columns)
       select feed.origin(), '3', now() - (29 - 29.0 * n / $1) * interval '1 day', u.organization_id, 'app_public.users', array[u.id::text],
         'UPDATE', '{full_name}'
       from generate_series(1, $1::int) as n
       join (select organization_id, id, row_number() over () - 1 as place from app_public.users where external_identifier like 'user-%') as u
         on u.place = n % 10000
       order by n`,
      [count],
    );
    await owner.query('vacuum analyze feed.changes');
    // The next measurement does not wait for these writes.
    await owner.query('checkpoint');
  });
}
