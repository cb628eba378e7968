import { randomUUID } from 'node:crypto';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nameLogins, type TestLogins, withLogin } from '../support/logins.ts';
import { until } from '../support/until.ts';

const log = createLog('silent');

describe('the login roles of the server', () => {
  let database: TestDatabase;
  let logins: TestLogins;

  beforeAll(async () => {
    database = await createTestDatabase();
    logins = nameLogins(database);
    await migrate(logins, log);
  });

  afterAll(async () => {
    await database.drop();
    await logins.drop();
  });

  it('become GraphQL or the OAuth server, and never the other', async () => {
    await withLogin(logins.authUrl, async (graphql) => {
      for (const role of ['graph_app', 'graph_user', 'graph_basic']) await graphql.query(`set role ${role}`);
      for (const role of ['graph_oauth', 'graph_worker'])
        await expect(graphql.query(`set role ${role}`)).rejects.toMatchObject({ code: '42501' });
    });
    await withLogin(logins.oauthUrl, async (oauth) => {
      for (const role of ['graph_oauth', 'graph_worker']) await oauth.query(`set role ${role}`);
      for (const role of ['graph_app', 'graph_user', 'graph_basic', 'graph_helper', 'graph_purger', 'graph_admin'])
        await expect(oauth.query(`set role ${role}`)).rejects.toMatchObject({ code: '42501' });
    });
    expect(await membershipsOf(logins.names.authenticator)).toEqual(['graph_app', 'graph_basic', 'graph_user']);
    expect(await membershipsOf(logins.names.oauth)).toEqual(['graph_oauth', 'graph_worker']);
  });

  it('are one and the same as long as a server is connected that has only one', async () => {
    const { authenticator } = logins.names;
    await migrate({ ...logins, oauthUrl: undefined }, log);
    expect(await membershipsOf(authenticator)).toContain('graph_oauth');

    await withLogin(logins.authUrl, async (server) => {
      await migrate(logins, log);
      await server.query('set role graph_oauth');
    });
    expect(await findingsOf(authenticator)).toEqual(['authenticator_of_both']);

    await until(async () => (await sessionsOf(authenticator)) === 0);
    await migrate(logins, log);
    expect(await membershipsOf(authenticator)).not.toContain('graph_oauth');
    expect(await findingsOf(authenticator)).toEqual([]);
  });

  it('are distinguished also when the one that was both becomes that of OAuth', async () => {
    const { authenticator, oauth } = logins.names;
    const swapped = { ...logins, authUrl: logins.oauthUrl, oauthUrl: logins.authUrl };

    await withLogin(logins.authUrl, () => migrate(swapped, log));
    expect(await findingsOf(authenticator)).toEqual(['authenticator_of_both']);

    await until(async () => (await sessionsOf(authenticator)) === 0);
    await migrate(swapped, log);
    expect(await membershipsOf(authenticator)).toEqual(['graph_oauth', 'graph_worker']);
    expect(await membershipsOf(oauth)).toEqual(['graph_app', 'graph_basic', 'graph_user']);
    expect(await findingsOf(authenticator)).toEqual([]);
    await migrate(logins, log);
    expect(await membershipsOf(oauth)).toEqual(['graph_oauth', 'graph_worker']);
  });

  it.each([
    'create temporary table notes (note text)',
    'select lo_create(0)',
    'select lo_creat(-1)',
    "select lo_from_bytea(0, 'note')",
  ])('leave nothing of their own: %s', async (statement) => {
    for (const url of [logins.authUrl, logins.oauthUrl])
      await withLogin(url, async (server) => {
        await expect(server.query(statement)).rejects.toMatchObject({ code: '42501' });
      });
    await withLogin(logins.authUrl, async (server) => {
      await server.query('set role graph_app');
      await expect(server.query(statement)).rejects.toMatchObject({ code: '42501' });
    });
    await withLogin(logins.ownerUrl, async (owner) => {
      await owner.query('begin');
      await expect(owner.query(statement)).resolves.toBeDefined();
      await owner.query('rollback');
    });
  });

  it('cannot change themselves without a trace', async () => {
    for (const [url, name] of [
      [logins.authUrl, logins.names.authenticator],
      [logins.oauthUrl, logins.names.oauth],
    ] as const) {
      expect(await findingsOf(name)).toEqual([]);

      await withLogin(url, (server) => server.query('alter role current_user set search_path = pg_temp'));
      expect(await findingsOf(name)).toEqual(['authenticator_setting']);
      await withLogin(url, (server) => server.query('alter role current_user reset all'));
      expect(await findingsOf(name)).toEqual([]);

      const here = `in database ${new URL(url).pathname.slice(1)}`;
      await withLogin(url, (server) => server.query(`alter role current_user ${here} set row_security = off`));
      expect(await findingsOf(name)).toEqual(['authenticator_setting']);
      await withLogin(url, (server) => server.query(`alter role current_user ${here} reset all`));
      expect(await findingsOf(name)).toEqual([]);
    }
  });

  it("are known by name: one that is no longer the server's is a finding", async () => {
    const { authenticator, oauth } = logins.names;
    expect([...(await findingsOf(authenticator)), ...(await findingsOf(oauth))]).toEqual([]);

    await migrate({ ...logins, oauthUrl: undefined }, log);
    expect(await findingsOf(oauth)).toEqual(['authenticator_not_named']);
    expect(await findingsOf(authenticator)).toEqual([]);

    await migrate(logins, log);
    expect(await findingsOf(oauth)).toEqual([]);
  });

  it('may connect, and a role of another database may not', async () => {
    const stranger = `stranger_${randomUUID().slice(0, 8)}`;
    const name = new URL(logins.ownerUrl).pathname.slice(1);
    const strangerUrl = Object.assign(new URL(logins.ownerUrl), { username: stranger, password: 'x' }).href;
    await asAdministrator(`create role ${stranger} login password 'x'; grant connect on database ${name} to public`);
    await withLogin(strangerUrl, (client) => client.query('select'));

    await migrate(logins, log);

    await expect(withLogin(strangerUrl, (client) => client.query('select'))).rejects.toMatchObject({ code: '42501' });
    for (const url of [logins.authUrl, logins.oauthUrl]) await withLogin(url, (client) => client.query('select'));
    await asAdministrator(`grant graph_auditor to ${stranger}`);
    await withLogin(strangerUrl, (client) => client.query('select'));
    await asAdministrator(`drop role ${stranger}`);
  });

  const ask = async (text: string, name: string) =>
    (await database.owner.query<{ value: string }>(text, [name])).rows.map(({ value }) => value);

  const membershipsOf = (name: string) =>
    ask(
      `select roleid::regrole::text as value from pg_auth_members where member = (select oid from pg_roles where rolname = $1) order by 1`,
      name,
    );

  // All of the findings' names are constants, so that PostgreSQL computes no others.
  const findingsOf = (name: string) =>
    ask(`select name as value from audit.findings where object = $1 and name like 'authenticator%'`, name);

  const sessionsOf = async (name: string) =>
    (await ask('select pid::text as value from pg_stat_activity where usename = $1', name)).length;
});
