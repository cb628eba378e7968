import { ask, createTenant, createUnit, type Tenant } from '../graphql/support.ts';
import { asClient, createApplication, createUser, type OwnOauthTest, startOauthTest, token } from '../oauth/support.ts';
import { until } from '../support/until.ts';
import { scrape } from './support.ts';

let service: OwnOauthTest;
let tenant: Tenant;
beforeAll(async () => {
  service = await startOauthTest({
    METRICS_PORT: '0',
    THROTTLE_FAILURES_PER_MINUTE: '3',
    THROTTLE_FAILURES_PER_ACCOUNT: '2',
  });
  tenant = await createTenant(service);
});
afterAll(() => service.stop());

/** The difference that the work makes in each sample; samples without a difference are left out. */
async function moved(work: () => Promise<unknown>, isThere: (changes: Record<string, number>) => boolean = () => true) {
  const before = (await scrape(portOf())).samples;
  await work();
  let changes: Record<string, number> = {};
  // A request is counted when its connection has taken the answer, of which its client knows a moment earlier.
  await until(async () => {
    const { samples } = await scrape(portOf());
    changes = Object.fromEntries(
      [...samples]
        .map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const)
        .filter(([name, change]) => change !== 0 && /^(http|graph|oauth)_/.test(name)),
    );
    return isThere(changes);
  });
  return changes;
}

const portOf = () => service.metricsPort ?? 0;

describe('/metrics', () => {
  it('counts requests by the name of the operation and by code, with statements and times', async () => {
    const query = 'query Units { app { name rootUnits { nodes { name } } } }';
    const changes = await moved(
      async () => {
        await ask(service, tenant.app, query);
        await ask(service, tenant.app, query);
        await ask(service, tenant.basic, query);
        await ask(service, tenant.app, '{ app { name } }');
      },
      (changes) => changes['http_request_duration_seconds_count{route="/graphql",status="200"}'] === 4,
    );

    expect(changes).toMatchObject({
      'graph_requests_total{code="OK",operation="Units"}': 2,
      'graph_requests_total{code="FORBIDDEN",operation="Units"}': 1,
      'graph_requests_total{code="OK",operation="anonymous"}': 1,
      'graph_operation_duration_seconds_count{operation="Units"}': 3,
      'graph_statements_per_operation_count{operation="Units"}': 3,
      'graph_statements_per_operation_sum{operation="Units"}': 2,
      graph_planning_duration_seconds_count: 4,
    });
  });

  it('makes labels only of names that succeeded, and tells what was refused before', async () => {
    const changes = await moved(
      async () => {
        await ask(service, tenant.app, 'query MadeUp { nothing }');
        await ask(service, tenant.basic, 'query NeverAllowed { app { name } }');
        await ask(service, 'not-a-token', 'query Stolen { app { name } }');
        await fetch(`${service.url}/graphql/made-up/path`);
      },
      (changes) => changes['http_request_duration_seconds_count{route="other",status="404"}'] === 1,
    );

    expect(changes).toMatchObject({
      'graph_requests_total{code="GRAPHQL_VALIDATION_FAILED",operation="none"}': 1,
      'graph_requests_total{code="FORBIDDEN",operation="other"}': 1,
      'graph_requests_total{code="UNAUTHENTICATED",operation="none"}': 1,
      'http_request_duration_seconds_count{route="/graphql",status="401"}': 1,
    });
    expect((await scrape(portOf())).text).not.toMatch(/MadeUp|NeverAllowed|Stolen|made-up/);
  });

  it('counts grants by what was shown for them, refusals by code and throttles by what was counted', async () => {
    const application = await createApplication(service, { scopes: ['app', 'me'], mobileApp: 'password' });
    const user = await createUser(service, {
      password: 'correct horse battery',
      organizationId: application.organizationId,
    });
    const person = { grant_type: 'password', scope: 'me', username: user.email, ...asClient(application) };

    const changes = await moved(
      async () => {
        await token(service, { form: { grant_type: 'client_credentials', ...asClient(application) } });
        await token(service, { form: { ...person, password: 'correct horse battery' } });
        for (const password of ['1', '2', '3', '4', '5']) await token(service, { form: { ...person, password } });
        for (const username of ['a', 'b']) await token(service, { form: { ...person, username, password: '1' } });
      },
      (changes) => changes['oauth_throttled_total{limit="failures"}'] === 1,
    );

    expect(changes).toMatchObject({
      'oauth_token_grants_total{grant="client_credentials"}': 1,
      'oauth_token_grants_total{grant="password"}': 1,
      'oauth_refusals_total{code="invalid_grant"}': 3,
      // From the third on the account is locked.
      'oauth_throttled_total{limit="account"}': 3,
      'oauth_refusals_total{code="too_many_requests"}': 4,
    });
  });

  it('shows the pools and the offload thread, once that has something to do', async () => {
    await createUnit(tenant);
    const long = `query Long { app { rootUnits(first: 1000) { nodes { name children(first: 1000) { nodes { name } } } } } }`;
    expect((await ask(service, tenant.app, long)).status).toBe(200);

    let { samples } = await scrape(portOf());
    const connections = (thread: string) =>
      ['busy', 'idle', 'waiting'].map((state) =>
        samples.get(`graph_pool_connections{state="${state}",thread="${thread}"}`),
      );
    await until(async () => {
      ({ samples } = await scrape(portOf()));
      // What it notes of the statements that were used may end after the answer.
      return connections('offload')[0] !== undefined && connections('main')[0] === 0;
    });

    expect(connections('main')).toEqual([0, expect.any(Number), 0]);
    expect(connections('offload')).toEqual([expect.any(Number), expect.any(Number), 0]);
    expect(samples.get('graph_offload_thread_event_loop_lag_seconds')).toBeGreaterThanOrEqual(0);
    expect(samples.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  });

  it('is on a port of its own, where nothing else is, and nowhere by default', async () => {
    const publicPort = await fetch(`${service.url}/metrics`);
    const elsewhere = await fetch(`http://127.0.0.1:${portOf()}/graphql`);
    const posted = await fetch(`http://127.0.0.1:${portOf()}/metrics`, { method: 'POST' });

    expect([publicPort.status, elsewhere.status, posted.status]).toEqual([404, 404, 404]);
  });
});
