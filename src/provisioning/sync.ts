import type { ClientBase } from 'pg';
import { type Problem, ProvisioningError } from './problem.ts';
import type { Report } from './report.ts';
import type { Entry } from './rows.ts';

/** The functions behind the mutations `usersSync`, `unitsSync` and `cardsSync`, and the column of a result's row. */
const functions = {
  users: { name: 'users_sync', column: 'user' },
  units: { name: 'units_sync', column: 'unit' },
  cards: { name: 'cards_sync', column: 'card' },
} as const;

/** As many rows as a client's sync may have. */
const batchSize = 1000;

/**
 * Upsert by external identifier, as a client's sync does it.
 * It adds what is new, changes what differs, and leaves the rest unchanged. Refused rows are tried again after the other batches, as users
 * of two batches may swap their addresses.
 *
 * @param entries whose `value` has the function's columns: undefined ones stay as they are
 * @param report is called with how many of these are done
 * @returns the ids of the rows, in order
 * @throws {ProvisioningError} for rows that are refused in the end
 */
export async function sync(
  client: ClientBase,
  kind: keyof typeof functions,
  entries: readonly Entry<object>[],
  report: Report,
): Promise<string[]> {
  const ids: string[] = [];
  let rest = entries.map((entry, index) => ({ ...entry, index }));
  while (rest.length > 0) {
    const refused: typeof rest = [];
    const problems: Problem[] = [];
    let done = entries.length - rest.length;
    for (const batch of batchesOf(rest)) {
      const results = await syncBatch(client, kind, batch);
      for (const [position, { id, argument, message }] of results.entries()) {
        const entry = batch[position] as (typeof rest)[number];
        if (message === null) {
          ids[entry.index] = id;
          continue;
        }
        refused.push(entry);
        problems.push({ path: argument === null ? entry.path : [...entry.path, argument], message });
      }
      done += batch.length;
      report(done, entries.length, `${kind} synchronized`);
    }
    if (refused.length === rest.length) throw new ProvisioningError(problems);
    rest = refused;
  }
  await setOrganization(client, '');
  return ids;
}

/** Each batch is of one organization, since the function changes only that of the claims. */
function batchesOf<T extends Entry<object>>(entries: readonly T[]): T[][] {
  return [...Map.groupBy(entries, ({ organizationId }) => organizationId).values()].flatMap((own) =>
    Array.from({ length: Math.ceil(own.length / batchSize) }, (_, n) => own.slice(n * batchSize, (n + 1) * batchSize)),
  );
}

type Result = { id: string; argument: string | null; message: string | null };

async function syncBatch(
  client: ClientBase,
  kind: keyof typeof functions,
  batch: readonly Entry<object>[],
): Promise<Result[]> {
  const { name, column } = functions[kind];
  await setOrganization(client, batch[0]?.organizationId ?? '');
  const { rows } = await client.query<Result>(
    `select (result."${column}").id, (result.error).argument, (result.error).message
     from app_public.${name}(array(select jsonb_array_elements($1))) as result`,
    [JSON.stringify(batch.map(({ value }) => value))],
  );
  return rows;
}

const setOrganization = (client: ClientBase, organizationId: string) =>
  client.query(`select set_config('graph.organization_id', $1, true)`, [organizationId]);
