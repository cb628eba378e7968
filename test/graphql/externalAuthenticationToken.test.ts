import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService, testSecretKey } from '../support/service.ts';
import {
  ask,
  createTenant,
  createUser,
  createViewer,
  expectErrors,
  newExternalToken,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from './support.ts';

const field = '{ node(id: $id) { ... on User { fullName externalAuthenticationToken } } }';
const byId = `query($id: ID!) ${field}`;

describe('externalAuthenticationToken', () => {
  let graph: OwnGraphTest;
  let tenant: Tenant;
  beforeAll(async () => {
    graph = await startGraphTest();
    tenant = await createTenant(graph);
  });
  afterAll(() => graph.stop());

  it('is in clear for an application, wherever it reads the user', async () => {
    const token = newExternalToken();
    const user = await createUser(tenant, { fullName: 'Ada', externalAuthenticationToken: token });

    expect(await read(graph, tenant.app, byId, { id: user.id })).toEqual({
      node: { fullName: 'Ada', externalAuthenticationToken: token },
    });
    expect(
      await read(graph, tenant.app, `{ app { users(ids: ["${user.id}"]) { nodes { externalAuthenticationToken } } } }`),
    ).toEqual({ app: { users: { nodes: [{ externalAuthenticationToken: token }] } } });
    expect(
      await read(
        graph,
        tenant.app,
        `mutation { userUpdate(id: "${user.id}") { user { externalAuthenticationToken } } }`,
      ),
    ).toEqual({ userUpdate: { user: { externalAuthenticationToken: token } } });
  });

  it('is null for an application when the user has none', async () => {
    const user = await createUser(tenant);

    expect(await read(graph, tenant.app, byId, { id: user.id })).toMatchObject({
      node: { externalAuthenticationToken: null },
    });
  });

  it('is forbidden for a person, also of the own, and whether there is one or not; the rest is answered', async () => {
    for (const values of [{ externalAuthenticationToken: newExternalToken() }, {}]) {
      const viewer = await createViewer(tenant, { fullName: 'Ada', ...values });

      expectErrors(
        await ask(graph, viewer.token, byId, { id: viewer.id }),
        { node: { fullName: 'Ada', externalAuthenticationToken: null } },
        { code: 'FORBIDDEN', path: ['node', 'externalAuthenticationToken'] },
      );
    }
  });

  it('is stored as a ciphertext and a hash alone: no table holds it in clear, in no encoding', async () => {
    const created = newExternalToken();
    const updated = newExternalToken();
    await read(
      graph,
      tenant.app,
      `mutation($created: String, $updated: String) {
         userCreate(fullName: "A", email: "a@acme.test", externalAuthenticationToken: $created) { user { id } }
         other: userCreate(fullName: "B", email: "b@acme.test", externalIdentifier: "b") { user { id } }
         userUpdate(externalIdentifier: "b", externalAuthenticationToken: $updated) { user { id } }
       }`,
      { created, updated },
    );

    const dump = await dumpOf(graph.database);

    expect(dump).toContain('a@acme.test');
    for (const token of [created, updated])
      for (const text of [token, Buffer.from(token).toString('hex'), Buffer.from(token).toString('base64')])
        expect(dump).not.toContain(text);
  });

  it('is sealed anew each time, so that equal tokens do not look alike', async () => {
    const token = newExternalToken();
    const other = await createTenant(graph);
    const users = [
      await createUser(tenant, { externalAuthenticationToken: token }),
      await createUser(other, { externalAuthenticationToken: token }),
    ];

    const { rows } = await graph.database.owner.query(
      `select count(distinct external_authentication_token_ciphertext)::int as ciphertexts,
              count(distinct external_authentication_token_hash)::int as hashes
       from app_public.users where id = any ($1)`,
      [users.map(({ uuid }) => uuid)],
    );

    expect(rows).toEqual([{ ciphertexts: 2, hashes: 2 }]);
  });

  it('does not open when it is copied to another user: an internal error in that field, and the cause in the log', async () => {
    const [victim, thief] = [
      await createUser(tenant, { externalAuthenticationToken: newExternalToken() }),
      await createUser(tenant, { fullName: 'Thief' }),
    ];
    const { owner } = graph.database;
    const sealed = 'external_authentication_token_ciphertext, external_authentication_token_hash';
    const { rows } = await owner.query(`select ${sealed} from app_public.users where id = $1`, [victim.uuid]);
    await owner.query(`update app_public.users set (${sealed}) = (null, null) where id = $1`, [victim.uuid]);
    await owner.query(`update app_public.users set (${sealed}) = ($2, $3) where id = $1`, [
      thief.uuid,
      ...Object.values(rows[0]),
    ]);

    const answer = await ask(graph, tenant.app, byId, { id: thief.id });

    const requestId = String(answer.headers.get('X-Request-Id'));
    expectErrors(
      answer,
      { node: { fullName: 'Thief', externalAuthenticationToken: null } },
      { code: 'INTERNAL', requestId, path: ['node', 'externalAuthenticationToken'] },
    );
    const logged = graph.logs.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId);
    expect(logged).toContainEqual(
      expect.objectContaining({
        level: 50,
        error: expect.objectContaining({ message: expect.stringContaining('open') }),
      }),
    );
  });
});

