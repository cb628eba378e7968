import { type Options, prove } from 'rls-prover';
import { ofTenant, openOf, startProving } from './support.ts';

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

const alter = (policy: string) => `alter policy users_of_tenant on app.users using (${policy})`;
/** The judgements about one relation. */
const about = (relation: string): Partial<Options> => ({ isAsked: (goal) => goal.relation === relation });
/** No goals, but what else the proofs rest on. */
const beside: Partial<Options> = { isAsked: () => false };

describe('policies', () => {
  test('are proven where they hold for all claims and rows', async () => {
    const judgements = await proving.judgeAfter();

    expect(openOf(judgements)).toEqual([]);
    const about = { role: proving.member, verdict: 'proven', accepted: null };
    expect(judgements).toContainEqual({
      ...{ ...about, invariant: 'tenant', relation: 'app.notes', command: 'update' },
      ...{ why: 'for all claims and rows', isByPrivilege: false },
    });
    expect(judgements).toContainEqual({
      ...{ ...about, invariant: 'tenant', relation: 'app.users', command: 'delete' },
      ...{ why: 'not granted', isByPrivilege: true },
    });
  });

  test('are refuted by a row that a client sees', async () => {
    const judgements = await proving.judgeAfter(alter('true'), about('app.users'));

    expect(openOf(judgements)).toEqual(['tenant: select on app.users: refuted']);
    const [refuted] = judgements.filter(({ verdict }) => verdict === 'refuted');
    expect(refuted?.why).toBe(`${proving.member} of A as A1 sees id B1, name A name, tenant_id B0`);
  });

  test('are unproven without examples', async () => {
    const { examples, ...options } = proving.options;

    const judgements = await proving.after(alter('true'), (client) =>
      prove({ ...options, client, ...about('app.users') }, proving.prover),
    );

    expect(openOf(judgements)).toEqual(['tenant: select on app.users: unproven']);
    expect(judgements.find(({ verdict }) => verdict === 'unproven')?.why).toBe(
      'may be false, but no row that was tried shows it',
    );
  });

  test('are unproven by what is not understood, which is named', async () => {
    const isKnown = `create function app.is_known(uuid) returns boolean language plpgsql stable
      as $$ declare known boolean := $1 = app.tenant_id(); begin return known; end $$;`;

    const judgements = await proving.judgeAfter(isKnown + alter('app.is_known(tenant_id)'), about('app.users'));

    expect(openOf(judgements)).toEqual(['tenant: select on app.users: unproven']);
    expect(judgements.find(({ verdict }) => verdict === 'unproven')?.why).toMatch(/^not understood: .*app\.is_known/);
  });

  test('are judged with a prover of its own', async () => {
    const judgements = await proving.after('', (client) =>
      prove({ ...proving.options, client, ...about('app.users') }),
    );

    expect(judgements.find(({ command }) => command === 'select')?.verdict).toBe('proven');
  });
});

describe('an invariant', () => {
  const state = (expression: string, statements = '') =>
    proving
      .judgeAfter(statements, {
        ...about('app.notes'),
        invariants: [{ name: 'own', relation: 'app.notes', commands: ['update'], expression }],
      })
      .then((judgements) => judgements.filter(({ invariant }) => invariant === 'own'));

  test('is proven or refuted of the row before and the row after', async () => {
    expect(await state('new.tenant_id = old.tenant_id')).toMatchObject([{ verdict: 'proven' }]);
    expect(await state('new.body = old.body')).toMatchObject([
      { verdict: 'refuted', why: expect.stringContaining('changes') },
    ]);
  });

  test('knows the role', async () => {
    expect(await state(`claims.role = '${proving.member}'`)).toMatchObject([{ verdict: 'proven' }]);
    expect(await state(`claims.role = 'another'`)).toMatchObject([{ verdict: 'refuted' }]);
  });

  test('of a relation stands in the place of one of that name for all', async () => {
    const invariants = [
      ...proving.options.invariants,
      { name: 'tenant', relation: 'app.users', expression: 'old.tenant_id is not null' },
    ];

    expect(openOf(await proving.judgeAfter(alter('true'), { ...about('app.users'), invariants }))).toEqual([]);
  });
});

describe('what is not proven', () => {
  test('is accepted for one goal, with a reason', async () => {
    const accepted = [
      { invariant: 'tenant', relation: 'app.users', command: 'select', role: proving.member, reason: 'For a test.' },
    ];
    const grant = `; create policy delete_users on app.users for delete to member using (true); grant delete on app.users to member`;

    const judgements = await proving.judgeAfter(alter('true') + grant, { ...about('app.users'), accepted });

    expect(openOf(judgements)).toEqual(['tenant: delete on app.users: refuted']);
    expect(judgements.find(({ command }) => command === 'select')?.accepted).toBe('For a test.');
  });

  test('is accepted of a function for exactly the roles to which it is granted', async () => {
    const count = `create function app.count() returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp
      as $$ select count(*) from app.users $$; revoke execute on function app.count() from public; grant execute on function app.count() to member`;
    const accepted = [
      { invariant: 'definer', relation: 'app.count()', command: 'call', role: proving.member, reason: 'For a test.' },
    ];

    expect(openOf(await proving.judgeAfter(count, { ...beside, accepted }))).toEqual([]);
    expect(openOf(await proving.judgeAfter(`${count}, public`, { ...beside, accepted }))).toEqual([
      'definer: call on app.count(): unproven',
    ]);
  });
});

