import { createSecrets, secretKeyCheck } from '../../../src/crypto/secrets.ts';
import { applyDocument } from '../../../src/provisioning/applyDocument.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testPasswords } from '../../support/passwords.ts';
import { testSecretKey } from '../../support/service.ts';
import { admin, type Outcome } from '../inProcess.ts';

/** Two databases of one PostgreSQL, each as a service of the same SECRET_KEY has left it. */
export type TestCells = { readonly here: TestDatabase; readonly there: TestDatabase; drop(): Promise<void> };

type Database = Pick<TestDatabase, 'owner' | 'ownerUrl'>;
/** Those of one PostgreSQL, or of two. */
type Both = { readonly here: Database; readonly there: Database };

export const key = Buffer.from(testSecretKey, 'base64');

export async function createCells(): Promise<TestCells> {
  const [here, there] = [await createTestDatabase(), await createTestDatabase()];
  for (const { owner } of [here, there]) await noteKey(owner, key);
  return {
    here,
    there,
    async drop() {
      await here.drop();
      await there.drop();
    },
  };
}

export async function noteKey(owner: TestDatabase['owner'], by: Buffer): Promise<void> {
  const { salt, checksum } = secretKeyCheck(by);
  await owner.query('select app_hidden.note_secret_key($1, $2)', [salt, checksum]);
}

/** `admin move-organization`, from here to there unless given otherwise. */
export const move = ({ here, there }: Both, args: string[] = [], name = 'Acme') =>
  admin(here, ['move-organization', name, '--to', there.ownerUrl, ...args]);

/** An organization of two people whose external identifiers every organization of these tests has. */
export const documentOf = (name: string, people = 2) => ({
  name,
  applications: [
    { name: 'Backend', clientId: `${name}-backend`, clientSecret: secret, scopes: ['app', 'basic'] },
    {
      name: 'Mobile',
      clientId: `${name}-mobile`,
      confidential: false,
      scopes: ['me'],
      mobileApp: { authenticationType: 'password' },
    },
  ],
  units: [
    { externalIdentifier: 'hq', name: 'Headquarters', children: [{ externalIdentifier: 'hq-1', name: 'Floor 1' }] },
  ],
  users: Array.from({ length: people }, (_, number) => ({
    externalIdentifier: `u-${number}`,
    fullName: `Person ${number} of ${name}`,
    email: `u-${number}@${name.toLowerCase()}.test`,
    ...(number === 0 && {
      password: 'correct horse battery',
      externalAuthenticationToken: `sixteen-characters-of-${name}`,
    }),
    accessibleUnits: ['hq'],
    ...(number < 10 && { cards: [{ type: 'NfcCard', name: 'Badge', nfcIdentifier: `04A224B2C13A${number}0` }] }),
  })),
});

export const secret = 'a-secret-of-more-than-32-characters';

export async function provision({ owner }: Pick<Database, 'owner'>, ...organizations: object[]): Promise<void> {
  await applyDocument(
    owner,
    { organizations },
    { secrets: createSecrets([key]), passwords: testPasswords, report: () => undefined },
  );
}

/** What is left of moves in the cluster of these databases: publications, slots, subscriptions. */
export async function leftOvers({ here, there }: Both): Promise<string[]> {
  const found: string[] = [];
  for (const { owner } of [here, there]) {
    const { rows } = await owner.query<{ name: string }>(`
      select 'publication ' || pubname as name from pg_publication
      union all select 'slot ' || slot_name from pg_replication_slots where database = current_database()
      union all select 'subscription ' || subname from pg_subscription
        where subdbid = (select oid from pg_database where datname = current_database())
      union all select 'origin ' || roname from pg_replication_origin where roname like 'pg\\_%'
        and not exists (select from pg_subscription s where roname like format('pg\\_%s%%', s.oid))`);
    found.push(...rows.map(({ name }) => name));
  }
  return found;
}

/** The rows of every table that moves, by table and organization, as text in order. */
export async function contents({ owner }: Pick<Database, 'owner'>, name: string): Promise<Record<string, string[]>> {
  const { rows } = await owner.query<{ table: string; column: string }>(`
    select 'app_hidden.organizations' as "table", 'id' as "column"
    union all
    select table_schema || '.' || table_name, 'organization_id' from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where column_name = 'organization_id' and table_type = 'BASE TABLE' and table_schema in ('app_public', 'app_hidden', 'oauth')
      and table_name not in ('webhook_deliveries', 'webhook_positions', 'organization_moves')`);
  const found: Record<string, string[]> = {};
  for (const { table, column } of rows) {
    const { rows: texts } = await owner.query<{ text: string }>(
      `select t::text as text from ${table} t where ${column} = (select id from app_hidden.organizations where name = $1) order by 1`,
      [name],
    );
    if (texts.length > 0) found[table] = texts.map(({ text }) => text);
  }
  return found;
}

export const states = async ({ here, there }: Pick<TestCells, 'here' | 'there'>): Promise<string[][]> => {
  const read = async ({ owner }: TestDatabase) =>
    (await owner.query<{ state: string }>('select state from app_hidden.organization_moves order by state')).rows.map(
      ({ state }) => state,
    );
  return [await read(here), await read(there)];
};

/** The sentences of a refusal. */
export const reasonOf = ({ code, result, stderr }: Outcome): string => {
  expect({ code, result }).toEqual({ code: 1, result: {} });
  return stderr;
};
