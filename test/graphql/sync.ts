import type { Pool, QueryResultRow } from 'pg';
import { until } from '../support/until.ts';
import { type GraphTest, read, type Tenant } from './support.ts';

/** A result of a sync: of users with `user`, of units with `unit`, of cards with `card`. */
export type SyncResult<Row = Record<string, string | null>> = {
  readonly externalIdentifier: string;
  readonly outcome: 'CREATED' | 'UPDATED' | 'UNCHANGED' | 'REFUSED';
  readonly error: { readonly code: string; readonly argument: string | null; readonly message: string } | null;
  readonly user?: Row | null;
  readonly unit?: { readonly name: string; readonly parent: { readonly externalIdentifier: string } | null } | null;
  readonly card?: Readonly<Record<string, unknown>> | null;
};

const result = 'externalIdentifier outcome error { code argument message }';

export async function syncUsers(
  graph: Pick<GraphTest, 'url'>,
  tenant: Tenant,
  users: readonly object[],
  dryRun = false,
  fields = 'externalIdentifier fullName email locale timeZone',
): Promise<SyncResult[]> {
  const query = `mutation($users: [UserSyncInput!]!, $dryRun: Boolean) {
    usersSync(users: $users, dryRun: $dryRun) { results { ${result} user { ${fields} } } } }`;
  const data = await read<{ usersSync: { results: SyncResult[] } }>(graph, tenant.app, query, { users, dryRun });
  return data.usersSync.results;
}

export async function syncUnits(
  graph: Pick<GraphTest, 'url'>,
  tenant: Tenant,
  units: readonly object[],
  dryRun = false,
): Promise<SyncResult[]> {
  const query = `mutation($units: [UnitSyncInput!]!, $dryRun: Boolean) {
    unitsSync(units: $units, dryRun: $dryRun) { results { ${result} unit { name parent { externalIdentifier } } } } }`;
  const data = await read<{ unitsSync: { results: SyncResult[] } }>(graph, tenant.app, query, { units, dryRun });
  return data.unitsSync.results;
}

export async function syncCards(
  graph: Pick<GraphTest, 'url'>,
  tenant: Tenant,
  cards: readonly object[],
  dryRun = false,
): Promise<SyncResult[]> {
  const card = `__typename name cardAssignments { user { fullName } }
    ... on NfcCard { nfcIdentifier } ... on BeaconCard { proximityUuid major minor }`;
  const query = `mutation($cards: [CardSyncInput!]!, $dryRun: Boolean) {
    cardsSync(cards: $cards, dryRun: $dryRun) { results { ${result} card { ${card} } } } }`;
  const data = await read<{ cardsSync: { results: SyncResult[] } }>(graph, tenant.app, query, { cards, dryRun });
  return data.cardsSync.results;
}

/** Until a session of the database waits for another one. */
export async function untilBlocked(owner: Pool): Promise<void> {
  await until(async () => {
    const { rows } = await owner.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
}

/** Reads rows as the owner. `$1` of the statement is the tenant's organization. */
export async function asOwner<Row extends QueryResultRow>(
  { owner, organizationId }: Tenant,
  statement: string,
): Promise<Row[]> {
  const { rows } = await owner.query<Row>(statement, [organizationId]);
  return rows;
}

/** The users' rows with their versions, by external identifier. */
export async function userRows(tenant: Tenant) {
  const found = await asOwner<NonNullable<SyncResult['user']> & { xmin: string; external_identifier: string }>(
    tenant,
    'select xmin, ctid, u.* from app_public.users u where organization_id = $1 order by external_identifier',
  );
  return Object.fromEntries(found.map((row) => [row.external_identifier, row]));
}

/** Two users, as a client syncs them. */
export const [ada, bob] = [
  { externalIdentifier: 'ada', fullName: 'Ada', email: 'ada@acme.test' },
  { externalIdentifier: 'bob', fullName: 'Bob', email: 'bob@acme.test' },
];
