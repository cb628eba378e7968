import { createSecrets } from '../../src/crypto/secrets.ts';
import { applyDocument } from '../../src/provisioning/applyDocument.ts';
import {
  createTenant,
  createUser,
  newExternalToken,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { testPasswords } from '../support/passwords.ts';
import { until } from '../support/until.ts';
import { undone } from './support.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest();
  tenant = await createTenant(graph);
});
afterAll(() => graph.stop());

const query = async (statement: string, values: unknown[] = []) =>
  (await graph.database.owner.query(statement, values)).rows;

/** The history of a row or person, the oldest first. */
const historyOf = (id: string) => query('select * from audit.changes where subject_id = $1 order by id', [id]);

describe('the history', () => {
  it('tells who has created, changed and deleted a user through the API, and in which request', async () => {
    const create = 'mutation { userCreate(fullName: "Ada", email: "ada@acme.test") { user { id } } }';
    const { userCreate } = await read<{ userCreate: { user: { id: string } } }>(graph, tenant.app, create);
    const [created] = await query(`select id from app_public.users where email = 'ada@acme.test'`);
    await read(
      graph,
      tenant.app,
      `mutation { userUpdate(id: "${userCreate.user.id}", fullName: "Ada L.", email: "ada@acme.test") { user { id } } }`,
    );

    const [insert, update, ...others] = await historyOf(created.id);

    expect(others).toEqual([]);
    expect(insert).toMatchObject({
      organization_id: tenant.organizationId,
      relation: 'app_public.users',
      row_id: created.id,
      command: 'insert',
      before: null,
      after: { full_name: 'Ada', email: 'ada@acme.test', time_zone: 'UTC' },
      role: 'graph_app',
      login: 'graph_authenticator',
      application_id: tenant.applicationId,
      user_id: null,
    });
    expect(insert.columns).not.toContain('email_lowercase');
    expect(update).toMatchObject({
      command: 'update',
      columns: ['full_name'],
      before: { full_name: 'Ada' },
      after: { full_name: 'Ada L.' },
    });
    expect(update.grant_id).toBe(insert.grant_id);
    expect(await query('select application_id from oauth.grants where id = $1', [insert.grant_id])).toEqual([
      { application_id: tenant.applicationId },
    ]);
    expect(insert.request_id).not.toBe(update.request_id);
    expect(insert.server_request_id).toBe(insert.request_id);
    expect(graph.logs.join()).toContain(insert.request_id);
  });

  it.each([
    ['one', 1],
    ['so many that the offload thread does them', 18],
  ])('tells requests apart to which a client gave the id of another: %s', async (_what, count) => {
    const user = await createUser(tenant);
    const rename = (fullName: string) =>
      Array.from(
        { length: count },
        (_, index) =>
          `a${index}: userUpdate(id: "${user.id}", fullName: "${fullName} ${index}", email: "${user.email}") { user { ${'id '.repeat(12)} } }`,
      );
    const chosen = `chosen-${count}`;
    for (const fullName of ['Grace', 'Barbara']) {
      const response = await fetch(`${graph.url}/graphql`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${tenant.app}`,
          'X-Request-Id': chosen,
        },
        body: JSON.stringify({ query: `mutation { ${rename(fullName).join(' ')} }` }),
      });
      expect(response.headers.get('X-Request-Id')).toBe(chosen);
      expect(await response.json()).not.toHaveProperty('errors');
    }

    const linesOfBoth = () =>
      graph.logs
        .map((line) => JSON.parse(line))
        .filter(({ msg, requestId }) => msg === 'request' && requestId === chosen);
    await until(() => linesOfBoth().length === 2);
    const [grace, barbara] = linesOfBoth().map(({ serverRequestId }) => serverRequestId);
    expect(grace).not.toBe(barbara);
    const updates = (await historyOf(user.uuid)).filter(({ command }) => command === 'update');
    expect(updates.map((entry) => [entry.request_id, entry.server_request_id])).toEqual(
      [grace, barbara].flatMap((id) => Array(count).fill([chosen, id])),
    );
  });

  it('has the login of a psql session', async () => {
    const user = await createUser(tenant);

    const [entry] = await historyOf(user.uuid);

    expect(entry).toMatchObject({
      role: 'postgres',
      login: 'postgres',
      application_id: null,
      grant_id: null,
      request_id: null,
      server_request_id: null,
    });
  });

  it('names secrets and never says them', async () => {
    const token = newExternalToken();
    const user = await createUser(tenant, { externalAuthenticationToken: token });
    await query(
      `insert into oauth.credentials (organization_id, user_id, password_hash) values ($1, $2, '$argon2id$first')`,
      [tenant.organizationId, user.uuid],
    );
    await query(`update oauth.credentials set password_hash = '$argon2id$second' where user_id = $1`, [user.uuid]);
    await query(
      `insert into oauth.application_secrets (organization_id, application_id, secret_hash) values ($1, $2, sha256('secret'))`,
      [tenant.organizationId, tenant.applicationId],
    );
    const [{ hash, sealed }] = await query(
      `select encode(external_authentication_token_hash, 'hex') as hash, encode(external_authentication_token_ciphertext, 'hex') as sealed
       from app_public.users where id = $1`,
      [user.uuid],
    );

    const entries = await historyOf(user.uuid);
    const [secret] = await query(
      `select * from audit.changes where relation = 'oauth.application_secrets' and subject_id = $1`,
      [tenant.applicationId],
    );

    expect(entries.map(({ relation, command }) => `${command} ${relation}`)).toEqual([
      'insert app_public.users',
      'insert oauth.credentials',
      'update oauth.credentials',
    ]);
    expect(entries[0].columns).toEqual(
      expect.arrayContaining(['external_authentication_token_ciphertext', 'external_authentication_token_hash']),
    );
    expect(entries[2]).toMatchObject({ columns: ['password_hash'], before: {}, after: {} });
    expect(secret.columns).toContain('secret_hash');
    const [{ all }] = await query('select string_agg(c::text, chr(10)) as all from audit.changes c');
    for (const unwanted of [token, hash, sealed, '$argon2id$', 'sha256']) expect(all).not.toContain(unwanted);
    expect(all).not.toContain(Buffer.from(token).toString('hex'));
  });

  it('loses what a deleted person was and did not lose that there was one', async () => {
    const user = await createUser(tenant, { fullName: 'Grace Hopper', email: 'grace@acme.test' });
    const other = await createUser(tenant, { fullName: 'Grace Kelly', email: 'kelly@acme.test' });
    await query(`update app_public.users set full_name = 'Grace Murray Hopper' where id = $1`, [user.uuid]);
    const [{ card }] = await query(
      `insert into app_public.cards (organization_id, type, name) values ($1, 'IdentificationCode', 'Door') returning id as card`,
      [tenant.organizationId],
    );
    await query('insert into app_public.card_assignments (organization_id, user_id, card_id) values ($1, $2, $3)', [
      tenant.organizationId,
      user.uuid,
      card,
    ]);

    await read(graph, tenant.app, `mutation { userDelete(id: "${user.id}") { user { id } } }`);

    const entries = await historyOf(user.uuid);
    expect(entries.map(({ relation, command, role }) => `${role}: ${command} ${relation}`)).toEqual([
      'postgres: insert app_public.users',
      'postgres: update app_public.users',
      'postgres: insert app_public.card_assignments',
      'graph_app: delete app_public.users',
      'graph_app: delete app_public.card_assignments',
    ]);
    for (const { before, after, columns } of entries) {
      expect([before, after]).toEqual([null, null]);
      expect(columns.length).toBeGreaterThan(0);
    }
    expect(JSON.stringify(await query('select * from audit.changes'))).not.toMatch(/Hopper|grace@/);
    expect((await historyOf(other.uuid))[0].after).toMatchObject({ full_name: 'Grace Kelly' });
  });

  it('says nothing of what was rolled back, of an update that changes nothing, or of what follows from the rest', async () => {
    const user = await createUser(tenant);
    await query('update app_public.users set full_name = full_name where id = $1', [user.uuid]);
    await undone(graph.database.owner, `update app_public.users set full_name = 'Undone' where id = '${user.uuid}'`);
    const [top, below] = await query(
      `insert into app_public.units (organization_id, name) select $1, unnest(array['Top', 'Below']) returning id`,
      [tenant.organizationId],
    );
    await query('update app_public.units set parent_id = $1 where id = $2', [top.id, below.id]);

    expect(await historyOf(user.uuid)).toHaveLength(1);
    expect(await historyOf(top.id)).toHaveLength(1);
    expect((await historyOf(below.id))[1]).toMatchObject({
      columns: ['parent_id'],
      before: { parent_id: null },
      after: { parent_id: top.id },
    });
  });

  it('has a row for each of many, and none when provisioning finds nothing to change', async () => {
    const users = Array.from({ length: 30 }, (_, number) => ({
      externalIdentifier: `p-${number}`,
      fullName: `P ${number}`,
      email: `p-${number}@p.test`,
    }));
    const document = {
      organizations: [{ name: 'Provisioned', users, applications: [{ name: 'P', clientId: 'provisioned' }] }],
    };
    const apply = () =>
      applyDocument(graph.database.owner, document, {
        secrets: createSecrets([Buffer.alloc(32)]),
        passwords: testPasswords,
        report: () => undefined,
      });
    const counts = () =>
      query(
        `select relation, command, count(*)::int from audit.changes
         where organization_id = (select id from app_hidden.organizations where name = 'Provisioned') group by 1, 2 order by 1`,
      );

    await apply();
    const first = await counts();
    await apply();

    expect(first).toEqual([
      { relation: 'app_hidden.organizations', command: 'insert', count: 1 },
      { relation: 'app_public.users', command: 'insert', count: 30 },
      { relation: 'oauth.application_secrets', command: 'insert', count: 1 },
      { relation: 'oauth.applications', command: 'insert', count: 1 },
    ]);
    expect(await counts()).toEqual(first);
  });
});
