import { randomUUID } from 'node:crypto';
import { startTestService } from '../../support/service.ts';
import { shareService } from '../../support/sharedService.ts';
import { until } from '../../support/until.ts';
import { createTenant, createUser, type GraphTest, type Tenant } from '../support.ts';
import {
  bodyOf,
  countUsers,
  create,
  expectReplay,
  newEmail,
  type Options,
  outcomeOf,
  replayedOf,
  type Sent,
  sendKeyed,
} from './sendKeyed.ts';

// A key whose first request is not over: others meanwhile, and how it may end.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

const send = (key: string | null, options: Options) => sendKeyed(graph, tenant, key, options);

describe('while it is under way', () => {
  /** Sends a mutation that waits for the row of a user, until `release`. */
  async function whileWaiting<T>(work: (key: string, query: string, first: Promise<Sent>) => Promise<T>) {
    const user = await createUser(tenant);
    const email = newEmail();
    const query = `mutation { userUpdate(id: "${user.id}", email: "${email}") { user { email } } }`;
    const holder = await graph.database.owner.connect();
    await holder.query('begin');
    await holder.query('select from app_public.users where id = $1 for update', [user.uuid]);
    const key = randomUUID();
    const first = send(key, { query });
    await until(async () => (await waiting()).length === 1);
    const result = await work(key, query, first);
    await holder.query('rollback');
    holder.release();
    return { result, first: await first.catch(() => null), key, query, email };
  }
  const waiting = async () => {
    const { rows } = await graph.database.owner.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows;
  };

  it('a second one is 409 at once, by any process, and then gets the same answer', async () => {
    const other = await startTestService(graph.database);

    const { result, first, key, query } = await whileWaiting(async (key, query) => [
      await send(key, { query }),
      await send(key, { query, url: other.url }),
      await send(key, { query: create, variables: { email: newEmail() } }),
    ]);

    for (const answer of result) {
      expect(outcomeOf(answer)).toEqual([409, ['IDEMPOTENCY_KEY_IN_USE'], null]);
      expect(answer.headers.get('Retry-After')).toBe('1');
    }
    if (!first) throw new Error('There is no answer.');
    expectReplay(await send(key, { query, url: other.url }), first);
    await other.stop();
  });

  it('its application is deleted: nothing was done, and its token is refused then and later', async () => {
    const doomed = await createTenant(graph);
    const email = newEmail();
    const holder = await graph.database.owner.connect();
    await holder.query('begin');
    await holder.query('delete from oauth.applications where organization_id = $1', [doomed.organizationId]);

    const first = send(randomUUID(), { token: doomed.app, variables: { email } });
    await until(async () => (await waiting()).length === 1);
    await holder.query('commit');
    holder.release();

    const answer = await first;
    expect(outcomeOf(answer)).toEqual([401, ['UNAUTHENTICATED'], null]);
    expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer .*invalid_token/);
    expect(await countUsers(graph, email)).toBe(0);
    const later = await send(randomUUID(), { token: doomed.app, variables: { email } });
    expect(outcomeOf(later)).toEqual(outcomeOf(answer));
  });

  it('the connection is lost: nothing was done, and it is executed anew', async () => {
    const { first, key, query, email } = await whileWaiting(async () => {
      for (const { pid } of await waiting()) await graph.database.owner.query('select pg_terminate_backend($1)', [pid]);
      await until(async () => (await waiting()).length === 0);
    });

    expect(first && outcomeOf(first)).toEqual([503, ['UNAVAILABLE'], null]);
    expect(first && bodyOf(first).data).toBeNull();
    expect(await countUsers(graph, email)).toBe(0);
    const again = await send(key, { query });
    expectReplay(await send(key, { query }), again);
    expect(await countUsers(graph, email)).toBe(1);
  });

  it('its client goes away: it is done, and its answer is kept', async () => {
    const [key, email] = [randomUUID(), newEmail()];
    const user = await createUser(tenant);
    const query = `mutation { userUpdate(id: "${user.id}", email: "${email}") { user { email } } }`;
    const holder = await graph.database.owner.connect();
    await holder.query('begin');
    await holder.query('select from app_public.users where id = $1 for update', [user.uuid]);
    const leaving = new AbortController();
    const headers = {
      Authorization: `Bearer ${tenant.app}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    };
    const body = JSON.stringify({ query, variables: {} });
    const left = fetch(`${graph.url}/graphql`, { method: 'POST', headers, body, signal: leaving.signal });
    await until(async () => (await waiting()).length === 1);
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    await holder.query('rollback');
    holder.release();
    await until(async () => (await countUsers(graph, email)) === 1);

    const answer = await send(key, { query });

    expect([answer.text, replayedOf(answer)]).toEqual([
      `{"data":{"userUpdate":{"user":{"email":"${email}"}}}}`,
      'true',
    ]);
  });
});

test('a holder that hangs is ended by PostgreSQL', async () => {
  const client = await graph.database.owner.connect();
  await client.query('begin; set local role graph_app');
  const idleFor = async () => (await client.query('show idle_in_transaction_session_timeout')).rows[0];

  const before = await idleFor();
  const { rows } = await client.query(`select state from app_hidden.claim_idempotency_key(sha256('key'))`);
  const claimed = await idleFor();
  await client.query('rollback');

  expect([before, rows, claimed, await idleFor()]).toEqual([
    { idle_in_transaction_session_timeout: '0' },
    [{ state: 'claimed' }],
    { idle_in_transaction_session_timeout: '10s' },
    { idle_in_transaction_session_timeout: '0' },
  ]);
  client.release();
});
