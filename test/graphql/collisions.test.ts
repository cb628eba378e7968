import type { PoolClient } from 'pg';
import { define } from '../generation/doors.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  ask,
  createTenant,
  createUser,
  type OwnGraphTest,
  startGraphTest,
  type Tenant,
  type TestUser,
} from './support.ts';

// A mutation that collides with another transaction is run once more, and no third time.

let graph: OwnGraphTest;
let tenant: Tenant;
let user: TestUser;
beforeAll(async () => {
  graph = await startGraphTest({ SLOW_MS: '1500' }, async (database) => {
    await database.owner.query(functions);
  });
  tenant = await createTenant(graph);
  user = await createUser(tenant);
});
afterAll(() => graph.stop());

const functions = [
  'create sequence app_hidden.tries; grant usage on sequence app_hidden.tries to graph_app;',
  define(
    'collide(times bigint, state text)',
    `returns bigint language plpgsql volatile as $$
       declare tries bigint := nextval('app_hidden.tries');
       begin
         if tries <= times then raise exception using errcode = state, message = 'collided'; end if;
         return tries;
       end $$`,
    '@mutation\nCollides so many times.',
  ),
  define(
    'rename_both(first uuid, second uuid, name text)',
    // PostgreSQL looks for a deadlock after a second, which on a busy machine may be too near to the lock timeout; its owner may say sooner.
    `returns text language plpgsql volatile security definer as $$
       begin
         perform set_config('deadlock_timeout', '100ms', true);
         update app_public.users set full_name = name where id = first;
         perform pg_sleep(0.3);
         update app_public.users set full_name = name where id = second;
         return name;
       end $$`,
    '@mutation\n@param {User} first A user.\n@param {User} second A user.\nRenames two users.',
  ),
].join('\n');

const collide = async (times: number, state: string) => {
  await graph.database.owner.query('alter sequence app_hidden.tries restart');
  const query = `mutation { collide(times: "${times}", state: "${state}") { result } }`;
  const { status, headers, body } = await ask(graph, tenant.app, query);
  const { rows } = await graph.database.owner.query('select last_value from app_hidden.tries');
  const retryAfter = headers.get('Retry-After');
  return {
    status,
    retryAfter,
    data: body.data,
    code: body.errors?.[0]?.extensions.code,
    tries: Number(rows[0].last_value),
  };
};

test.each(['55P03', '40001', '40P01'])('SQLSTATE %s is tried once more, then UNAVAILABLE', async (state) => {
  expect(await collide(1, state)).toEqual({
    status: 200,
    retryAfter: null,
    data: { collide: { result: '2' } },
    code: undefined,
    tries: 2,
  });
  expect(await collide(2, state)).toEqual({
    status: 503,
    retryAfter: '2',
    data: { collide: null },
    code: 'UNAVAILABLE',
    tries: 2,
  });
});

test.each(['23514', '57014', 'P0001', 'P0002'])('SQLSTATE %s is not tried again', async (state) => {
  expect(await collide(1, state)).toMatchObject({ status: 200, data: { collide: null }, tries: 1 });
});

test('a sync whose rows lose what they refer to at each try is UNAVAILABLE, and blames no argument', async () => {
  const { owner } = graph.database;
  await owner.query(
    `create function app_hidden.lose() returns trigger language plpgsql as $$
       begin raise foreign_key_violation using table = 'card_assignments', schema = 'app_public', constraint = 'card_assignments_user_id_fkey'; end $$;
     create trigger lose before insert on app_public.card_assignments execute function app_hidden.lose()`,
  );
  await owner.query("update app_public.users set external_identifier = 'grace' where id = $1", [user.uuid]);
  const sync = () =>
    ask(
      graph,
      tenant.app,
      `mutation { cardsSync(cards: [{ externalIdentifier: "code", name: "Code", userExternalIdentifier: "grace" }]) {
        results { outcome } } }`,
    );

  const lost = await sync();
  await owner.query('drop function app_hidden.lose() cascade');

  expect(lost.status).toBe(503);
  expect(lost.body.errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'UNAVAILABLE' }]);
  expect((await sync()).body).toEqual({ data: { cardsSync: { results: [{ outcome: 'CREATED' }] } } });
});

