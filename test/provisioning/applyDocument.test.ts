import { randomBytes, randomUUID } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import { Pool } from 'pg';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import {
  acme,
  ada,
  apply,
  badge,
  everyRow,
  example,
  headquarters,
  mobile,
  pathsOf,
  phone,
  problemsOf,
  testSecrets,
  user,
} from './support.ts';

describe('applying a document', () => {
  let database: EmptiedDatabase;

  beforeAll(async () => {
    database = await createEmptiedDatabase();
  });

  afterEach(() => database.empty());

  afterAll(() => database.drop());

  /** One value per row. */
  const values = async (statement: string, parameters: unknown[] = []): Promise<unknown[]> => {
    const { rows } = await database.owner.query({ text: statement, values: parameters, rowMode: 'array' });
    return rows.map((row) => row[0]);
  };

  it('provisions a document with a bit of everything', async () => {
    const applied = await apply(database.owner, example);

    const [organizationId] = await values('select id from app_hidden.organizations');
    expect(applied).toEqual({
      organizations: [
        {
          id: organizationId,
          name: 'Acme',
          applications: [
            { name: 'Acme Backend', clientId: 'acme-backend' },
            { name: 'Acme Mobile', clientId: 'acme-mobile' },
          ],
        },
      ],
    });
    const applications = await database.owner.query(
      `select name, client_id, confidential, scopes, redirect_uris, mobile_app_authentication_type
       from oauth.applications order by client_id`,
    );
    expect(applications.rows).toEqual([
      {
        name: 'Acme Backend',
        client_id: 'acme-backend',
        confidential: true,
        scopes: ['app', 'basic'],
        redirect_uris: [],
        mobile_app_authentication_type: null,
      },
      {
        name: 'Acme Mobile',
        client_id: 'acme-mobile',
        confidential: false,
        scopes: ['me'],
        redirect_uris: ['http://127.0.0.1/callback'],
        mobile_app_authentication_type: 'password',
      },
    ]);
    const units = await database.owner.query(
      `select u.external_identifier, u.name, p.external_identifier as parent
       from app_public.units u left join app_public.units p on p.id = u.parent_id order by 1`,
    );
    expect(units.rows).toEqual([
      { external_identifier: 'hq', name: 'Headquarters', parent: null },
      { external_identifier: 'hq-1', name: 'Floor 1', parent: 'hq' },
    ]);
    const users = await database.owner.query(
      'select external_identifier, full_name, email, locale, time_zone from app_public.users',
    );
    expect(users.rows).toEqual([
      {
        external_identifier: 'u-1',
        full_name: 'Ada Lovelace',
        email: 'ada@acme.test',
        locale: 'en',
        time_zone: 'Berlin',
      },
    ]);
    expect(
      await values(
        'select n.external_identifier from app_hidden.unit_access a join app_public.units n on n.id = a.unit_id',
      ),
    ).toEqual(['hq']);
    const cards = await database.owner.query(
      `select c.type, c.name, c.proximity_uuid, c.major, c.minor, c.nfc_identifier
       from app_public.card_assignments a join app_public.cards c on c.id = a.card_id order by c.type`,
    );
    expect(cards.rows).toEqual([
      {
        type: 'BeaconCard',
        name: 'Phone',
        proximity_uuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
        major: 1,
        minor: 65535,
        nfc_identifier: null,
      },
      { type: 'IdentificationCode', name: 'PIN', proximity_uuid: null, major: null, minor: null, nfc_identifier: null },
      {
        type: 'NfcCard',
        name: 'Badge',
        proximity_uuid: null,
        major: null,
        minor: null,
        nfc_identifier: '04A224B2C13A80',
      },
    ]);
  });

  it('keeps passwords, secrets and tokens in no clear form, and so that they work', async () => {
    await apply(database.owner, example);

    const everything = JSON.stringify(await everyRow(database.owner));
    const hidden = ['correct horse battery', 'sixteen-characters-or-more', 'at-least-32-characters-of-a-secret'];
    for (const clear of hidden) expect(everything).not.toContain(clear);
    const [hash] = await values('select password_hash from oauth.credentials');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=32,t=1,p=4\$/);
    expect(await verify(String(hash), 'correct horse battery')).toBe(true);
    const { rows } = await database.owner.query('select * from app_public.users');
    const owner = { organizationId: rows[0].organization_id, userId: rows[0].id };
    expect(testSecrets.open(rows[0].external_authentication_token_ciphertext, owner)).toBe(
      'sixteen-characters-or-more',
    );
    expect(rows[0].external_authentication_token_hash).toEqual(
      testSecrets.lookupHash('sixteen-characters-or-more', owner.organizationId),
    );
  });

  it('writes nothing when it is applied again', async () => {
    const first = await apply(database.owner, example);
    const before = await everyRow(database.owner);

    const second = await apply(database.owner, example);

    expect(second).toEqual(first);
    expect(await everyRow(database.owner)).toEqual(before);
    expect(before['app_public.users']).toHaveLength(1);
  });

  it('changes what differs and nothing else', async () => {
    await apply(database.owner, example);
    const before = await everyRow(database.owner);

    await apply(database.owner, acme({ users: [{ ...ada, cards: [{ ...phone, major: 2 }] }, user('u-2')] }));

    const after = await everyRow(database.owner);
    const changed = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
    // A new user's row locks the organization that it refers to.
    expect(changed.sort()).toEqual(['app_hidden.organizations', 'app_public.cards', 'app_public.users']);
    expect(await values("select major from app_public.cards where name = 'Phone'")).toEqual([2]);
    expect(await values('select full_name from app_public.users order by 1')).toEqual(['Ada Lovelace', 'User u-2']);
  });

  it('lets cards exchange what they are made of, and refuses what a card keeps', async () => {
    const chips = ['04000001', '04000002'] as const;
    const minorOf = (nfcIdentifier: string) => Number(nfcIdentifier.at(-1));
    const holders = (identifiers: readonly string[]) =>
      acme({
        users: identifiers.map((nfcIdentifier, index) => ({
          ...user(`u-${index}`),
          cards: [
            { ...badge, nfcIdentifier },
            { ...phone, minor: minorOf(nfcIdentifier) },
          ],
        })),
      });
    await apply(database.owner, holders(chips));

    await apply(database.owner, holders(chips.toReversed()));

    const { rows } = await database.owner.query(
      `select u.external_identifier as user, c.nfc_identifier, a.is_exclusive
       from app_public.card_assignments a join app_public.cards c on c.id = a.card_id join app_public.users u on u.id = a.user_id
       where c.type = 'NfcCard' order by 1`,
    );
    expect(rows).toEqual([
      { user: 'u-0', nfc_identifier: '04000002', is_exclusive: true },
      { user: 'u-1', nfc_identifier: '04000001', is_exclusive: true },
    ]);
    const taken = acme({ users: [{ ...user('u-2'), cards: [{ ...badge, nfcIdentifier: chips[0] }] }] });
    expect(await problemsOf(database.owner, taken)).toEqual([
      'organizations[0].users[0].cards[0].nfcIdentifier: is taken by another card of the organization',
    ]);
    const freed = acme({
      users: [
        { ...user('u-1'), cards: [{ ...badge, nfcIdentifier: '04000003' }] },
        { ...user('u-2'), cards: [{ ...badge, nfcIdentifier: chips[0] }] },
      ],
    });
    await apply(database.owner, freed);
    const elsewhere = { organizations: [{ name: 'Other', users: [{ ...user('u-2'), cards: [badge, phone] }] }] };
    await apply(database.owner, elsewhere);
    expect(await values('select count(*)::int from app_public.cards')).toEqual([7]);
  });

  it('recognises a card by its external identifier, whatever its name, and gives a badge to one person', async () => {
    const identified = { ...badge, externalIdentifier: 'badge-1' };
    const code = { type: 'IdentificationCode', name: 'PIN', externalIdentifier: 'code-1' };
    const cardsOf = (...lists: object[][]) =>
      acme({ users: lists.map((cards, index) => ({ ...user(`u-${index}`), cards })) });
    const read = async () =>
      (
        await database.owner.query(
          `select c.external_identifier as card, c.name, c.nfc_identifier as chip, c.major,
             array(select u.external_identifier from app_public.card_assignments a
               join app_public.users u on u.id = a.user_id where a.card_id = c.id order by 1) as holders
           from app_public.cards c order by c.id`,
        )
      ).rows;

    // The badge of before, which had no identifier, gets it.
    await apply(database.owner, cardsOf([badge, phone], []));
    await apply(database.owner, cardsOf([identified, phone, code], []));
    const first = await read();
    expect(first).toEqual([
      { card: 'badge-1', name: 'Badge', chip: badge.nfcIdentifier, major: null, holders: ['u-0'] },
      { card: null, name: 'Phone', chip: null, major: 1, holders: ['u-0'] },
      { card: 'code-1', name: 'PIN', chip: null, major: null, holders: ['u-0'] },
    ]);
    const before = await everyRow(database.owner);
    await apply(database.owner, cardsOf([identified, phone, code], []));
    expect(await everyRow(database.owner)).toEqual(before);

    const spare = { ...badge, name: 'Spare', externalIdentifier: 'badge-2' };
    const moved = { ...identified, name: 'Blue badge', nfcIdentifier: '04000009' };
    await apply(database.owner, cardsOf([phone, spare], [moved, code]));

    // A chip passes to a new card, the badge to another person. Several may have a code.
    expect(await read()).toEqual([
      { card: 'badge-1', name: 'Blue badge', chip: '04000009', major: null, holders: ['u-1'] },
      first[1],
      { ...first[2], holders: ['u-0', 'u-1'] },
      { card: 'badge-2', name: 'Spare', chip: badge.nfcIdentifier, major: null, holders: ['u-0'] },
    ]);
  });

  it('lets a card with an external identifier and one without exchange their chips', async () => {
    const chips = ['04000001', '04000002'] as const;
    const withChips = (one: string, other: string) =>
      acme({
        users: [
          {
            ...user('u-1'),
            cards: [
              { ...badge, nfcIdentifier: one },
              { ...badge, name: 'Other', externalIdentifier: 'other', nfcIdentifier: other },
            ],
          },
        ],
      });
    await apply(database.owner, withChips(...chips));

    await apply(database.owner, withChips(chips[1], chips[0]));

    expect(await values('select nfc_identifier from app_public.cards order by id')).toEqual(chips.toReversed());
  });

  it('names a card that keeps a chip, though the document has another card of this user and name', async () => {
    await apply(
      database.owner,
      acme({ users: [{ ...user('u-1'), cards: [{ ...badge, nfcIdentifier: '04000001' }] }] }),
    );
    await database.owner.query(
      `with card as (
         insert into app_public.cards (organization_id, type, name, nfc_identifier)
         select organization_id, type, name, '04000002' from app_public.cards returning *)
       insert into app_public.card_assignments (organization_id, user_id, card_id)
       select c.organization_id, a.user_id, c.id from card c, app_public.card_assignments a`,
    );

    const problems = await problemsOf(
      database.owner,
      acme({ users: [{ ...user('u-1'), cards: [{ ...badge, nfcIdentifier: '04000002' }] }] }),
    );

    expect(problems).toEqual([
      'organizations[0].users[0].cards[0].nfcIdentifier: is taken by another card of the organization',
    ]);
  });

  it('deletes nothing that a later document leaves out', async () => {
    await apply(database.owner, example);
    const before = await everyRow(database.owner);
    const { externalIdentifier, fullName, email } = ada;

    await apply(database.owner, acme({}));
    await apply(database.owner, acme({ users: [{ externalIdentifier, fullName, email }] }));

    expect(await everyRow(database.owner)).toEqual(before);
    expect(before['app_public.cards']).toHaveLength(3);
  });

  it('leaves a field that is absent, and clears one that is null', async () => {
    await apply(database.owner, example);
    const bare = { externalIdentifier: 'u-1', fullName: 'Ada King', email: 'ada@acme.test' };

    await apply(database.owner, acme({ users: [bare] }));
    const { rows: left } = await database.owner.query('select * from app_public.users');
    const applications = [{ name: mobile.name, clientId: mobile.clientId, mobileApp: null }];
    await apply(database.owner, acme({ applications, users: [{ ...bare, externalAuthenticationToken: null }] }));
    const { rows: cleared } = await database.owner.query('select * from app_public.users');

    expect(left[0]).toMatchObject({ full_name: 'Ada King', locale: 'en', time_zone: 'Berlin' });
    expect(left[0].external_authentication_token_hash).not.toBeNull();
    expect(cleared[0]).toMatchObject({
      external_authentication_token_hash: null,
      external_authentication_token_ciphertext: null,
    });
    const { rows } = await database.owner.query(
      `select confidential, scopes, redirect_uris, mobile_app_authentication_type
       from oauth.applications where client_id = 'acme-mobile'`,
    );
    expect(rows).toEqual([
      {
        confidential: false,
        scopes: ['me'],
        redirect_uris: ['http://127.0.0.1/callback'],
        mobile_app_authentication_type: null,
      },
    ]);
  });

  it('fills in what a new user or application leaves out', async () => {
    await apply(database.owner, acme({ applications: [{ name: 'Backend', clientId: 'b' }], users: [user('u-1')] }));

    const users = await database.owner.query('select locale, time_zone from app_public.users');
    const applications = await database.owner.query('select confidential, scopes from oauth.applications');
    expect(users.rows).toEqual([{ locale: 'en', time_zone: 'UTC' }]);
    expect(applications.rows).toEqual([{ confidential: true, scopes: ['app'] }]);
  });

  it('keeps organizations apart: the same identifiers and addresses in two of them are two of each', async () => {
    const parts = { units: [headquarters], users: [ada] };

    await apply(database.owner, {
      organizations: [
        { name: 'Acme', ...parts },
        { name: 'Other', ...parts },
      ],
    });

    expect(await values('select count(distinct organization_id) from app_public.users')).toEqual(['2']);
    expect(
      await values(
        `select count(*) from app_hidden.unit_access a
         join app_public.users u on u.id = a.user_id join app_public.units n on n.id = a.unit_id
         where u.organization_id = n.organization_id`,
      ),
    ).toEqual(['2']);
  });

  it('creates what an organization lacks, though another one has the same', async () => {
    const parts = { units: [headquarters], users: [ada] };
    await apply(database.owner, acme(parts));
    const ofAcme = await values('select to_jsonb(u) from app_public.users u');

    await apply(database.owner, {
      organizations: [{ name: 'Other', ...parts, users: [{ ...ada, fullName: 'Ada Byron' }] }],
    });

    expect(await values('select full_name from app_public.users order by 1')).toEqual(['Ada Byron', 'Ada Lovelace']);
    expect(await values("select to_jsonb(u) from app_public.users u where full_name = 'Ada Lovelace'")).toEqual(ofAcme);
    expect(await values('select count(distinct id) from app_public.users')).toEqual(['2']);
    expect(await values('select count(distinct id) from app_public.units')).toEqual(['4']);
  });

  it('lets users swap addresses and tokens, and hand them on', async () => {
    const token = (name: string) => `token-of-${name}-1234`;
    const users = ['aaaa', 'bbbb', 'cccc'].map((name) => ({ ...user(name), externalAuthenticationToken: token(name) }));
    await apply(database.owner, acme({ users }));

    const become = (name: string, other: string) => ({
      ...user(name),
      email: `${other}@ACME.test`,
      externalAuthenticationToken: token(other),
    });
    await apply(
      database.owner,
      acme({
        users: [
          become('aaaa', 'bbbb'),
          become('bbbb', 'aaaa'),
          { ...user('cccc'), email: 'new@acme.test', externalAuthenticationToken: null },
          become('dddd', 'cccc'),
        ],
      }),
    );

    const { rows } = await database.owner.query('select * from app_public.users order by external_identifier');
    expect(rows.map(({ email }) => email)).toEqual([
      'bbbb@ACME.test',
      'aaaa@ACME.test',
      'new@acme.test',
      'cccc@ACME.test',
    ]);
    const opened = rows.map(
      ({ external_authentication_token_ciphertext: sealed, organization_id, id }) =>
        sealed && testSecrets.open(sealed, { organizationId: organization_id, userId: id }),
    );
    expect(opened).toEqual([token('bbbb'), token('aaaa'), null, token('cccc')]);
  });

  it('gives users keys in the order of the document', async () => {
    const identifiers = Array.from({ length: 50 }, (_, n) => `u-${n}`);
    await apply(database.owner, acme({ users: identifiers.map((name) => user(name)) }));

    expect(await values('select external_identifier from app_public.users order by id')).toEqual(identifiers);
  });

  it('lets users swap addresses who are too far apart to be written at once', async () => {
    const users = Array.from({ length: 2001 }, (_, n) => user(`u-${n}`));
    await apply(database.owner, acme({ users }));

    const far = [...users];
    far[0] = { ...user('u-0'), email: user('u-2000').email };
    far[2000] = { ...user('u-2000'), email: user('u-0').email };
    await apply(database.owner, acme({ users: far }));

    expect(
      await values(
        "select email from app_public.users where external_identifier in ('u-0', 'u-2000') order by external_identifier",
      ),
    ).toEqual([user('u-2000').email, user('u-0').email]);
  });

  it('sets the password only of a user who has none', async () => {
    await apply(database.owner, example);
    await apply(database.owner, acme({ users: [user('u-2')] }));
    await database.owner.query(
      `insert into oauth.credentials (organization_id, user_id, disabled_at)
       select organization_id, id, now() from app_public.users where external_identifier = 'u-2'`,
    );
    const [hash] = await values('select password_hash from oauth.credentials where password_hash is not null');

    const users = [
      { ...ada, password: 'another password' },
      { ...user('u-2'), password: 'the first password' },
    ];
    await apply(database.owner, acme({ users }));

    const { rows } = await database.owner.query(
      `select u.external_identifier, c.password_hash, c.disabled_at is not null as disabled
       from oauth.credentials c join app_public.users u on u.id = c.user_id order by 1`,
    );
    expect(rows[0]).toEqual({ external_identifier: 'u-1', password_hash: hash, disabled: false });
    expect(rows[1]).toMatchObject({ external_identifier: 'u-2', disabled: true });
    expect(await verify(rows[1].password_hash, 'the first password')).toBe(true);
  });

  it('seals a token anew when SECRET_KEY has changed, and knows it as the same one', async () => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    await apply(database.owner, example, createSecrets([oldKey]));
    const secrets = createSecrets([newKey, oldKey]);
    const taken = { ...user('u-2'), externalAuthenticationToken: ada.externalAuthenticationToken };
    expect(await pathsOf(database.owner, acme({ users: [taken] }), secrets)).toEqual([
      'organizations[0].users[0].externalAuthenticationToken',
    ]);

    await apply(database.owner, example, secrets);
    const rotated = await everyRow(database.owner);
    await apply(database.owner, example, createSecrets([newKey]));

    expect(await everyRow(database.owner)).toEqual(rotated);
  });

  it('needs no superuser: the rights of graph_admin are enough', async () => {
    const name = `owner_${randomUUID().replaceAll('-', '')}`;
    await database.owner.query(`create role ${name} login password 'x' in role graph_admin`);
    const url = new URL(database.ownerUrl);
    [url.username, url.password] = [name, 'x'];
    const owner = new Pool({ connectionString: url.href });

    const applied = await apply(owner, example);
    const again = await apply(owner, acme({ units: [{ externalIdentifier: 'hq-1', name: 'Floor 1' }] }));
    await owner.end();
    await database.owner.query(`drop role ${name}`);

    expect(applied.organizations[0]?.id).toBe(again.organizations[0]?.id);
    expect(await values('select full_name from app_public.users')).toEqual(['Ada Lovelace']);
    expect(await values('select count(*) from app_public.units where parent_id is null')).toEqual(['2']);
  });

  it('waits for another one: the same document at once is applied once', async () => {
    const document = acme({
      applications: [{ name: 'Backend', clientId: 'backend' }],
      units: [headquarters],
      users: [ada],
    });

    const results = await Promise.all(Array.from({ length: 4 }, () => apply(database.owner, document)));

    const secrets = results.flatMap(({ organizations }) => organizations[0]?.applications[0]?.clientSecret ?? []);
    expect(secrets).toHaveLength(1);
    expect(await values('select count(*) from app_public.users')).toEqual(['1']);
    expect(await values('select count(*) from oauth.application_secrets')).toEqual(['1']);
  });

  it('changes nothing when one thing is wrong', async () => {
    await apply(database.owner, example);
    const before = await everyRow(database.owner);
    const [changed, wrong] = [
      { ...ada, fullName: 'Ada King' },
      { ...user('u-2'), timeZone: 'Atlantis' },
    ];

    const paths = await pathsOf(database.owner, {
      organizations: [{ name: 'Acme', users: [changed, wrong] }, { name: 'New' }],
    });

    expect(paths).toEqual(['organizations[0].users[1].timeZone']);
    expect(await everyRow(database.owner)).toEqual(before);
  });

  it('takes a number of statements that does not grow with each user', async () => {
    const users = Array.from({ length: 12_000 }, (_, index) => ({ ...user(`u-${index}`), accessibleUnits: ['hq'] }));

    const sent = await countStatements(() => apply(database.owner, acme({ units: [headquarters], users })));

    expect(await values('select count(*) from app_hidden.unit_access')).toEqual(['12000']);
    expect(sent).toBeLessThan(60);
  });

  async function countStatements(work: () => Promise<unknown>): Promise<number> {
    let sent = 0;
    const count = (client: { query: unknown }) => {
      const query = client.query as (...args: unknown[]) => unknown;
      client.query = (...args: unknown[]) => {
        sent += 1;
        return query.apply(client, args);
      };
    };
    database.owner.on('acquire', count);
    await work();
    database.owner.off('acquire', count);
    return sent;
  }
});