describe('a function with the rights of its owner', () => {
  const define = (body: string) =>
    `create function app.people() returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp
       as $$ ${body} $$`;
  const verdictOf = async (body: string) =>
    (await proving.judgeAfter(define(body), beside)).find(({ relation }) => relation === 'app.people()');

  test('is proven by its body', async () => {
    const body = 'select count(*) from app.users where tenant_id = app.tenant_id()';

    expect(await verdictOf(body)).toMatchObject({ verdict: 'proven', role: proving.member });
  });

  test.each([
    ['reads all', 'select count(*) from app.users'],
    ['reads all in a subquery', 'select (select count(*) from app.users)'],
    ['reads all by another function', `select (query_to_xml('select * from app.users', true, true, ''))::text::bigint`],
    ['reads what another invariant keeps', 'select count(*) from app.notes where tenant_id = app.tenant_id()'],
    ['changes something', 'delete from app.users; select 1::bigint'],
  ])('is not proven when it %s', async (_what, body) => {
    expect(await verdictOf(body)).toMatchObject({ verdict: 'unproven' });
  });
});

describe('a view with the rights of its owner', () => {
  const verdictsOf = async (query: string) => {
    const sql = `create view app.people as ${query}; grant select on app.people to member`;
    const judgements = await proving.judgeAfter(sql, about('app.people'));
    return judgements
      .filter((one) => one.relation === 'app.people' && one.command === 'select')
      .map(({ invariant, verdict }) => `${invariant}: ${verdict}`);
  };

  test('is proven when it says what the policies say', async () => {
    expect(await verdictsOf(`select name from app.users where ${ofTenant}`)).toEqual([
      'tenant: proven',
      'author: proven',
    ]);
  });

  test.each([
    ['reads all', 'select name from app.users'],
    ['joins more', `select u.id from app.users u left join app.notes n on true where u.${ofTenant}`],
    ['shows more in a column', `select id, (select max(body) from app.notes) from app.users where ${ofTenant}`],
    ['adds more', `select id from app.users where ${ofTenant} union all select id from app.users`],
    ['counts all', 'select count(*) from app.users'],
  ])('is not proven when it %s', async (_what, query) => {
    expect((await verdictsOf(query)).filter((verdict) => verdict.startsWith('tenant'))).not.toEqual(['tenant: proven']);
  });
});

describe('what else the proofs rest on', () => {
  const cascades = (judgements: Awaited<ReturnType<typeof proving.judgeAfter>>) =>
    judgements.filter(({ command }) => command === 'cascade').map(({ verdict, why }) => `${verdict}: ${why}`);

  test('a cascade keeps to a tenant whose column is a part of the key', async () => {
    const reaching = `alter table app.users add unique (id); alter table app.secrets add foreign key (user_id) references app.users (id) on delete cascade`;

    expect(cascades(await proving.judgeAfter('', beside))).toEqual([
      'proven: the tenant is a part of the key',
      'proven: the tenant is a part of the key',
    ]);
    expect(cascades(await proving.judgeAfter(reaching, beside))).toContain('unproven: reaches rows of other tenants');
  });

  test('a cascade is unproven where nothing separates tenants, unless it is accepted by its table', async () => {
    const { assumptions, ...options } = proving.options;
    const accepted = ['app.users', 'app.notes'].map((relation) => ({
      ...{ invariant: 'cascade', relation, command: 'cascade', role: 'everybody', reason: 'For a test.' },
    }));
    const judge = (changes: Partial<Options>) =>
      proving.after('', (client) => prove({ ...options, client, ...beside, ...changes }, proving.prover));

    expect(openOf(await judge({}))).toEqual([
      'cascade: cascade on notes_tenant_id_author_id_fkey on app.notes: unproven',
      'cascade: cascade on users_tenant_id_fkey on app.users: unproven',
    ]);
    expect(openOf(await judge({ accepted }))).toEqual([]);
  });

  test('no client has a right in a schema that is not looked at', async () => {
    const hidden = `create schema jobs; create table jobs.queue (id int primary key)`;
    const assumptions = { ...proving.options.assumptions, ignoredSchemas: '^jobs$' };

    expect(openOf(await proving.judgeAfter(hidden, { assumptions }))).toEqual([]);
    expect(
      openOf(await proving.judgeAfter(`${hidden}; grant usage on schema jobs to member`, { assumptions })),
    ).toEqual(['rights: usage on jobs: unproven']);
  });

  test('what is known to break an assumption is unproven', async () => {
    const broken = {
      invariant: 'claims',
      relation: 'app.become()',
      command: 'set',
      role: 'everybody',
      why: 'sets app.user_id',
    };

    const judgements = await proving.judgeAfter('', {
      ...beside,
      assumptions: { ...proving.options.assumptions, broken: [broken] },
    });

    expect(judgements).toContainEqual({ ...broken, verdict: 'unproven', isByPrivilege: false, accepted: null });
  });

  test.each([
    ['owns a table', 'alter table app.notes owner to member', 'rights: own on app.notes: unproven'],
    [
      'may pass a right on',
      'grant select on app.users to member with grant option',
      'rights: grant on app.users: unproven',
    ],
    ['may make objects', 'grant create on schema app to member', 'rights: create on app: unproven'],
    ['reads files', 'grant pg_read_server_files to member', 'rights: become on pg_read_server_files: unproven'],
    [
      'runs text',
      `create function app.run(text) returns void language plpgsql as $$ begin execute $1; end $$`,
      'claims: call on app.run(text): unproven',
    ],
  ])('a client that %s is a judgement', async (_what, statement, expected) => {
    expect(openOf(await proving.judgeAfter(statement, beside))).toContain(expected);
  });
});
