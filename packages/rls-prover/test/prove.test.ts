import { isOpen, type Options, prove } from 'rls-prover';
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
    const about = { role: proving.member, verdict: 'proven', accepted: null, counterexample: null };
    expect(judgements).toContainEqual({
      ...{ ...about, invariant: 'tenant', relation: 'app.notes', command: 'update', hash: expect.any(String) },
      ...{ why: 'for all claims and rows', isByPrivilege: false },
    });
    expect(judgements).toContainEqual({
      ...{ ...about, invariant: 'tenant', relation: 'app.users', command: 'delete', hash: expect.any(String) },
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
      {
        invariant: 'tenant',
        relation: 'app.users',
        command: 'select',
        role: proving.member,
        reason: 'For a test.',
        hash: null,
      },
    ];
    const grant = `; create policy delete_users on app.users for delete to member using (true); grant delete on app.users to member`;

    const judgements = await proving.judgeAfter(alter('true') + grant, { ...about('app.users'), accepted });

    expect(openOf(judgements)).toEqual(['tenant: delete on app.users: refuted']);
    expect(judgements.find(({ command }) => command === 'select')?.accepted).toBe('For a test.');
  });

  test('is accepted of a function for exactly the roles to which it is granted, and by its hash', async () => {
    const count = (
      body: string,
    ) => `create or replace function app.count() returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp
      as $$ ${body} $$; revoke execute on function app.count() from public; grant execute on function app.count() to member`;
    const all = count('select count(*) from app.users');
    const [{ hash = '' } = {}] = (await proving.judgeAfter(all, beside)).filter(isOpen);
    const accepted = [
      {
        invariant: 'definer',
        relation: 'app.count()',
        command: 'call',
        role: proving.member,
        reason: 'For a test.',
        hash,
      },
    ];

    expect(openOf(await proving.judgeAfter(all, { ...beside, accepted }))).toEqual([]);
    expect(openOf(await proving.judgeAfter(`${all}, public`, { ...beside, accepted }))).toEqual([
      'definer: call on app.count(): unproven',
    ]);
    const other = await proving.judgeAfter(`${all}; ${count('select count(*) from app.notes')}`, {
      ...beside,
      accepted,
    });
    expect(other.filter(isOpen)).toMatchObject([
      { why: expect.stringContaining('it has changed since it was accepted') },
    ]);
    const withoutHash = accepted.map((one) => ({ ...one, hash: null }));
    expect(openOf(await proving.judgeAfter(all, { ...beside, accepted: withoutHash }))).toHaveLength(1);
  });

  test.each([
    ['a policy', alter('true'), `${alter('true')}; alter policy users_of_tenant on app.users using (name is not null)`],
    [
      'a right',
      alter('true'),
      `${alter('true')}; revoke select on app.users from member; grant select (name) on app.users to member`,
    ],
    [
      'a function of a policy',
      alter('app.tenant_id() is not null'),
      `create or replace function app.tenant_id() returns uuid language sql stable as $$ select '${'a'.repeat(8)}-0000-7000-8000-000000000000'::uuid $$; ${alter('app.tenant_id() is not null')}`,
    ],
    [
      'a function that a function of a policy calls',
      `create function app.outer_id() returns uuid language sql stable as $$ select app.tenant_id() $$; ${alter('app.outer_id() is not null')}`,
      `create function app.outer_id() returns uuid language sql stable as $$ select app.tenant_id() $$; ${alter('app.outer_id() is not null')};
       create or replace function app.tenant_id() returns uuid language sql stable as $$ select '${'a'.repeat(8)}-0000-7000-8000-000000000000'::uuid $$`,
    ],
  ])('is accepted of a table until %s changes', async (_what, before, after) => {
    const [{ hash = null } = {}] = (await proving.judgeAfter(before, about('app.users'))).filter(isOpen);
    const accepted = [
      {
        invariant: 'tenant',
        relation: 'app.users',
        command: 'select',
        role: proving.member,
        reason: 'For a test.',
        hash,
      },
    ];

    expect(hash).toMatch(/^[0-9a-f]{16}$/);
    expect(openOf(await proving.judgeAfter(before, { ...about('app.users'), accepted }))).toEqual([]);
    expect(openOf(await proving.judgeAfter(after, { ...about('app.users'), accepted }))).toEqual([
      expect.stringMatching(/^tenant: select on app.users/),
    ]);
  });

  test('is accepted of a view until a policy of its table changes', async () => {
    const view = `${alter('name is not null')}; create view app.seen with (security_invoker, security_barrier) as select tenant_id, name from app.users; grant select on app.seen to member`;
    const asked = about('app.seen');
    const judged = (await proving.judgeAfter(view, asked)).filter(isOpen);
    const accepted = judged.map((one) => ({ ...one, reason: 'For a test.' }));
    expect(openOf(judged)).toEqual(['tenant: select on app.seen: refuted']);

    expect(openOf(await proving.judgeAfter(view, { ...asked, accepted }))).toEqual([]);
    expect(openOf(await proving.judgeAfter(`${view}; ${alter('true')}`, { ...asked, accepted }))).toEqual(
      openOf(judged),
    );
  });

  test('is not accepted of what is not there', async () => {
    const accepted = [
      {
        invariant: 'definer',
        relation: 'app.gone()',
        command: 'call',
        role: 'member',
        reason: 'For a test.',
        hash: 'x',
      },
    ];

    expect(openOf(await proving.judgeAfter('', { accepted }))).toEqual(['definer: call on app.gone(): unproven']);
  });
});

