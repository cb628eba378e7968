import {
  ask,
  createCard,
  createTenant,
  createUnit,
  createViewer,
  grantAccess,
  type Tenant,
} from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { audit } from './support.ts';

let database: TestDatabase;
let tenant: Tenant;
beforeEach(async () => {
  database = await createTestDatabase();
  tenant = await createTenant({ database });
});
afterEach(() => database.drop());

/** Runs a service for so long; what it has noted is recorded by its end. */
async function served(work: (service: TestService) => Promise<unknown>): Promise<void> {
  const service = await startTestService(database);
  await work(service).finally(() => service.stop());
}

const unused = async (since = 'today') => {
  const text = 'select role, kind, command, object, part from audit.unused($1::timestamptz::date)';
  const { rows } = await database.owner.query(text, [since]);
  return rows.map(({ role, kind, command, object, part }) => `${role}: ${kind} ${command} ${object} ${part}`.trim());
};

const send = async (service: TestService, token: string, query: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  return { status: response.status, body: (await response.json()) as { data?: unknown; errors?: unknown } };
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
    await served(async (service) => {
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

  it('counts what a statement needs: functions that a mutation calls, policies, views, checks', async () => {
    const create = 'mutation { userCreate(fullName: "Ada", email: "ada@acme.test") { user { id } } }';
    await served((service) => ask(service, tenant.app, create));
    const after = await unused();

    expect(after.filter((line) => line.startsWith('graph_app: right insert app_public.users'))).toEqual([]);
    expect(after).not.toContain('graph_app: policy insert app_public.users insert_graph_app');
    expect(after).not.toContain('graph_app: right execute app_hidden.is_text(text)');
    expect(after).toContain('graph_app: right delete app_public.users');
    expect(after).toContain('graph_app: policy delete app_public.users delete_graph_app');
  });

  it('survives a restart, and forgets what was used before the day that is asked about', async () => {
    await served((service) => ask(service, tenant.app, '{ app { users { nodes { id } } } }'));
    await served((service) => ask(service, tenant.app, '{ app { rootUnits { nodes { id } } } }'));
    const both = await unused();
    await database.owner.query(`alter table audit.uses no force row level security;
      update audit.uses set used_on = current_date - 10 where object = 'app_public.users'`);

    expect(both).not.toContain('graph_app: right select app_public.users');
    expect(both).not.toContain('graph_app: right select app_public.units');
    expect(await unused()).toContain('graph_app: right select app_public.users');
    expect(await unused(new Date(Date.now() - 20 * 86_400_000).toISOString())).toEqual(both);
    await served((service) => ask(service, tenant.app, '{ app { users { nodes { id } } } }'));
    expect(await unused()).toEqual(both);
  });

  it('counts nothing of a start, nor of a request that is refused', async () => {
    const before = await unused();
    await served(async (service) => {
      await ask(service, 'no-token', '{ app { users { nodes { id } } } }');
      await ask(service, tenant.app, '{ app { nothing } }');
    });

    expect(await unused()).toEqual(before);
  });

  it('names no text, value or person in what it keeps', async () => {
    await served((service) =>
      ask(service, tenant.app, '{ app { users(externalIdentifiers: ["secret-value"]) { nodes { id } } } }'),
    );
    const { rows } = await database.owner.query('select * from audit.uses');

    expect(rows.length).toBeGreaterThan(5);
    expect(JSON.stringify(rows)).not.toMatch(/secret-value|__users|select \w+ from/);
  });

  it('lists nothing that the requests need: without all of it they are answered as before', async () => {
    const [person, unit] = [await createViewer(tenant, { fullName: 'Ada' }), await createUnit(tenant)];
    await grantAccess(tenant, person, unit);
    await createCard(tenant, person, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2C13A80' });
    const fields =
      '{ users(first: 3) { nodes { id fullName cardAssignments { card { id name } } } totalCount } rootUnits { nodes { id children { nodes { id } } } } }';
    const operations: [string, string, Record<string, string>?][] = [
      [
        person.token,
        '{ viewer { fullName cardAssignments { card { id name } } accessibleUnits(first: 5) { nodes { id name } totalCount } } }',
      ],
      [tenant.app, `{ app ${fields} }`],
      [tenant.app, `mutation { userUpdate(id: "${person.id}", fullName: "Ada L.") { user { fullName } } }`],
      [tenant.app, `mutation { unitUpdate(id: "${unit.id}", name: "Hall") { unit { name } } }`],
      [
        tenant.app,
        `mutation { usersSync(users: [{ externalIdentifier: "s", fullName: "Sync", email: "sync@acme.test" }], dryRun: true) { results { outcome } } }`,
      ],
      [tenant.app, `{ app { changes(first: 1) { nodes { typeName } } webhooks { nodes { id } } } }`],
      [tenant.basic, '{ __typename }'],
    ];
    const keyed = (n: number) => ({ 'Idempotency-Key': `key-${n}` });
    const all = async (n: number) => {
      const answers: unknown[] = [];
      await served(async (service) => {
        for (const [token, query] of operations) answers.push(await send(service, token, query));
        const once = `mutation { unitUpdate(id: "${unit.id}", name: "Yard") { unit { name } } }`;
        answers.push(await send(service, tenant.app, once, keyed(n)), await send(service, tenant.app, once, keyed(n)));
      });
      return answers;
    };
    await all(0);
    const before = await all(1);
    const { rows } = await database.owner.query('select * from audit.unused(current_date)');

    for (const { kind, role, command, object, part } of rows) {
      const column = part === '' ? '' : ` (${part})`;
      await database.owner.query(
        kind === 'policy'
          ? `drop policy if exists ${part} on ${object}`
          : command === 'execute'
            ? `revoke execute on function ${object} from ${role}`
            : `revoke ${command}${column} on ${object} from ${role}`,
      );
    }
    const after = await all(2);

    expect(JSON.stringify(before)).not.toContain('"errors"');
    expect(after).toEqual(before);
    expect(rows.length).toBeGreaterThan(60);
  });

  it('counts what several processes at once have used, and operations of the second thread', async () => {
    const heavy = `{ app { ${Array.from({ length: 30 }, (_, n) => `u${n}: users(first: 200) { nodes { id email } }`).join(' ')} } }`;
    await served((first) =>
      served(async (second) => {
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

  it('is a command', async () => {
    await served((service) => ask(service, tenant.app, '{ app { users { nodes { id } } } }'));

    const { code, stdout } = await audit(database, 'unused', '--since', 'today');

    expect(code).toBe(0);
    expect(stdout).toContain('| graph_app | right | delete | app_public.users |');
    expect(stdout).not.toContain('| graph_app | right | select | app_public.users |');
    expect(stdout).toMatch(/Uses are counted since \d{4}-\d\d-\d\d\./);
    expect((await audit(database, 'unused', '--since', 'nonsense')).code).toBe(1);
  });
});
