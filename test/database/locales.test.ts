import { ask, createTenant, expectErrors, read, type Tenant } from '../graphql/support.ts';
import { syncUsers } from '../graphql/sync.ts';
import {
  asClient,
  createApplication,
  createUser,
  type OwnOauthTest,
  type TestApplication,
  token,
} from '../oauth/support.ts';
import { createDatabaseIn } from '../support/locales.ts';
import { startTestService, unthrottled } from '../support/service.ts';

// The locale of a database is its owner's choice: the same requests have the same answers in each. `npm run test:system -- locales` runs
// more tests, in more locales.

describe.each(['C', 'tr-TR'] as const)('in a database of the locale %s', (locale) => {
  let service: OwnOauthTest;
  let tenant: Tenant;
  let application: TestApplication;
  beforeAll(async () => {
    const database = await createDatabaseIn(locale);
    tenant = await createTenant({ database });
    service = { ...(await startTestService(database, unthrottled)), database, organizationId: tenant.organizationId };
    application = await createApplication(service, { scopes: ['me'] });
  });
  afterAll(async () => {
    await service.stop();
    await service.database.drop();
  });

  const userCreate =
    'mutation ($email: String!, $fullName: String!) { userCreate(fullName: $fullName, email: $email) { user { email } } }';

  test('PostgreSQL itself folds and sorts letters by that locale', async () => {
    const { rows } = await service.database.owner.query(`select lower('ÄDA INFO') as lower, 'a' < 'B' as "aIsFirst"`);

    const expected = { C: { lower: 'Äda info', aIsFirst: false }, 'tr-TR': { lower: 'äda ınfo', aIsFirst: true } };
    expect(rows).toEqual([expected[locale]]);
  });

  test.each([
    ['ÄDA@x.test', 'äda@x.test'],
    ['info@x.test', 'INFO@X.TEST'],
    ['ΝΊΚΟΣ@x.test', 'νίκος@x.test'],
    ['жёлтый@x.test', 'ЖЁЛТЫЙ@x.test'],
  ])('%s is the user of %s, too: unique, synced, filtered and signed in as one', async (email, other) => {
    const { password } = await createUser(service, { email });

    const again = await ask(service, tenant.app, userCreate, { email: other, fullName: 'Another' });
    const [synced] = await syncUsers(service, tenant, [
      { externalIdentifier: email, fullName: 'Another', email: other },
    ]);
    const filtered = await read(
      service,
      tenant.app,
      'query ($emails: [String!]) { app { users(emails: $emails) { nodes { email } } } }',
      {
        emails: [other],
      },
    );
    const signIns = [email, other].map((username) =>
      token(service, { form: { grant_type: 'password', username, password, ...asClient(application) } }),
    );

    expectErrors(again, { userCreate: null }, { code: 'CONFLICT', argument: 'email', path: ['userCreate'] });
    expect(synced).toMatchObject({ outcome: 'REFUSED', error: { code: 'CONFLICT', argument: 'email' } });
    expect(filtered).toEqual({ app: { users: { nodes: [{ email }] } } });
    expect((await Promise.all(signIns)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('letters that differ by more than case are two users', async () => {
    const emails = ['ada', 'ädä', 'ınfo', 'info', 'strasse', 'straße'].map((name) => `${name}@other.test`);

    for (const email of emails)
      expect(await read(service, tenant.app, userCreate, { email, fullName: 'Ada' })).toEqual({
        userCreate: { user: { email } },
      });
  });

  test('language tags and NFC identifiers are taken in any case', async () => {
    const { userCreate: created } = await read<{ userCreate: object }>(
      service,
      tenant.app,
      'mutation { userCreate(fullName: "Ada", email: "tag@x.test", locale: "IT-fi") { user { locale } } }',
    );
    const { nfcCardCreate: card } = await read<{ nfcCardCreate: object }>(
      service,
      tenant.app,
      'mutation { nfcCardCreate(name: "Badge", nfcIdentifier: "abcdefAB") { card { nfcIdentifier } } }',
    );

    expect([created, card]).toEqual([{ user: { locale: 'IT-fi' } }, { card: { nfcIdentifier: 'ABCDEFAB' } }]);
  });

  test('names are sorted by code point, forwards, backwards and page by page', async () => {
    const other = await createTenant(service);
    const names = [
      'Zoe',
      'ada',
      'Ada',
      'äda',
      'Ida',
      'ıda',
      'İda',
      'ida',
      'a-b',
      'a b',
      'ab',
      '-a',
      '😀',
      '\uffee',
      'ß',
      'ss',
    ];
    await other.owner.query(
      `insert into app_public.users (organization_id, full_name, email)
       select $1, name, 'u' || n || '@x.test' from unnest($2::text[]) with ordinality as u (name, n)`,
      [other.organizationId, names],
    );

    const sorted = names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    expect(await namesOf(other, 'FULL_NAME_ASC')).toEqual(sorted);
    expect(await namesOf(other, 'FULL_NAME_DESC')).toEqual(sorted.toReversed());
  });

  /** Paged to the end. */
  async function namesOf({ app: appToken }: Tenant, order: string): Promise<string[]> {
    const query = `query ($after: Cursor) { app { users(first: 3, after: $after, orderBy: [${order}]) {
      nodes { fullName } pageInfo { hasNextPage endCursor } } } }`;
    const names: string[] = [];
    for (let after: string | null = null, isOver = false; !isOver; ) {
      const { app }: { app: { users: Page } } = await read<{ app: { users: Page } }>(service, appToken, query, {
        after,
      });
      names.push(...app.users.nodes.map(({ fullName }) => fullName));
      after = app.users.pageInfo.endCursor;
      isOver = !app.users.pageInfo.hasNextPage;
    }
    return names;
  }

  type Page = { nodes: { fullName: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
});
