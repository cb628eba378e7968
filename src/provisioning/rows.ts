import type { ClientBase, QueryResultRow } from 'pg';
import { StartupError } from '../errors/errors.ts';

/** Reports the progress of a long step to a person; `what` names the things that are counted. */
export type Report = (done: number, total: number, what: string) => void;

/** The place of a value in the document: keys and positions, from the top. */
export type Path = readonly PropertyKey[];

export type Problem = { readonly path: Path; readonly message: string };

/** A document that cannot be applied; nothing was changed. */
export class ProvisioningError extends StartupError {
  override name = 'ProvisioningError';
  /** Each as `path: message`, such as `organizations[0].users[2].email: has one @ …`, in order. */
  readonly problems: readonly string[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
    const sorted = [...new Set(lines)].sort(new Intl.Collator('en', { numeric: true }).compare);
    const counted = sorted.length === 1 ? 'there is a problem' : `there are ${sorted.length} problems`;
    super([...sorted, `Nothing was changed: ${counted}.`].join('\n'));
    this.problems = sorted;
  }
}

/** @throws {ProvisioningError} when there are some */
export function requireNoProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new ProvisioningError(problems);
}

/** `organizations[0].users[2].email`; keys that are no plain word are quoted: `[0]["e-mail"]`. */
export function formatPath(path: Path): string {
  if (path.length === 0) return 'document';
  return path.map(formatStep).join('').replace(/^\./, '');
}

function formatStep(step: PropertyKey): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[a-z_]\w*$/i.test(String(step)) ? `.${String(step)}` : `[${JSON.stringify(String(step))}]`;
}

/** An object of an organization, with its place in the document. */
export type Entry<T> = { readonly organizationId: string; readonly value: T; readonly path: Path };

/**
 * All applications, units or users of all organizations.
 *
 * @param organizationIds by position
 * @param pathOf the place of an element in its list, or below
 */
export const entriesOf = <
  Key extends 'applications' | 'units' | 'users',
  O extends Readonly<Record<Key, readonly unknown[]>>,
>(
  organizations: readonly O[],
  organizationIds: readonly string[],
  key: Key,
  pathOf: (value: O[Key][number], position: number) => Path = (_, position) => [position],
): Entry<O[Key][number]>[] =>
  organizations.flatMap((organization, index) =>
    organization[key].map((value, position) => ({
      organizationId: organizationIds[index] as string,
      value,
      path: ['organizations', index, key, ...pathOf(value, position)],
    })),
  );

/** Rows for one statement: PostgreSQL expects a hundred from `jsonb_to_recordset`; so many still fit. */
const batchSize = 5000;

/**
 * Runs the statement once for each batch: `$1`, for `jsonb_to_recordset`; undefined columns are null.
 *
 * @returns the rows that all batches returned, in order
 */
export async function forRows<Returned extends QueryResultRow>(
  client: ClientBase,
  rows: readonly object[],
  statement: string,
): Promise<Returned[]> {
  const returned: Returned[] = [];
  for (let start = 0; start < rows.length; start += batchSize) {
    const batch = rows.slice(start, start + batchSize);
    const result = await client.query<Returned>(statement, [JSON.stringify(batch)]);
    for (const row of result.rows) returned.push(row);
  }
  return returned;
}

/** The functions behind the mutations `usersSync` and `unitsSync`, and the column of a result's row. */
const functions = {
  users: { name: 'users_sync', column: 'user' },
  units: { name: 'units_sync', column: 'unit' },
} as const;

/** As many rows as a client's sync may have. */
const rowsOfCall = 1000;

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
    Array.from({ length: Math.ceil(own.length / rowsOfCall) }, (_, n) =>
      own.slice(n * rowsOfCall, (n + 1) * rowsOfCall),
    ),
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
