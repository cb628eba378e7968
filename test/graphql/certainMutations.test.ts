import { define, sqlBody } from '../generation/doors.ts';
import {
  ask,
  createTenant,
  createUser,
  expectErrors,
  type OwnGraphTest,
  startGraphTest,
  type Tenant,
  type TestUser,
} from './support.ts';

// A field of a mutation whose answer fails by a fault of ours has changed nothing, whenever that is found.

let graph: OwnGraphTest;
let tenant: Tenant;
let user: TestUser;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    const { owner } = database;
    await owner.query(`
    create table app_public.visits (
      organization_id uuid not null default app_hidden.current_organization_id(),
      id uuid not null default app_hidden.uuid_v7(),
      user_id uuid not null,
      guide_id uuid,
      note text not null,
      constraint visits_pkey primary key (organization_id, id),
      constraint visits_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
      constraint visits_guide_id_fkey foreign key (organization_id, guide_id) references app_public.users,
      constraint visits_note_key unique (organization_id, note) deferrable initially deferred
    );
    create index visits_user_id_idx on app_public.visits (organization_id, user_id, id);
    create index visits_guide_id_idx on app_public.visits (organization_id, guide_id, id);
    comment on constraint visits_user_id_fkey on app_public.visits is E'@fieldName user';
    comment on constraint visits_guide_id_fkey on app_public.visits is E'@fieldName guide\\n@notNull';
    alter table app_public.visits enable row level security, force row level security;
    create policy all_graph_app on app_public.visits for all to graph_app
      using (organization_id = (select app_hidden.current_organization_id()))
      with check (organization_id = (select app_hidden.current_organization_id()));
    grant select, insert, update, delete on app_public.visits to graph_app;
    -- As a statement that takes too long fails; outages.test.ts has one that does.
    create function app_public.visits_slow(visit app_public.visits) returns int language plpgsql stable
      set search_path = pg_catalog, pg_temp as $$ begin raise 'slow' using errcode = 'query_canceled'; end $$;
    create function app_public.visits_broken(visit app_public.visits) returns int language plpgsql stable
      set search_path = pg_catalog, pg_temp as $$ begin raise 'broken' using errcode = 'XX000'; end $$;
    grant execute on function app_public.visits_slow, app_public.visits_broken to graph_app;
    ${define(
      'visit_create(user_id uuid, note text, guide_id uuid default null)',
      `returns app_public.visits ${sqlBody(
        'insert into app_public.visits (user_id, note, guide_id) values (user_id, note, guide_id) returning *',
      )}`,
      '@mutation\n@param {User} userId Who visits.\n@param {User} guideId Who guides.\nAdds a visit.',
    )}`);
  });
  tenant = await createTenant(graph);
  user = await createUser(tenant);
});
afterAll(() => graph.stop());

const notes = async () => {
  const { rows } = await graph.database.owner.query(
    'select note from app_public.visits where organization_id = $1 order by note',
    [tenant.organizationId],
  );
  return rows.map(({ note }) => note);
};

const create = (note: string, selection: string, alias = 'visitCreate') =>
  `${alias}: visitCreate(userId: "${user.id}", note: "${note}") { visit { ${selection} } }`;

/** Asked again, it is compiled, unless it is planned anew. */
const twice = async (query: string, expectation: (answer: Awaited<ReturnType<typeof ask>>) => Promise<void>) => {
  for (let time = 0; time < 2; time++) await expectation(await ask(graph, tenant.app, query));
};

beforeEach(() => graph.database.owner.query('delete from app_public.visits'));

test('a null where none may be: the field is INTERNAL and nothing was written, those before and after are', async () => {
  const fields = [
    create('before', 'note', 'a'),
    create('null', 'note guide { fullName }', 'b'),
    create('after', 'note', 'c'),
  ];

  await twice(`mutation { ${fields.join(' ')} }`, async (answer) => {
    const requestId = expect.any(String) as unknown as string;
    expectErrors(
      answer,
      { a: { visit: { note: 'before' } }, b: null, c: { visit: { note: 'after' } } },
      { path: ['b', 'visit', 'guide'], code: 'INTERNAL', requestId },
    );
    expect(await notes()).toEqual(['after', 'before']);
    await graph.database.owner.query('delete from app_public.visits');
  });
});

test('with a guide, the same is written', async () => {
  const guided = `mutation { visitCreate(userId: "${user.id}", guideId: "${user.id}", note: "guided") { visit { note guide { fullName } } } }`;

  expectErrors(await ask(graph, tenant.app, guided), {
    visitCreate: { visit: { note: 'guided', guide: { fullName: user.fullName } } },
  });
  expect(await notes()).toEqual(['guided']);
});

test.each([
  ['an error of ours', 'broken', { code: 'INTERNAL', requestId: expect.any(String) as unknown as string }, 200],
  ['a timeout', 'slow', { code: 'TIMEOUT' }, 200],
])('%s below the field: nothing was written', async (_, field, error, status) => {
  await twice(`mutation { ${create(field, `note ${field}`)} }`, async (answer) => {
    expect(answer.status).toBe(status);
    expect(answer.body.data).toEqual({ visitCreate: null });
    expect(answer.body.errors?.map(({ extensions }) => extensions)).toEqual([error]);
    expect(await notes()).toEqual([]);
  });
});

test('a constraint that is checked at the end fails the field, and only that', async () => {
  const fields = [create('one', 'note', 'a'), create('one', 'note', 'b'), create('other', 'note', 'c')];

  await twice(`mutation { ${fields.join(' ')} }`, async (answer) => {
    expect(answer.body.data).toEqual({ a: { visit: { note: 'one' } }, b: null, c: { visit: { note: 'other' } } });
    expect(answer.body.errors).toMatchObject([{ path: ['b'], extensions: { code: 'CONFLICT' } }]);
    expect(await notes()).toEqual(['one', 'other']);
    await graph.database.owner.query('delete from app_public.visits');
  });
});

test('a failure below a field with an Idempotency-Key undoes the whole operation, once it is compiled, too', async () => {
  const { url } = graph;
  const fields = [create('first', 'note', 'a'), create('null', 'note guide { fullName }', 'b')];
  const body = JSON.stringify({ query: `mutation { ${fields.join(' ')} }` });

  for (const key of ['one', 'two', 'three']) {
    const headers = {
      Authorization: `Bearer ${tenant.app}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    };
    const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({ data: null, errors: [{ extensions: { code: 'INTERNAL' } }] });
    expect(await notes()).toEqual([]);
  }
});

test('a compiled run that fails within a kept operation is executed once', async () => {
  const headers = {
    Authorization: `Bearer ${tenant.app}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': 'kept',
  };
  const [person, other] = [await createUser(tenant), await createUser(tenant)];
  const fields = [
    create('first', 'note', 'a'),
    `b: userUpdate(id: "${other.id}", email: "${person.email}") { user { id } }`,
    create('last', 'note', 'c'),
  ];

  const answer = await fetch(`${graph.url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query: `mutation { ${fields.join(' ')} }` }),
  });

  expect(await answer.json()).toMatchObject({
    data: { a: { visit: { note: 'first' } }, b: null, c: { visit: { note: 'last' } } },
    errors: [{ path: ['b'], extensions: { code: 'CONFLICT', argument: 'email' } }],
  });
  expect(await notes()).toEqual(['first', 'last']);
});
