import { randomBytes } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { acme, ada, apply, everyRow, example, pathsOf, testSecrets, user, valuesOf } from './support.ts';

describe('provisioning users', () => {
  let database: EmptiedDatabase;

  beforeAll(async () => {
    database = await createEmptiedDatabase();
  });

  afterEach(() => database.empty());

  afterAll(() => database.drop());

  const values = (statement: string) => valuesOf(database.owner, statement);

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
});
