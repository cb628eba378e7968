import { createCard, createTenant, createUnit, createViewer, grantAccess, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import type { TestService } from '../support/service.ts';
import { served } from './served.ts';

let database: TestDatabase;
let tenant: Tenant;
beforeEach(async () => {
  database = await createTestDatabase();
  tenant = await createTenant({ database });
});
afterEach(() => database.drop());

const send = async (service: TestService, token: string, query: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  return { status: response.status, body: (await response.json()) as { data?: unknown; errors?: unknown } };
};

describe('audit.unused', () => {
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
      await served(database, async (service) => {
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
});