const rename = (fullName: string) =>
  ask(
    graph,
    tenant.app,
    `mutation { userUpdate(id: "${user.id}", fullName: "${fullName}") { user { fullName } } other: userUpdate(id: "${user.id}", locale: "de") { user { locale } } }`,
  );

/** When the transaction began that waits for a lock; null while none does. */
const waiting = async (): Promise<string | null> => {
  const { rows } = await graph.database.owner.query(
    "select xact_start::text from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rows[0]?.xact_start ?? null;
};

async function whileLocked<T>(work: (release: () => Promise<unknown>, holder: PoolClient) => Promise<T>): Promise<T> {
  const holder: PoolClient = await graph.database.owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from app_public.users where id = $1 for update', [user.uuid]);
    return await work(() => holder.query('rollback'), holder);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

test('a lock that is released during the second wait is acquired, and the mutation succeeds', async () => {
  const answer = await whileLocked(async (release) => {
    const answered = rename('Grace Hopper');
    let first: string | null = null;
    await until(async () => {
      first = await waiting();
      return first !== null;
    });
    await until(async () => ![first, null].includes(await waiting()));
    await release();
    return answered;
  });

  expect({ status: answer.status, ...answer.body }).toEqual({
    status: 200,
    data: { userUpdate: { user: { fullName: 'Grace Hopper' } }, other: { user: { locale: 'de' } } },
  });
});

test('a lock that stays is UNAVAILABLE after two seconds, and what another field changes is kept', async () => {
  const since = performance.now();
  const neighbour = await createUser(tenant);
  const query = `mutation {
    before: userUpdate(id: "${neighbour.id}", fullName: "Before") { user { fullName } }
    locked: userUpdate(id: "${user.id}", fullName: "Locked") { user { fullName } }
    after: userUpdate(id: "${neighbour.id}", locale: "fr") { user { fullName locale } } }`;

  const { status, body } = await whileLocked(() => ask(graph, tenant.app, query));

  expect(status).toBe(503);
  expect(body).toMatchObject({
    data: {
      before: { user: { fullName: 'Before' } },
      locked: null,
      after: { user: { fullName: 'Before', locale: 'fr' } },
    },
    errors: [{ path: ['locked'], extensions: { code: 'UNAVAILABLE' } }],
  });
  expect(performance.now() - since).toBeGreaterThan(1900);
  // The log says which operation waited, and for how long.
  await until(() => graph.logs.some((line) => line.includes('an operation was slow') && line.includes('user_update')));
});

test('a change that another one has overtaken under repeatable read is done after it', async () => {
  const { owner, authUrl } = graph.database;
  const { rows } = await owner.query(
    "select format('alter role %I in database %I ', $1::text, current_database()) as sql",
    [new URL(authUrl).username],
  );
  await owner.query(`${rows[0].sql} set default_transaction_isolation = 'repeatable read'`);
  const service = await startTestService(graph.database);
  const query = `mutation { userUpdate(id: "${user.id}", locale: "it") { user { fullName locale } } }`;

  const answer = await whileLocked(async (_release, holder) => {
    const answered = ask(service, tenant.app, query);
    await until(async () => (await waiting()) !== null);
    await holder.query("update app_public.users set full_name = 'Overtaken' where id = $1", [user.uuid]);
    await holder.query('commit');
    return answered;
  });
  await service.stop();
  await owner.query(`${rows[0].sql} reset default_transaction_isolation`);

  expect(answer.body).toEqual({ data: { userUpdate: { user: { fullName: 'Overtaken', locale: 'it' } } } });
});

test('of two mutations that deadlock both are done', async () => {
  const other = await createUser(tenant);
  const both = (first: TestUser, second: TestUser, name: string) =>
    ask(
      graph,
      tenant.app,
      `mutation { renameBoth(first: "${first.id}", second: "${second.id}", name: "${name}") { result } }`,
    );

  const answers = await Promise.all([both(user, other, 'One'), both(other, user, 'Two')]);

  expect(answers.map(({ body }) => body)).toEqual([
    { data: { renameBoth: { result: 'One' } } },
    { data: { renameBoth: { result: 'Two' } } },
  ]);
});
