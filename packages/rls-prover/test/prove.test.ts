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
    const about = { role: proving.member, verdict: 'proven', accepted: null, remedy: null, counterexample: null };
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

describe('a remedy', () => {
  const remedyOf = async (statements: string, goal: string) => {
    const isAsked: Options['isAsked'] = ({ command, relation }) => `${command} on ${relation}` === goal;
    const judgements = await proving.judgeAfter(statements, { isAsked });
    const [open] = judgements.filter((one) => one.verdict === 'refuted');
    return { why: open?.why, remedy: open?.remedy };
  };
  const open = `alter policy own_notes on app.notes with check (${ofTenant})`;

  test('names the column that a client may write, and the policy that does not compare it', async () => {
    const { remedy } = await remedyOf(open, 'update on app.notes');

    expect(remedy).toBe(
      'let the using and check of own_notes imply old.author_id = claims.user_id and new.author_id = claims.user_id; ' +
        `or revoke update (author_id) on app.notes from ${proving.member}`,
    );
    // Each of the two mends it.
    const columns = `revoke update on app.notes from member; grant update (id, body) on app.notes to member`;
    expect(await remedyOf(`${open}; ${columns}`, 'update on app.notes')).toEqual({});
    expect(await remedyOf('', 'update on app.notes')).toEqual({});
  });

  test.each([
    [alter('true'), 'select on app.users', /^let the using of users_of_tenant imply old.tenant_id = /],
    [open, 'insert on app.notes', /^let the check of own_notes imply /],
    ['grant truncate on app.notes to member', 'truncate on app.notes', /^revoke truncate on app.notes from member_/],
    [
      'alter table app.users disable row level security',
      'select on app.users',
      /^alter table app.users enable row level security/,
    ],
    [
      'create role staff; grant usage on schema app to staff; grant select on app.users to staff; create policy s on app.users to staff using (true); grant staff to member',
      'select on app.users',
      /^revoke staff from member_/,
    ],
  ])('of %s', async (statement, goal, remedy) => {
    expect((await remedyOf(statement, goal)).remedy).toMatch(remedy);
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

  test.each([
    ['that it sets to null', 'note_id uuid', 'on delete set null (note_id)', []],
    [
      'that it sets to a default',
      `note_id uuid default '${'0'.repeat(8)}-0000-7000-8000-000000000000'`,
      'on delete set default (note_id)',
      [],
    ],
    ['of another tenant', 'note_id uuid', 'on delete set null', ['move: update on app.items: unproven']],
    [
      'that policies compare',
      'note_id uuid',
      'on delete set null (note_id)',
      ['move: update on app.items: unproven'],
      'note_id is not null',
    ],
  ])('an action of a foreign key moves no row by a column %s', async (_what, column, action, open, also = 'true') => {
    const items = `
      create table app.items (tenant_id uuid, id uuid, ${column}, unique (tenant_id, id),
        foreign key (tenant_id, note_id) references app.notes ${action});
      alter table app.items enable row level security, force row level security;
      create policy items_of_tenant on app.items for select to member using (${ofTenant} and ${also});
      create policy new_items on app.items for insert to member with check (${ofTenant});
      grant select, insert on app.items to member`;
    const invariants = [{ name: 'move', commands: ['update'] as const, expression: 'could_update(new)' }];

    expect(openOf(await proving.judgeAfter(items, { ...about('app.items'), invariants }))).toEqual(open);
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
      remedy: null,
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
