import { verify } from '@node-rs/argon2';
import { createDemoCredentials, provisionDemo, registerDemoGraphiql } from '../../src/provisioning/demo.ts';
import { hashToken } from '../../src/token/accessTokens.ts';
import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { testPasswords } from '../support/passwords.ts';
import { apply, everyRow, testSecrets } from './support.ts';

const sealing = { secrets: testSecrets, passwords: testPasswords };

describe('the demo', () => {
  let database: EmptiedDatabase;

  beforeAll(async () => {
    database = await createEmptiedDatabase();
  });

  afterEach(() => database.empty());

  afterAll(() => database.drop());

  it('is an organization whose credentials open it', async () => {
    const credentials = createDemoCredentials();

    expect(await provisionDemo(database.owner, sealing, credentials)).toBe(true);

    const backend = await database.owner.query("select * from oauth.find_application('demo-backend')");
    expect(backend.rows[0]).toMatchObject({ confidential: true, scopes: ['app', 'basic'] });
    expect(backend.rows[0].secret_hashes).toEqual([hashToken(credentials.clientSecret)]);
    const { rows } = await database.owner.query(
      `select c.password_hash, u.* from app_public.users u join oauth.credentials c on c.user_id = u.id
       where u.email = 'ada@demo.test'`,
    );
    expect(await verify(rows[0].password_hash, credentials.password)).toBe(true);
    expect(rows[0].external_authentication_token_hash).toEqual(
      testSecrets.lookupHash(credentials.externalAuthenticationToken, rows[0].organization_id),
    );
    const types = await database.owner.query('select distinct type from app_public.cards');
    expect(types.rowCount).toBe(3);
    const depth = await database.owner.query('select max(cardinality(ancestor_ids)) as depth from app_public.units');
    expect(depth.rows).toEqual([{ depth: 3 }]);
  });

  it('is provisioned once, whatever became of it', async () => {
    const credentials = createDemoCredentials();
    await provisionDemo(database.owner, sealing, credentials);
    await database.owner.query("delete from app_public.users where email = 'ada@demo.test'");
    await database.owner.query("update app_hidden.organizations set name = 'Ours'");
    const before = await everyRow(database.owner);

    expect(await provisionDemo(database.owner, sealing, createDemoCredentials())).toBe(false);

    expect(await everyRow(database.owner)).toEqual(before);
  });

  it('brings GraphiQL back to where it is at each start', async () => {
    const redirectUris = async () => {
      const found = await database.owner.query("select redirect_uris from oauth.find_application('demo-graphiql')");
      return found.rows[0]?.redirect_uris;
    };
    await registerDemoGraphiql(database.owner, sealing, 'http://localhost:3000');
    expect(await redirectUris()).toBeUndefined();
    await provisionDemo(database.owner, sealing, createDemoCredentials());

    await registerDemoGraphiql(database.owner, sealing, 'http://localhost:3000');
    expect(await redirectUris()).toEqual(['http://localhost:3000/graphiql', 'http://127.0.0.1/graphiql']);
    await registerDemoGraphiql(database.owner, sealing, 'http://localhost:4000');
    expect(await redirectUris()).toEqual(['http://localhost:4000/graphiql', 'http://127.0.0.1/graphiql']);

    await database.owner.query("update app_hidden.organizations set name = 'Ours'");
    await registerDemoGraphiql(database.owner, sealing, 'http://localhost:5000');
    expect(await redirectUris()).toEqual(['http://localhost:4000/graphiql', 'http://127.0.0.1/graphiql']);
  });

  it('comes beside organizations that are there already', async () => {
    await apply(database.owner, { organizations: [{ name: 'Acme' }] });

    await provisionDemo(database.owner, sealing, createDemoCredentials());

    const { rows } = await database.owner.query('select name from app_hidden.organizations order by 1');
    expect(rows).toEqual([{ name: 'Acme' }, { name: 'Demo' }]);
  });

  it('has other credentials in each installation', () => {
    const [one, other] = [createDemoCredentials(), createDemoCredentials()];

    for (const [name, value] of Object.entries(one)) expect(Object.entries(other)).not.toContainEqual([name, value]);
  });
});