describe('a question that matches nothing is an error:', () => {
  const author = { name: 'author', relation: 'app.notes', expression: 'old.author_id = claims.user_id' };
  test.each<[string, string, Partial<Options>, RegExp]>([
    [
      'a table that was renamed',
      'alter table app.notes rename to letters',
      {},
      /author of app\.notes matches no table/,
    ],
    ['a column that was renamed', 'alter table app.notes rename author_id to writer_id', {}, /column author_id/],
    ['columns that no table has', '', { invariants: [{ ...author, columns: ['gone'] }] }, /column gone/],
    [
      'columns of all that no table has',
      '',
      { invariants: [{ name: 'all', columns: ['gone'], expression: 'true' }] },
      /column gone/,
    ],
    [
      'a claim that is none',
      '',
      { invariants: [{ ...author, expression: 'old.author_id = claims.person_id' }] },
      /claim person_id/,
    ],
    [
      'a table of a predicate',
      '',
      { invariants: [{ ...author, expression: `only_through(old, 'app.gone')` }] },
      /table app\.gone/,
    ],
    ['a role of an invariant', '', { invariants: [{ ...author, roles: ['nobody_here'] }] }, /role nobody_here/],
    ['a role of clients', '', { roles: ['nobody_here'] }, /role nobody_here/],
    [
      'a claim of a principal',
      '',
      {
        examples: { insert: async () => undefined, rows: 'x', principals: [{ name: 'of A', claims: { tenant: 'a' } }] },
      },
      /claim tenant/,
    ],
  ])('%s', async (_what, statements, changes, message) => {
    await expect(proving.judgeAfter(statements, changes)).rejects.toThrow(message);
  });

  test('and everything that matches nothing is told at once', async () => {
    const question = proving.judgeAfter('', {
      roles: ['nobody_here'],
      invariants: [{ ...author, relation: 'app.gone' }],
    });

    await expect(question).rejects.toThrow(/role nobody_here does not exist; .*app\.gone matches no table/);
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
    const sql = `create view app.people with (security_barrier) as ${query}; grant select on app.people to member`;
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
  test('an action of a foreign key is judged as a command', async () => {
    const reaching = `create table app.marks (tenant_id uuid not null, user_id uuid not null, author_id uuid, primary key (tenant_id, user_id),
        foreign key (tenant_id, author_id) references app.notes on delete cascade);
      alter table app.marks enable row level security, force row level security;`;
    const judge = async (more: string) =>
      (await proving.judgeAfter(reaching + more, about('app.marks'))).filter(
        ({ invariant, command }) => invariant === 'tenant' && command === 'delete',
      );

    // The tenant is a part of the key.
    expect(await judge('')).toMatchObject([{ verdict: 'proven', isByPrivilege: false }]);
    const other =
      'alter table app.notes add unique (id); alter table app.marks add foreign key (user_id) references app.notes (id) on delete cascade';
    expect(await judge(other)).toMatchObject([{ verdict: 'unproven' }]);
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

    expect(judgements).toContainEqual({
      ...broken,
      verdict: 'unproven',
      isByPrivilege: false,
      counterexample: null,
      accepted: null,
      hash: null,
    });
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
