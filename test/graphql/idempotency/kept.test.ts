import { hash, randomUUID } from 'node:crypto';
import { purgeExpired } from '../../../src/oauth/purge.ts';
import { shareService } from '../../support/sharedService.ts';
import { createTenant, createViewer, type GraphTest, type Tenant } from '../support.ts';
import { countUsers, newEmail, type Options, outcomeOf, sendKeyed } from './sendKeyed.ts';

// The kept answers: sealed, bounded and purged. Once SECRET_KEY was replaced: graphql/replacedKey.test.ts.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

const send = (key: string | null, options: Options) => sendKeyed(graph, tenant, key, options);

describe('what is kept', () => {
  it('tells nothing without SECRET_KEY, and opens for its own request alone', async () => {
    const [key, other, email] = [randomUUID(), randomUUID(), newEmail()];
    await send(key, { variables: { email } });
    const { rows } = await graph.database.owner.query(
      `select to_jsonb(k) as kept, answer_ciphertext as bytes from app_hidden.idempotency_keys k where key_hash = sha256($1)`,
      [key],
    );

    expect(rows).toHaveLength(1);
    const text = JSON.stringify(rows[0].kept) + rows[0].bytes.toString('latin1');
    for (const clear of [key, email, 'userCreate', Buffer.from(email).toString('hex')])
      expect(text).not.toContain(clear);

    await graph.database.owner.query(
      `insert into app_hidden.idempotency_keys (organization_id, application_id, principal_id, role, key_hash, answer_ciphertext)
       select organization_id, application_id, principal_id, role, sha256($2), answer_ciphertext
       from app_hidden.idempotency_keys where key_hash = sha256($1)`,
      [key, other],
    );
    expect((await send(other, { variables: { email } })).status).toBe(422);
  });

  it.each([
    ['keys', 1_000_000],
    ['bytes', 250_000_000],
  ])('is bounded for each organization, in %s', async (column, max) => {
    const full = await createTenant(graph);
    const [key, email, neighbour] = [randomUUID(), newEmail(), newEmail()];
    expect((await send(randomUUID(), { token: full.app, variables: { email: newEmail() } })).status).toBe(200);
    const setTo = (count: number) =>
      graph.database.owner.query(`update app_hidden.idempotency_usage set ${column} = $1 where organization_id = $2`, [
        count,
        full.organizationId,
      ]);

    await setTo(max);
    const refused = await send(key, { token: full.app, variables: { email } });
    const beside = await send(key, { variables: { email: neighbour } });
    expect(outcomeOf(refused)).toEqual([429, ['LIMIT_EXCEEDED'], null]);
    expect(refused.headers.get('Retry-After')).toBe('3600');
    expect(await countUsers(graph, email)).toBe(0);
    expect(beside.status).toBe(200);
    // Kept answers are there, and requests without a key succeed.
    expect((await send(null, { token: full.app, variables: { email: newEmail() } })).status).toBe(200);
    await setTo(max - 1);
    expect((await send(key, { token: full.app, variables: { email } })).status).toBe(200);

    const { rows } = await graph.database.owner.query(
      `select sum(u.keys)::int as keys, sum(u.bytes)::int as bytes, (
         select sum(octet_length(answer_ciphertext))::int from app_hidden.idempotency_keys k where k.organization_id = $1) as kept
       from app_hidden.idempotency_usage u where u.organization_id = $1`,
      [full.organizationId],
    );
    expect(rows[0][column]).toBeGreaterThanOrEqual(max);
    expect(rows[0].kept).toBeGreaterThan(56);
  });

  it('is bounded for each person, who leaves enough to the others', async () => {
    const person = await createViewer(tenant);
    const query = 'mutation { userDelete(id: "x") { user { id } } }';
    await graph.database.owner.query(
      `insert into app_hidden.idempotency_keys (organization_id, application_id, principal_id, role, key_hash, answer_ciphertext)
       select $1, $2, $3, 'graph_user', sha256(int4send(number)), repeat('x', 28)::bytea from generate_series(1, 999) as number`,
      [tenant.organizationId, tenant.applicationId, person.uuid],
    );

    expect(outcomeOf(await send('last', { token: person.token, query }))).toEqual([200, ['FORBIDDEN'], null]);
    expect(outcomeOf(await send('more', { token: person.token, query }))).toEqual([429, ['LIMIT_EXCEEDED'], null]);
    expect(outcomeOf(await send('last', { token: person.token, query }))).toEqual([200, ['FORBIDDEN'], 'true']);
    expect(outcomeOf(await send('more', { token: (await createViewer(tenant)).token, query }))).toEqual([
      200,
      ['FORBIDDEN'],
      null,
    ]);
  });

  it('is purged when it has expired, with its counts, and nothing else', async () => {
    const other = await createTenant(graph);
    for (const key of ['old', 'new']) await send(key, { token: other.app, variables: { email: newEmail() } });
    const { owner } = graph.database;
    await owner.query(
      `update app_hidden.idempotency_keys set expires_at = now() where organization_id = $1 and key_hash = sha256('old')`,
      [other.organizationId],
    );
    await owner.query(
      `update app_hidden.idempotency_usage set expires_at = now()
       where organization_id = $1 and slot = get_byte(sha256('old'), 0) % 4`,
      [other.organizationId],
    );

    expect(await purgeExpired((statement) => owner.query(statement))).toMatchObject({
      idempotencyKeys: expect.any(Number),
    });

    const { rows } = await owner.query(
      `select encode(key_hash, 'hex') as hash, (select sum(keys)::int from app_hidden.idempotency_usage u where u.organization_id = k.organization_id) as keys
       from app_hidden.idempotency_keys k where organization_id = $1`,
      [other.organizationId],
    );
    expect(rows).toEqual([{ hash: hash('sha256', 'new'), keys: 1 }]);
  });
});
