import { createToken, hashToken } from '../../../src/token/accessTokens.ts';
import { shareService } from '../../support/sharedService.ts';
import { until } from '../../support/until.ts';
import { type Mutate, mutating } from '../mutating.ts';
import { createTenant, createUnit, createUser, type GraphTest, startGraphTest, type Tenant } from '../support.ts';
import { openStream } from './eventStream.ts';
import { createUnits, present, settled } from './feed.ts';

let graph: GraphTest;
let tenant: Tenant;
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  mutate = mutating(graph, tenant);
});

describe('a stream ends', () => {
  it('when its token is revoked, within 5 s, and others go on', async () => {
    const token = createToken('access');
    await graph.database.owner.query(
      `insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
       select organization_id, $1, grant_id, scopes, now(), expires_at from oauth.access_tokens where token_hash = $2`,
      [hashToken(token), hashToken(tenant.app)],
    );
    const revoked = await openStream(graph, token);
    const other = await openStream(graph, tenant.app);

    const revokedAt = Date.now();
    await graph.database.owner.query('delete from oauth.access_tokens where token_hash = $1', [hashToken(token)]);
    expect(await revoked.rest()).toEqual([{ id: null, event: 'complete', data: '' }]);

    expect(Date.now() - revokedAt).toBeLessThan(5000);
    await createUnits(mutate, 1);
    expect(await other.changes(1)).toHaveLength(1);
    other.close();
  });

  it('when the schema is built anew, and goes on with its last cursor; and when the server stops, which waits for nothing', async () => {
    const own = await startGraphTest();
    const theirs = await createTenant(own);
    const stream = await openStream(own, theirs.app);
    await createUnit(theirs);
    const [last] = await stream.changes(1);

    await own.reload();
    expect(await stream.rest()).toEqual([{ id: null, event: 'complete', data: '' }]);

    const unit = await createUnit(theirs);
    const resumed = await openStream(own, theirs.app, { headers: { 'Last-Event-ID': last?.cursor ?? '' } });
    expect((await resumed.changes(1)).map(({ id }) => id)).toEqual([unit.id]);
    const stopping = own.stop();
    expect(await resumed.rest()).toEqual([{ id: null, event: 'complete', data: '' }]);
    await stopping;
  });

  it('before an event whose object the database does not answer, so that none is passed over', async () => {
    const start = await present(graph, tenant);
    const { fullName } = await createUser(tenant);
    await settled(tenant);
    const query = 'subscription ($after: Cursor) { changes(after: $after) { node { ... on User { fullName } } } }';
    const client = await graph.database.owner.connect();
    try {
      await client.query('begin; lock table app_public.users in access exclusive mode');
      const stream = await openStream(graph, tenant.app, { query, variables: { after: start } });
      await until(async () => {
        const { rowCount } = await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and pg_backend_pid() = any (pg_blocking_pids(pid))`,
        );
        return rowCount === 1;
      });
      expect(await stream.rest()).toEqual([{ id: null, event: 'complete', data: '' }]);
    } finally {
      await client.query('rollback');
      client.release();
    }

    const again = await openStream(graph, tenant.app, { query, variables: { after: start } });
    expect(await again.changes(1)).toEqual([{ node: { fullName } }]);
    again.close();
  });

  it('when its client goes, and makes room for another one', async () => {
    const streams = await Promise.all(Array.from({ length: 50 }, () => openStream(graph, tenant.app)));
    const refused = await openStream(graph, tenant.app);
    expect(streams.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect({ status: refused.status, retryAfter: refused.headers.get('Retry-After') }).toEqual({
      status: 429,
      retryAfter: '5',
    });
    const elsewhere = await openStream(graph, (await createTenant(graph)).app);
    expect(elsewhere.status).toBe(200);

    streams[0]?.close();
    await until(async () => {
      const next = await openStream(graph, tenant.app);
      streams.push(next);
      return next.status === 200;
    });
    for (const stream of [...streams, elsewhere]) stream.close();
  });

  it('before it begins when its client goes while the token is verified, and takes no room', async () => {
    const client = await graph.database.owner.connect();
    const closing = new AbortController();
    const requests = () => graph.logs.filter((line) => line.includes('request ended by the client')).length;
    const before = requests();
    try {
      await client.query('begin; lock table oauth.access_tokens in access exclusive mode');
      const gone = openStream(graph, tenant.app, { signal: closing.signal });
      await until(async () => {
        const { rows } = await client.query(
          'select from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))',
        );
        return rows.length > 0;
      });
      closing.abort();
      await expect(gone).rejects.toThrow('abort');
      await until(() => requests() > before);
    } finally {
      await client.query('rollback');
      client.release();
    }

    const streams = await Promise.all(Array.from({ length: 50 }, () => openStream(graph, tenant.app)));
    expect(streams.map(({ status }) => status)).toEqual(Array(50).fill(200));
    for (const stream of streams) stream.close();
  });
});
