import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { shareService } from '../../support/sharedService.ts';
import { createTenant, type GraphTest, type Tenant } from '../support.ts';
import { type Change, follow, present, readPage, settled } from './feed.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()));
});

const clients: Client[] = [];

/** A session of its own, as a batch job has it; a transaction that is open at the end of the test is rolled back. */
async function connect(): Promise<Client> {
  const client = new Client({ connectionString: graph.database.ownerUrl });
  clients.push(client);
  await client.connect();
  return client;
}

const row = (name: string) => `('${tenant.organizationId}', 'IdentificationCode', '${name}')`;
const insert = (name: string) => `insert into app_public.cards (organization_id, type, name) values ${row(name)}`;
const rename = (name: string, to: string) =>
  `update app_public.cards set name = '${to}' where organization_id = '${tenant.organizationId}' and name = '${name}'`;
const write = (statement: string) => graph.database.owner.query(statement);

/** As it is shown at this moment. */
const shown = async (after: string | null = null) => (await readPage(graph, tenant, { after, first: 1000 })).nodes;

/** The names of the rows of changes, with `+` for a creation. */
async function names(changes: readonly Change[]): Promise<string[]> {
  const { rows } = await graph.database.owner.query('select id, name from app_public.cards');
  const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
  return changes.map(({ id, operation }) => {
    const uuid = Buffer.from(id, 'base64url').toString().slice('IdentificationCode:'.length);
    return `${operation === 'CREATE' ? '+' : ''}${nameOf.get(uuid)}`;
  });
}

describe('a transaction that is open', () => {
  it.each([
    ['commit', ['+A', '+B', '+C']],
    ['rollback', ['+B', '+C']],
  ])('holds back what others commit after its first write, until its %s', async (end, expected) => {
    const begin = await present(graph, tenant);
    const open = await connect();
    await open.query(`begin; ${insert('A')}`);
    await write(insert('B'));

    expect(await shown()).toEqual([]);
    const { pageInfo } = await readPage(graph, tenant, { after: begin });
    expect(pageInfo.hasNextPage).toBe(false);
    await write(insert('C'));
    expect(await shown(pageInfo.endCursor)).toEqual([]);
    await open.query(end);
    await settled(tenant);

    for (const after of [null, begin, pageInfo.endCursor]) expect(await names(await shown(after))).toEqual(expected);
  });

  it('holds nothing back before it writes', async () => {
    const open = await connect();
    await open.query('begin; select from app_public.cards');
    await write(insert('A'));

    expect(await names(await follow(graph, tenant))).toEqual(['+A']);
    await open.query(insert('B'));
    await open.query('commit');
    expect(await names(await follow(graph, tenant))).toEqual(['+A', '+B']);
  });

  it('is not missed when it was open for hours, whatever readers have seen meanwhile', async () => {
    const open = await connect();
    await open.query(`begin; ${insert('A')}`);
    await open.query(
      `update feed.changes set at = at - interval '20 hours' where organization_id = '${tenant.organizationId}'`,
    );
    await write(insert('B'));
    const { endCursor } = (await readPage(graph, tenant, { first: 0 })).pageInfo;
    await open.query('commit');
    await settled(tenant);

    expect(await names(await shown(endCursor))).toEqual(['+A', '+B']);
  });
});

test('changes of a row are in their order, also when the transaction of the later one began earlier', async () => {
  await write(insert('A'));
  const begin = await present(graph, tenant);
  const [earlier, later] = [await connect(), await connect()];
  await earlier.query(`begin; ${insert('B')}`);
  await later.query(`begin; ${rename('A', 'A1')}`);
  const { rows } = await later.query('select pg_current_xact_id()::text::bigint as later');
  await later.query('commit');
  await earlier.query(rename('A1', 'A2'));
  const { rows: xids } = await earlier.query('select pg_current_xact_id()::text::bigint as earlier');
  await earlier.query(
    `delete from app_public.cards where organization_id = '${tenant.organizationId}' and name = 'A2'`,
  );
  await earlier.query('commit');

  const changes = await follow(graph, tenant, begin);

  expect(BigInt(xids[0].earlier)).toBeLessThan(BigInt(rows[0].later));
  const ofB = changes.find(({ operation }) => operation === 'CREATE')?.id;
  expect(changes.filter(({ id }) => id !== ofB).map(({ operation }) => operation)).toEqual([
    'UPDATE',
    'UPDATE',
    'DELETE',
  ]);
  expect(changes[0]?.id).toBe(ofB);
});

test('the horizon is looked up once for a statement, however many rows it writes', async () => {
  const client = await connect();
  await client.query(`begin; set local track_functions = 'pl'`);
  await client.query(`${insert('A')}, ${Array.from({ length: 49 }, (_, n) => row(`A${n}`)).join()}`);
  await client.query(`delete from app_public.cards where organization_id = '${tenant.organizationId}'`);
  const { rows } = await client.query(
    `select pg_stat_get_xact_function_calls('feed.next_horizon(uuid[])'::regprocedure)::int as calls,
       (select count(*)::int from feed.changes where organization_id = $1) as changes`,
    [tenant.organizationId],
  );

  expect(rows).toEqual([{ calls: 2, changes: 100 }]);
});

