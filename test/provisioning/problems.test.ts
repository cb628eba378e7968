import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import {
  acme,
  ada,
  apply,
  backend,
  badge,
  everyRow,
  example,
  mobile,
  pathsOf,
  phone,
  problemsOf,
  user,
} from './support.ts';

const chip = { type: 'NfcCard', name: 'n', nfcIdentifier: '00112233' };
const beacon = { ...phone, name: 'n', minor: 2 };

describe('what is wrong with a document', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    await apply(database.owner, example);
  });

  afterAll(async () => {
    await database.drop();
  });

  const inUser = (path: string) => `organizations[0].users[0].${path}`;
  const inApplication = (path: string) => `organizations[0].applications[0].${path}`;
  const ofUser = (fields: object) => pathsOf(database.owner, acme({ users: [{ ...user('u-9'), ...fields }] }));
  const ofApplication = (fields: object) =>
    pathsOf(database.owner, acme({ applications: [{ ...backend, ...fields }] }));

  it('is reported all at once, by whichever check, and changes nothing', async () => {
    const before = await everyRow(database.owner);

    const problems = await problemsOf(database.owner, {
      organizations: [
        {
          name: 'Acme',
          users: [
            { ...ada, fullName: 'Changed' },
            { ...user('u-2'), email: 'nowhere' },
          ],
        },
        {
          name: 'Other',
          applications: [{ name: 'Stolen', clientId: 'acme-backend' }],
          users: [user('u-1'), user('u-1'), { ...user('u-3'), accessibleUnits: ['hq'], timeZone: 'Atlantis' }],
        },
      ],
      version: 1,
    });

    expect(problems).toEqual([
      'organizations[0].users[1].email: must have one @ and no space',
      'organizations[1].applications[0].clientId: belongs to another organization',
      'organizations[1].users[1].email: must not be that of organizations[1].users[0].email',
      'organizations[1].users[1].externalIdentifier: must not be that of organizations[1].users[0].externalIdentifier',
      'organizations[1].users[2].accessibleUnits[0]: names no unit of this organization',
      'organizations[1].users[2].timeZone: A time zone is an IANA name, such as "Europe/Berlin", or the city alone, such as "Berlin"; did you mean "Atlantic/Azores"?',
      'version: is not known',
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

  it.each([
    ['a text that is empty but for spaces', { fullName: ' \t\n' }, 'fullName'],
    ['a text of 201 characters', { fullName: 'x'.repeat(201) }, 'fullName'],
    ['a control character', { fullName: 'a\u0007b' }, 'fullName'],
    ['half a character', { fullName: 'a\ud800b' }, 'fullName'],
    ['two @', { email: 'a@b@c' }, 'email'],
    ['a space in an address', { email: 'a b@c' }, 'email'],
    ['an address of 255 characters', { email: `${'x'.repeat(250)}@a.de` }, 'email'],
    ['a locale that is none', { locale: 'en_US' }, 'locale'],
    ['a null that nothing clears', { locale: null }, 'locale'],
    ['an external identifier of 201 characters', { externalIdentifier: 'x'.repeat(201) }, 'externalIdentifier'],
    ['an empty external identifier', { externalIdentifier: '' }, 'externalIdentifier'],
    ['a NUL', { externalIdentifier: 'a\0b' }, 'externalIdentifier'],
    ['a number for a text', { externalIdentifier: 5 }, 'externalIdentifier'],
    ['a token of 15 characters', { externalAuthenticationToken: 'x'.repeat(15) }, 'externalAuthenticationToken'],
    ['a token of 501 characters', { externalAuthenticationToken: 'x'.repeat(501) }, 'externalAuthenticationToken'],
    ['a password of 7 characters', { password: 'x'.repeat(7) }, 'password'],
    ['a password of 201 characters', { password: 'x'.repeat(201) }, 'password'],
    ['an unknown key', { timezone: 'Berlin' }, 'timezone'],
    ['a card of no type', { cards: [{ name: 'Badge' }] }, 'cards[0].type'],
    ['a card of another type', { cards: [{ type: 'Badge', name: 'Badge' }] }, 'cards[0].type'],
    ['a card without a name', { cards: [{ type: 'IdentificationCode' }] }, 'cards[0].name'],
    [
      'an identifier of 5 bytes',
      { cards: [{ type: 'NfcCard', name: 'n', nfcIdentifier: '0011223344' }] },
      'cards[0].nfcIdentifier',
    ],
    ['a UUID that is none', { cards: [{ ...phone, proximityUuid: 'f7826da6' }] }, 'cards[0].proximityUuid'],
    ['a major value of 65536', { cards: [{ ...phone, major: 65536 }] }, 'cards[0].major'],
    ['a minor value below 0', { cards: [{ ...phone, minor: -1 }] }, 'cards[0].minor'],
    ["another type's field", { cards: [{ type: 'IdentificationCode', name: 'n', major: 1 }] }, 'cards[0].major'],
    ['the same card twice', { cards: [beacon, { ...beacon, minor: 1 }] }, 'cards[1].name'],
    [
      'the same external identifier twice',
      {
        cards: [
          { ...chip, externalIdentifier: 'c' },
          { ...beacon, externalIdentifier: 'c' },
        ],
      },
      'cards[1].externalIdentifier',
    ],
    [
      'an empty external identifier of a card',
      { cards: [{ ...chip, externalIdentifier: '' }] },
      'cards[0].externalIdentifier',
    ],
    [
      "another user's chip under an external identifier",
      { cards: [{ ...badge, externalIdentifier: 'c' }] },
      'cards[0].nfcIdentifier',
    ],
    ['the same chip twice', { cards: [chip, { ...chip, name: 'm' }] }, 'cards[1].nfcIdentifier'],
    ['the same beacon twice', { cards: [beacon, { ...beacon, name: 'm' }] }, 'cards[1].proximityUuid'],
    [
      "another user's chip",
      { cards: [{ ...badge, nfcIdentifier: badge.nfcIdentifier.toLowerCase() }] },
      'cards[0].nfcIdentifier',
    ],
    ["another user's beacon", { cards: [phone] }, 'cards[0].proximityUuid'],
    ['a unit that is nowhere', { accessibleUnits: ['hq', 'moon'] }, 'accessibleUnits[1]'],
    ['a time zone that is nowhere', { timeZone: 'Moon/Tycho' }, 'timeZone'],
    ["another user's address", { email: 'ADA@acme.test' }, 'email'],
    [
      "another user's token",
      { externalAuthenticationToken: ada.externalAuthenticationToken },
      'externalAuthenticationToken',
    ],
  ])('is where it is: %s of a user', async (_, fields, path) => {
    expect(await ofUser(fields)).toEqual([inUser(path)]);
  });

  it.each([
    ['a client id with a space', { clientId: 'a b' }, 'clientId'],
    ['a client id with a colon', { clientId: 'a:b' }, 'clientId'],
    ['a secret of 31 characters', { clientSecret: 'x'.repeat(31) }, 'clientSecret'],
    ['an unknown scope', { scopes: ['app', 'admin'] }, 'scopes[1]'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['a redirect with a fragment', { redirectUris: ['https://a.test/#'] }, 'redirectUris[0]'],
    ['a relative redirect', { redirectUris: ['/callback'] }, 'redirectUris[0]'],
    ['http elsewhere than on this machine', { redirectUris: ['http://a.test/'] }, 'redirectUris[0]'],
    ["a scheme that is no app's own", { redirectUris: ['javascript:alert(1)'] }, 'redirectUris[0]'],
    [
      '51 redirects',
      { redirectUris: Array.from({ length: 51 }, (_, index) => `https://a.test/${index}`) },
      'redirectUris',
    ],
    ['another kind of mobile app', { mobileApp: { authenticationType: 'none' } }, 'mobileApp.authenticationType'],
  ])('is where it is: %s of an application', async (_, fields, path) => {
    expect(await ofApplication(fields)).toEqual([inApplication(path)]);
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
      'organizations[0].applications[0].clientId',
      'organizations[0].units[0].children[1].externalIdentifier',
      'organizations[0].users[1].email',
      'organizations[0].users[1].externalAuthenticationToken',
      'organizations[1].applications[0].clientId',
      'organizations[1].applications[0].clientId',
      'organizations[1].name',
    ]);
  });

  it('is reported of an organization whose name is wrong, too', async () => {
    const users = [{ ...user('u-1'), accessibleUnits: ['hq', 'moon'], timeZone: 'Atlantis' }];

    const paths = await pathsOf(database.owner, {
      organizations: [{ name: '', applications: [backend], units: [{ externalIdentifier: 'hq', name: 'HQ' }], users }],
    });

    expect(paths).toEqual(['organizations[0].name', inUser('accessibleUnits[1]'), inUser('timeZone')]);
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
      'document: breaks the rule application_secrets_application_id_fkey; if another session is changing the same things, try again',
    ],
  ])('is what another session has written in the meantime: %s', async (_what, statement, document, problem) => {
    const other = await database.owner.connect();
    await other.query('begin');
    await other.query(statement);

    const problems = problemsOf(database.owner, acme(document));
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

    expect(await problemsOf(database.owner, acme({ users: [user('u-8')] }))).toEqual([
      'document: is more than PostgreSQL has memory for; apply it in parts, or raise max_locks_per_transaction',
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
