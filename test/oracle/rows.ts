import type { Client, Pool } from 'pg';

/**
 * The rows of the graph, as the owner of the database reads them.
 * They are all that the oracle is given besides the SDL; it imports nothing from `src` and `plugins`.
 */
export type Rows = {
  organizations: Organization[];
  applications: Application[];
  users: User[];
  units: Unit[];
  cards: Card[];
  cardAssignments: CardAssignment[];
  accessGrants: AccessGrant[];
};

export type Organization = { id: string; name: string };

export type Application = { organizationId: string; id: string; name: string };

export type User = {
  organizationId: string;
  id: string;
  externalIdentifier: string | null;
  fullName: string;
  email: string;
  locale: string;
  timeZone: string;
  /** In clear, as it was given to the service: the database has it encrypted, so that {@link readRows} leaves null. */
  externalAuthenticationToken: string | null;
  createdAt: string;
  updatedAt: string;
};

export type Unit = {
  organizationId: string;
  id: string;
  parentId: string | null;
  externalIdentifier: string | null;
  name: string;
  createdAt: string;
  updatedAt: string;
};

export type Card = {
  organizationId: string;
  id: string;
  type: 'BeaconCard' | 'NfcCard' | 'IdentificationCode';
  name: string;
  externalIdentifier: string | null;
  proximityUuid: string | null;
  major: number | null;
  minor: number | null;
  nfcIdentifier: string | null;
  createdAt: string;
  updatedAt: string;
};

export type CardAssignment = { organizationId: string; id: string; userId: string; cardId: string; createdAt: string };

/** Outside its time it gives no access; without a source it was given by hand. */
export type AccessGrant = {
  organizationId: string;
  id: string;
  userId: string;
  unitId: string;
  source: string | null;
  validFrom: string | null;
  validUntil: string | null;
  createdAt: string;
};

/**
 * Reads them in the order of their keys; times are ISO 8601 in UTC with six decimals.
 *
 * @param organizationIds or all organizations
 */
export async function readRows(owner: Client | Pool, organizationIds: readonly string[] | null = null): Promise<Rows> {
  const read = async <Row>(table: string, key: string, columns: readonly string[]): Promise<Row[]> => {
    const selected = columns.map((column) => `${expressionOf(column)} as "${toCamelCase(column)}"`);
    const organization = columns.includes('organization_id') ? 'organization_id' : 'id';
    const { rows } = await owner.query(
      `select ${selected.join(', ')} from ${table} where $1::uuid[] is null or ${organization} = any($1) order by ${key}`,
      [organizationIds],
    );
    return rows as Row[];
  };
  return {
    organizations: await read('app_hidden.organizations', 'id', ['id', 'name']),
    applications: await read('oauth.applications', 'id', ['organization_id', 'id', 'name']),
    users: (
      await read<Omit<User, 'externalAuthenticationToken'>>('app_public.users', 'id', [
        'organization_id',
        'id',
        'external_identifier',
        'full_name',
        'email',
        'locale',
        'time_zone',
        'created_at',
        'updated_at',
      ])
    ).map((user) => ({ ...user, externalAuthenticationToken: null })),
    units: await read('app_public.units', 'id', [
      'organization_id',
      'id',
      'parent_id',
      'external_identifier',
      'name',
      'created_at',
      'updated_at',
    ]),
    cards: await read('app_public.cards', 'id', [
      'organization_id',
      'id',
      'type',
      'name',
      'external_identifier',
      'proximity_uuid',
      'major',
      'minor',
      'nfc_identifier',
      'created_at',
      'updated_at',
    ]),
    cardAssignments: await read('app_public.card_assignments', 'id', [
      'organization_id',
      'id',
      'user_id',
      'card_id',
      'created_at',
    ]),
    accessGrants: await read('app_hidden.unit_access', 'id', [
      'organization_id',
      'id',
      'user_id',
      'unit_id',
      'source',
      'valid_from',
      'valid_until',
      'created_at',
    ]),
  };
}

const expressionOf = (column: string) =>
  /_at$|^valid_/.test(column) ? `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')` : column;

const toCamelCase = (column: string) => column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