describe('what was written in a subtransaction', () => {
  it.each([
    ['of a savepoint', 'savepoint s', 'release s'],
    ['of a savepoint that is never released', 'savepoint s', ''],
    ['beside one that was rolled back', 'savepoint t', 'rollback to t; savepoint s; release t'],
  ])('is followed: %s', async (_, begin, end) => {
    await write(`begin; ${insert('A')}; ${begin}; ${insert('B')}; ${end}; ${insert('C')}; commit`);

    const { rows } = await tenant.owner.query('select name from app_public.cards where organization_id = $1', [
      tenant.organizationId,
    ]);
    expect(await names(await follow(graph, tenant))).toEqual(rows.map(({ name }) => `+${name}`).sort());
  });

  it('is followed: of a block with exceptions', async () => {
    await write(`do $$ begin ${insert('A')}; exception when unique_violation then null; end $$`);

    expect(await names(await follow(graph, tenant))).toEqual(['+A']);
  });

  it('is followed: of a mutation with an idempotency key', async () => {
    const response = await fetch(`${graph.url}/graphql`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${tenant.app}`,
        'Idempotency-Key': crypto.randomUUID(),
      },
      body: JSON.stringify({ query: 'mutation { identificationCodeCreate(name: "A") { card { name } } }' }),
    });

    expect(await response.json()).toEqual({ data: { identificationCodeCreate: { card: { name: 'A' } } } });
    expect(await names(await follow(graph, tenant))).toEqual(['+A']);
  });

  it('comes behind what is committed', async () => {
    const begin = await present(graph, tenant);
    const open = await connect();
    await open.query(`begin; ${insert('A')}`);
    await write(`begin; savepoint s; ${insert('B')}; commit`);
    await open.query(`savepoint s; ${rename('B', 'B1')}; commit`);

    expect(await names(await follow(graph, tenant, begin))).toEqual(['+A', '+B1', 'B1']);
  });
});

test('replaying the feed beside many writers gives the rows at the end', async () => {
  const replica = new Map<string, number>();
  const wrong: string[] = [];
  const seen = new Set<string>();
  let after: string | null = null;
  const replay = async () => {
    const { nodes, pageInfo } = await readPage(graph, tenant, { after, first: 7 });
    after = pageInfo.endCursor;
    for (const { cursor, operation, id } of nodes) {
      if (seen.has(cursor)) wrong.push(`twice: ${cursor}`);
      seen.add(cursor);
      const revision = replica.get(id);
      if ((operation === 'CREATE') !== (revision === undefined)) wrong.push(`${operation} of ${id}`);
      if (operation === 'DELETE') replica.delete(id);
      else replica.set(id, (revision ?? 0) + 1);
    }
    return pageInfo.hasNextPage;
  };
  let isWriting = true;
  const writing = Promise.all(Array.from({ length: 6 }, (_, index) => writeAtRandom(index, Date.now() + 1500)));
  const following = (async () => {
    while (isWriting) await replay();
  })();

  const commits = (await writing).reduce((sum, count) => sum + count, 0);
  isWriting = false;
  await following;
  await settled(tenant);
  while (await replay());

  const { rows } = await graph.database.owner.query(
    `select rtrim(translate(encode(convert_to('IdentificationCode:' || id, 'UTF8'), 'base64'), E'+/\\n', '-_'), '=') as id, sort as revision
     from (select id, split_part(name, ' ', 2)::int as sort from app_public.cards where organization_id = $1) as units`,
    [tenant.organizationId],
  );
  expect(wrong).toEqual([]);
  expect(replica).toEqual(new Map(rows.map(({ id, revision }) => [id, revision])));
  expect(commits).toBeGreaterThan(5);
});

/** Transactions of one to four statements on rows that others change, too. The name counts how often a row was written. */
async function writeAtRandom(seed: number, deadline: number): Promise<number> {
  const client = await connect();
  const ofOrganization = `organization_id = '${tenant.organizationId}'`;
  const any = `select id from app_public.cards where ${ofOrganization} order by random() limit 1`;
  const statements = [
    insert('Row 1'),
    insert('Row 1'),
    `update app_public.cards set name = 'Row ' || split_part(name, ' ', 2)::int + 1 where ${ofOrganization} and id = (${any})`,
    `update app_public.cards set name = 'Row ' || split_part(name, ' ', 2)::int + 1 where ${ofOrganization} and id = (${any})`,
    `delete from app_public.cards where ${ofOrganization} and id = (${any})`,
  ];
  const pick = (count: number) => Math.floor(Math.random() * count);
  let commits = 0;
  for (let round = seed; Date.now() < deadline; round++) {
    try {
      await client.query('begin');
      for (let left = 1 + pick(4); left > 0; left--) {
        await client.query(statements[pick(statements.length)] ?? '');
        await delay(pick(4));
      }
      await client.query(round % 5 === 0 ? 'rollback' : 'commit');
      commits++;
    } catch {
      // A deadlock.
      await client.query('rollback');
    }
  }
  return commits;
}
