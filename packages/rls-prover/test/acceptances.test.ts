import { isOpen, type Options } from 'rls-prover';
import { openOf, startProving } from './support.ts';

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
    ['calls', `select string_agg(app.inner(name), ',') from app.users`, 'app.inner'],
    ['calls at some depth', `select string_agg(app.middle(name), ',') from app.users`, 'app.inner'],
    ['calls by a name in quotes', `select string_agg(app."Of (one)"(name), ',') from app.users`, 'app."Of (one)"'],
    [
      'calls in a text',
      `select (query_to_xml('select app.inner(name) from app.users', true, false, ''))::text`,
      'app.inner',
    ],
  ])('is accepted of a function until one that it %s changes', async (_what, body, called) => {
    const returns = (name: string, text: string) =>
      `create or replace function ${name}(text) returns text language sql stable as $$ select ${text} $$;`;
    const all = [
      ...[returns('app.inner', '$1'), returns('app.middle', 'app . INNER ($1)')],
      ...[returns('app."Of (one)"', '$1'), returns('app.other', '$1')],
      `create function app.entry() returns text language sql stable security definer set search_path = pg_catalog, pg_temp as $$ ${body} $$;`,
    ].join('');
    const accepted = (await proving.judgeAfter(all, beside))
      .filter(isOpen)
      .map((one) => ({ ...one, role: 'public', reason: 'For a test.' }));
    const openAfter = async (change: string) => openOf(await proving.judgeAfter(all + change, { ...beside, accepted }));

    expect(await openAfter(returns('app.other', 'null'))).toEqual([]);
    expect(await openAfter(returns(called, 'null'))).toEqual(['definer: call on app.entry(): unproven']);
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
