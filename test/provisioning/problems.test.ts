import { describeFailure } from '../../src/errors/errors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { acme, ada, apply, backend, everyRow, example, mobile, pathsOf, phone, problemsOf, user } from './support.ts';

describe('what is wrong with a document', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    await apply(database.owner, example);
  });

  afterAll(async () => {
    await database.drop();
  });

  /** What `admin apply` shows of a rejection of PostgreSQL, too. */
  const problemsOrFailure = (document: unknown) =>
    problemsOf(database.owner, document).catch((error: unknown) => [describeFailure(error)]);

  it('is reported step by step, with all problems of a step at once, and changes nothing', async () => {
    const before = await everyRow(database.owner);
    const other = (parts: object) => ({
      organizations: [acme({ users: [ada] }).organizations[0], { name: 'Other', ...parts }],
    });

    const document = await problemsOf(database.owner, {
      ...other({ users: [{ ...user('u-1'), email: 'nowhere' }, user('u-2'), user('u-2')] }),
      version: 1,
    });
    const twice = await problemsOf(database.owner, other({ users: [user('u-1'), user('u-1')] }));
    const applications = await problemsOf(
      database.owner,
      other({
        applications: [{ name: 'Stolen', clientId: 'acme-backend' }],
        users: [{ ...user('u-1'), timeZone: 'Atlantis' }],
      }),
    );
    const users = await problemsOf(
      database.owner,
      other({ users: [user('u-1'), { ...user('u-3'), accessibleUnits: ['hq'], timeZone: 'Atlantis' }] }),
    );
    const access = await problemsOf(database.owner, other({ users: [{ ...user('u-3'), accessibleUnits: ['hq'] }] }));

    const inUsers = 'organizations[1].users';
    expect([document, twice, applications, users, access]).toEqual([
      [`${inUsers}[0].email: must have one @ and no space`, 'version: is not known'],
      [
        `${inUsers}[1].email: must not be that of ${inUsers}[0].email`,
        `${inUsers}[1].externalIdentifier: must not be that of ${inUsers}[0].externalIdentifier`,
      ],
      ['organizations[1].applications[0].clientId: belongs to another organization'],
      [
        `${inUsers}[1].timeZone: A time zone is an IANA name, such as "Europe/Berlin", or the city alone, such as "Berlin"; did you mean "Atlantic/Azores"?`,
      ],
      [`${inUsers}[0].accessibleUnits[0]: names no unit of this organization`],
    ]);
    expect(await everyRow(database.owner)).toEqual(before);
  });

  it.each([
    ['nothing', null, 'document: must be an object'],
    ['a list', [], 'document: must be an object'],
    ['an empty object', {}, 'organizations: is required'],
    ['an organization that is none', { organizations: ['Acme'] }, 'organizations[0]: must be an object'],
    ['an organization without a name', { organizations: [{}] }, 'organizations[0].name: is required'],
    ['users that are no list', acme({ users: {} }), 'organizations[0].users: must be an array'],
    ['units that are no list', acme({ units: 'hq' }), 'organizations[0].units: must be an array'],
    ['no units at all, but null', acme({ units: null }), 'organizations[0].units: must be an array'],
  ])('is said about %s', async (_, document, problem) => {
    expect(await problemsOf(database.owner, document)).toEqual([problem]);
  });

  it('is nothing about the longest and strangest that the rules let through', async () => {
    const strange = {
      ...user('x'.repeat(200)),
      fullName: '\u{1f600}'.repeat(200),
      email: `${'x'.repeat(249)}@a.de`,
      locale: 'de-AT-1996-x-private',
      password: ' '.repeat(8),
      externalAuthenticationToken: '\u{1f511}'.repeat(500),
      cards: [
        { type: 'NfcCard', name: 'n', nfcIdentifier: '04a224b2' },
        { ...phone, proximityUuid: 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', major: 0, minor: 0 },
      ],
    };
    const redirectUris = [
      'http://localhost:1234/',
      'http://[::1]/',
      'com.example.app:/callback',
      'https://a.test/?b=c',
    ];

    await apply(database.owner, {
      organizations: [
        { name: 'Strange', applications: [{ ...mobile, clientId: '!~', redirectUris }], users: [strange] },
      ],
    });
    const again = await everyRow(database.owner);
    await apply(database.owner, {
      organizations: [
        { name: 'Strange', applications: [{ ...mobile, clientId: '!~', redirectUris }], users: [strange] },
      ],
    });

    expect(await everyRow(database.owner)).toEqual(again);
    const { rows } = await database.owner.query(
      `select nfc_identifier from app_public.cards where nfc_identifier is not null and name = 'n'`,
    );
    expect(rows).toEqual([{ nfc_identifier: '04A224B2' }]);
  });

  it('is what the document says twice, each time at the second place', async () => {
    const twice = { ...user('u-1'), externalAuthenticationToken: 'the same token twice' };

    const paths = await pathsOf(database.owner, {
      organizations: [
        {
          name: 'One',
          applications: [mobile],
          units: [
            {
              externalIdentifier: 'a',
              name: 'A',
              children: [
                { externalIdentifier: 'b', name: 'B' },
                { externalIdentifier: 'a', name: 'A' },
              ],
            },
          ],
          users: [twice, { ...twice, externalIdentifier: 'u-2', email: twice.email.toUpperCase() }],
        },
        { name: 'One', applications: [mobile] },
      ],
    });

    expect(paths).toEqual([
      'organizations[0].units[0].children[1].externalIdentifier',
      'organizations[0].users[1].email',
      'organizations[0].users[1].externalAuthenticationToken',
      'organizations[1].applications[0].clientId',
      'organizations[1].name',
    ]);
  });

  it.each([
    [
      'a user, whom the sync refuses',
      `insert into app_public.users (organization_id, full_name, email)
       select id, 'Quick', 'quick@acme.test' from app_hidden.organizations where name = 'Acme'`,
      { users: [{ ...user('u-9'), email: 'quick@acme.test' }] },
      'organizations[0].users[0].email: Another user has this e-mail address.',
    ],
    [
      'an application, whose rule is broken',
      `with other as (insert into app_hidden.organizations (name) values ('Quick') returning id)
       insert into oauth.applications (organization_id, name, client_id) select id, 'Quick', 'quick' from other`,
      { applications: [{ ...backend, clientId: 'quick' }] },
      expect.stringMatching(
        /^PostgreSQL: .*application_secrets_application_id_fkey.* \(SQLSTATE 23503\)\. If another session is changing the same rows, run it again\.$/,
      ),
    ],
  ])('is what another session has written in the meantime: %s', async (_what, statement, document, problem) => {
    const other = await database.owner.connect();
    await other.query('begin');
    await other.query(statement);

    const problems = problemsOrFailure(acme(document));
    await until(async () => {
      const waiting = await database.owner.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return waiting.rowCount === 1;
    });
    await other.query('commit');
    other.release();

    expect(await problems).toEqual([problem]);
  });

  it('is more than PostgreSQL has memory for', async () => {
    const before = await everyRow(database.owner);
    await database.owner.query(`
      create function public.fill_lock_table() returns trigger language plpgsql as $$
      begin raise out_of_memory using message = 'out of shared memory'; end $$;
      create trigger fill_lock_table before insert on app_public.users execute function public.fill_lock_table()`);

    expect(await problemsOrFailure(acme({ users: [user('u-8')] }))).toEqual([
      expect.stringMatching(/^PostgreSQL: out of shared memory \(SQLSTATE 53200\)\. .*max_locks_per_transaction/),
    ]);
    expect(await everyRow(database.owner)).toEqual(before);
    await database.owner.query('drop function public.fill_lock_table cascade');
  });

  it('repeats no secret', async () => {
    const problems = await problemsOf(
      database.owner,
      acme({
        applications: [{ ...backend, clientSecret: 'sesame' }],
        users: [{ ...user('u-9'), password: 'sesame', externalAuthenticationToken: 'sesame' }],
      }),
    );

    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toContain('sesame');
  });
});
