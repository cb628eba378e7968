import { setTimeout as delay } from 'node:timers/promises';
import { describeVariables } from '../../src/variables.ts';
import { type Answer, ask, createTenant, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// Each variable that is a number, at both ends of its range: the service gets ready, and refuses only what that very limit forbids.

let database: TestDatabase;
let tenant: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  tenant = await createTenant({ database });
});
afterAll(() => database.drop());

const ends = describeVariables().flatMap(({ name, values }) => {
  const [, least, most] = /^(\d+) to (\d+)$/.exec(values) ?? [];
  return least && most ? [[name, least] as const, [name, most] as const] : [];
});

const queries = [
  '{ __typename }',
  '{ app { name users(first: 1) { nodes { id } } } }',
  'mutation { unitCreate(name: "A") { unit { id name } } }',
];

test('the variables have ranges', () => expect(ends.length).toBeGreaterThan(40));

test.each(ends)('%s=%s', async (name, value) => {
  const service = await startTestService(database, { [name]: value });
  try {
    await until(async () => (await untilConnected(() => readiness(service))) === 200);
    for (const query of queries) {
      const { status, body } = await untilConnected(() => ask(service, tenant.app, query));
      const refusal = body.errors?.[0]?.extensions;
      if (refusal) expect({ ...refusal, name }).toEqual({ code: 'LIMIT_EXCEEDED', limit: limitOf(name), name });
      else expect({ status, body }).toEqual({ status: 200, body: { data: expect.anything() } });
    }
    expect(service.logs.filter((line) => /"level":[56]0/.test(line))).toEqual([]);
  } finally {
    await service.stop();
  }
});

/** Closes its connection, which may be the only one: `fetch` would keep it from others. */
async function readiness({ url }: TestService): Promise<number> {
  const response = await fetch(`${url}/readyz`, { headers: { Connection: 'close' } });
  await response.text();
  return response.status;
}

/** `LIMIT_ROOT_FIELDS` has the limit `rootFields`; what bounds no document has none. */
function limitOf(variable: string): string | undefined {
  const [, limit] = /^LIMIT_(\w+?)(?:_BYTES)?$/.exec(variable) ?? [];
  return limit?.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** MAX_CONNECTIONS=1 lets a connection in when the one before has ended. */
async function untilConnected<T extends Answer | number>(work: () => Promise<T>, left = 50): Promise<T> {
  return work().catch(async (error: unknown) => {
    if (left === 0) throw error;
    await delay(20);
    return untilConnected(work, left - 1);
  });
}
