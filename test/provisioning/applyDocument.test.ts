import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import {
  acme,
  ada,
  apply,
  everyRow,
  example,
  headquarters,
  mobile,
  pathsOf,
  phone,
  user,
  valuesOf,
} from './support.ts';

describe('applying a document', () => {
  let database: EmptiedDatabase;

  beforeAll(async () => {
    database = await createEmptiedDatabase();
  });

  afterEach(() => database.empty());

  afterAll(() => database.drop());

  const values = (statement: string) => valuesOf(database.owner, statement);

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
    // A transaction that was rolled back leaves its number in the rows that it had written.
    const rows = async () =>
      JSON.stringify(await everyRow(database.owner), (key, value) => (key === 'xmax' ? undefined : value));
    const before = await rows();
    const [changed, wrong] = [
      { ...ada, fullName: 'Ada King' },
      { ...user('u-2'), timeZone: 'Atlantis' },
    ];

    const paths = await pathsOf(database.owner, {
      organizations: [{ name: 'Acme', users: [changed, wrong] }, { name: 'New' }],
    });

    expect(paths).toEqual(['organizations[0].users[1].timeZone']);
    expect(await rows()).toBe(before);
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