describe('after SECRET_KEY was replaced', () => {
  let database: TestDatabase;
  let service: TestService;
  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startTestService(database, {
      SECRET_KEY: randomBytes(32).toString('base64'),
      SECRET_KEY_PREVIOUS: testSecretKey,
    });
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it('a token sealed under the key before opens, and a new one is sealed under the new key', async () => {
    const tenant = await createTenant({ database });
    const token = newExternalToken();
    const user = await createUser(tenant, { externalAuthenticationToken: token });

    expect(await read(service, tenant.app, byId, { id: user.id })).toMatchObject({
      node: { externalAuthenticationToken: token },
    });

    await read(
      service,
      tenant.app,
      `mutation($id: ID, $token: String) { userUpdate(id: $id, externalAuthenticationToken: $token) { user { id } } }`,
      { id: user.id, token: 'sealed-under-the-new-key' },
    );
    expect(await read(service, tenant.app, byId, { id: user.id })).toMatchObject({
      node: { externalAuthenticationToken: 'sealed-under-the-new-key' },
    });
    const previousOnly = await startTestService(database);
    const answer = await ask(previousOnly, tenant.app, byId, { id: user.id });
    expectErrors(
      answer,
      { node: { fullName: user.fullName, externalAuthenticationToken: null } },
      {
        code: 'INTERNAL',
        requestId: String(answer.headers.get('X-Request-Id')),
        path: ['node', 'externalAuthenticationToken'],
      },
    );
    await previousOnly.stop();
  });

  it('is still unique: a token that another user has under the key before is taken', async () => {
    const tenant = await createTenant({ database });
    const token = newExternalToken();
    await createUser(tenant, { externalAuthenticationToken: token });
    const query = `mutation($token: String) {
      userCreate(fullName: "A", email: "a@acme.test", externalAuthenticationToken: $token) { user { id } } }`;

    expectErrors(
      await ask(service, tenant.app, query, { token }),
      { userCreate: null },
      { code: 'CONFLICT', argument: 'externalAuthenticationToken', path: ['userCreate'] },
    );
    await read(service, tenant.app, query, { token: newExternalToken() });
  });
});

/** Every row of every table as text. */
async function dumpOf({ owner }: TestDatabase): Promise<string> {
  const { rows: tables } = await owner.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  let dump = '';
  for (const { name } of tables) {
    const { rows } = await owner.query(`select coalesce(string_agg(t::text, E'\\n'), '') as text from ${name} as t`);
    dump += rows[0].text;
  }
  return dump;
}
