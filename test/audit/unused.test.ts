import { ask, createTenant, createViewer, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { served } from './served.ts';
import { audit } from './support.ts';

let database: TestDatabase;
let tenant: Tenant;
beforeEach(async () => {
  database = await createTestDatabase();
  tenant = await createTenant({ database });
});
afterEach(() => database.drop());

const unused = async (since = 'today') => {
  const text = 'select role, kind, command, object, part from audit.unused($1::timestamptz::date)';
  const { rows } = await database.owner.query(text, [since]);
  return rows.map(({ role, kind, command, object, part }) => `${role}: ${kind} ${command} ${object} ${part}`.trim());
};

describe('audit.unused', () => {
  it('does not list what a request has used, and lists its unused twin', async () => {
    const person = await createViewer(tenant);

    expect(await unused()).toEqual(
      expect.arrayContaining([
        'graph_user: right select app_public.users full_name',
        'graph_user: policy select app_public.users select_graph_user',
      ]),
    );
    await served(database, async (service) => {
      await ask(service, person.token, '{ viewer { fullName } }');
      // By now the token is cached, and is checked along with the statement.
      await ask(service, person.token, '{ viewer { fullName } }');
    });
    const after = await unused();

    expect(after).not.toContain('graph_user: right select app_public.users full_name');
    expect(after).not.toContain('graph_user: policy select app_public.users select_graph_user');
    expect(after).not.toContain('graph_user: right execute app_hidden.require_access_token(bytea)');
    expect(after).toContain('graph_user: right select app_public.users email');
    expect(after).toContain('graph_user: right select app_public.cards');
    expect(after).toContain('graph_user: policy select app_public.cards select_graph_user');
    // The other roles have not asked.
    expect(after).toContain('graph_app: right select app_public.users');
    expect(after).toContain('graph_app: policy select app_public.users select_graph_app');
    expect(after).toContain('graph_app: right delete app_public.users');
  });

  it('counts what a statement needs: functions that a mutation calls, policies, views, checks; keeps no value, and is a command', async () => {
    const create = 'mutation { userCreate(fullName: "Ada", email: "ada@acme.test") { user { id } } }';
    await served(database, async (service) => {
      await ask(service, tenant.app, create);
      await ask(service, tenant.app, '{ app { users(externalIdentifiers: ["secret-value"]) { nodes { id } } } }');
    });
    const after = await unused();

    expect(after.filter((line) => line.startsWith('graph_app: right insert app_public.users'))).toEqual([]);
    expect(after).not.toContain('graph_app: policy insert app_public.users insert_graph_app');
    expect(after).not.toContain('graph_app: right execute app_hidden.is_text(text)');
    expect(after).toContain('graph_app: right delete app_public.users');
    expect(after).toContain('graph_app: policy delete app_public.users delete_graph_app');
    const { rows } = await database.owner.query('select * from audit.uses');
    expect(rows.length).toBeGreaterThan(5);
    expect(JSON.stringify(rows)).not.toMatch(/secret-value|ada@acme|__users|select \w+ from/);

    const { code, stdout } = await audit(database, 'unused', '--since', 'today');
    expect(code).toBe(0);
    expect(stdout).toContain('| graph_app | right | delete | app_public.users |');
    expect(stdout).not.toContain('| graph_app | right | select | app_public.users |');
    expect(stdout).toMatch(/Uses are counted since \d{4}-\d\d-\d\d\./);
    expect((await audit(database, 'unused', '--since', 'nonsense')).code).toBe(1);
  });

  it('survives a restart, and forgets what was used before the day that is asked about', async () => {
    await served(database, (service) => ask(service, tenant.app, '{ app { users { nodes { id } } } }'));
    await served(database, (service) => ask(service, tenant.app, '{ app { rootUnits { nodes { id } } } }'));
    const both = await unused();
    await database.owner.query(`alter table audit.uses no force row level security;
      update audit.uses set used_on = current_date - 10 where object = 'app_public.users'`);

    expect(both).not.toContain('graph_app: right select app_public.users');
    expect(both).not.toContain('graph_app: right select app_public.units');
    expect(await unused()).toContain('graph_app: right select app_public.users');
    expect(await unused(new Date(Date.now() - 20 * 86_400_000).toISOString())).toEqual(both);
    await served(database, (service) => ask(service, tenant.app, '{ app { users { nodes { id } } } }'));
    expect(await unused()).toEqual(both);
  });

  it('counts nothing of a start, and of a request that is refused the check of its token alone', async () => {
    const before = await unused();
    await served(database, async (service) => {
      await ask(service, 'no-token', '{ app { users { nodes { id } } } }');
      await ask(service, tenant.app, '{ app { nothing } }');
    });

    const check = 'graph_app: right execute app_hidden.require_access_token(bytea)';
    expect(before).toContain(check);
    expect(await unused()).toEqual(before.filter((right) => right !== check));
  });

  it('counts what several processes at once have used, and operations of the offload thread', async () => {
    const heavy = `{ app { ${Array.from({ length: 30 }, (_, n) => `u${n}: users(first: 200) { nodes { id email } }`).join(' ')} } }`;
    await served(database, (first) =>
      served(database, async (second) => {
        await Promise.all([
          ask(first, tenant.app, '{ app { rootUnits { nodes { id } } } }'),
          ask(second, tenant.app, heavy),
        ]);
      }),
    );
    const after = await unused();

    expect(after).not.toContain('graph_app: right select app_public.units');
    expect(after).not.toContain('graph_app: right select app_public.users');
    expect(after).toContain('graph_app: right select app_public.webhooks');
  });
});
