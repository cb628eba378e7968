import type { TestDatabase } from '../support/database.ts';
import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUser,
  createViewer,
  expectErrors,
  type GraphTest,
  newExternalToken,
  read,
  type Tenant,
} from './support.ts';

const field = '{ node(id: $id) { ... on User { fullName externalAuthenticationToken } } }';
const byId = `query($id: ID!) ${field}`;

describe('externalAuthenticationToken', () => {
  let graph: GraphTest;
  let tenant: Tenant;
  beforeAll(async () => {
    graph = await shareService();
    tenant = await createTenant(graph);
  });

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

/** Every row of every table as text. */
async function dumpOf({ owner }: Pick<TestDatabase, 'owner'>): Promise<string> {
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
