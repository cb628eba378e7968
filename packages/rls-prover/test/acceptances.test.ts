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
        hasChanged: false,
      },
    ];
    const grant = `; create policy delete_users on app.users for delete to member using (true); grant delete on app.users to member`;

    const judgements = await proving.judgeAfter(alter('true') + grant, { ...about('app.users'), accepted });

    expect(openOf(judgements)).toEqual(['tenant: delete on app.users: refuted']);
    expect(judgements.find(({ command }) => command === 'select')?.accepted).toBe('For a test.');
  });

  test('is accepted of a function for exactly the roles to which it is granted, until it has changed', async () => {
    const count = `create function app.count() returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp
      as $$ select count(*) from app.users $$; revoke execute on function app.count() from public; grant execute on function app.count() to member`;
    const of = { invariant: 'definer', relation: 'app.count()', command: 'call', role: proving.member };
    const acceptedAs = (hasChanged: boolean) => ({
      ...{ ...beside, accepted: [{ ...of, reason: 'For a test.', hasChanged }] },
    });

    expect(openOf(await proving.judgeAfter(count, acceptedAs(false)))).toEqual([]);
    expect(openOf(await proving.judgeAfter(`${count}, public`, acceptedAs(false)))).toEqual([
      'definer: call on app.count(): unproven',
    ]);
    expect((await proving.judgeAfter(count, acceptedAs(true))).filter(isOpen)).toMatchObject([
      { why: expect.stringContaining('it has changed since it was accepted') },
    ]);
  });

  test('is not accepted of what is not there', async () => {
    const accepted = [
      {
        invariant: 'definer',
        relation: 'app.gone()',
        command: 'call',
        role: 'member',
        reason: 'For a test.',
        hasChanged: false,
      },
    ];

    expect(openOf(await proving.judgeAfter('', { accepted }))).toEqual(['definer: call on app.gone(): unproven']);
  });
});
