import { shareService } from '../support/sharedService.ts';
import { ask, createTenant, type GraphTest, newExternalToken, type Tenant } from './support.ts';
import { ada, asOwner, bob, syncUsers, untilBlocked, userRows } from './sync.ts';

// Addresses and tokens that pass from one user to another in one sync, and users who leave meanwhile.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

const sync = (users: object[], dryRun?: boolean) => syncUsers(graph, tenant, users, dryRun);
const rows = () => userRows(tenant);

describe('usersSync', () => {
  it('lets addresses change hands, and refuses all that depend on a row that is refused', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const of = (name: string) => `${name}@acme.test`;
    const shifted = (locale: string) =>
      names.map((name, index) => ({
        externalIdentifier: name,
        email: of(names[(index + 1) % 4] ?? ''),
        ...(name === 'c' && { locale }),
      }));
    await sync(names.map((name) => ({ externalIdentifier: name, fullName: name, email: of(name) })));

    // b wants the address that c keeps, a that of b, and d that of a.
    const refused = await sync(shifted('?'));
    const moved = await sync(shifted('fr'));

    expect(refused.map(({ error }) => error?.argument)).toEqual(['email', 'email', 'locale', 'email']);
    expect(moved.map(({ outcome }) => outcome)).toEqual(names.map(() => 'UPDATED'));
    expect(moved.map(({ user }) => user?.email)).toEqual(['b', 'c', 'd', 'a'].map(of));
    const parked = await asOwner(
      tenant,
      `select count(*)::int as n from app_public.users where organization_id = $1 and email like '%parked%'`,
    );
    expect(parked).toEqual([{ n: 0 }]);
  });

  it('lets a new user take the address that another gives up', async () => {
    await sync([ada]);

    const results = await sync([
      { ...bob, email: 'ada@acme.test' },
      { externalIdentifier: 'ada', email: 'countess@acme.test' },
    ]);

    expect(results.map(({ user }) => user?.email)).toEqual(['ada@acme.test', 'countess@acme.test']);
  });

  it('writes each of those who exchange addresses once, and nobody has an address that is kept for it', async () => {
    const people = ['a', 'b', 'c'].map((name) => ({
      externalIdentifier: name,
      fullName: name,
      email: `${name}@acme.test`,
    }));
    await sync(people);
    const found = await asOwner<{ id: string }>(
      tenant,
      `select id from app_public.users where organization_id = $1 and external_identifier = 'a'`,
    );
    // The address that the sync once gave to those who lose theirs.
    const parked = { ...ada, email: `${found[0]?.id}@parked.invalid` };
    expect(await sync([parked])).toMatchObject([{ outcome: 'CREATED', user: parked }]);
    const before = await asOwner<{ id: string }>(
      tenant,
      'select max(id) as id from audit.changes where $1::uuid is not null',
    );
    const last = await asOwner<{ id: string }>(
      tenant,
      'select max(id) as id from feed.changes where $1::uuid is not null',
    );

    const swapped = await sync([
      { externalIdentifier: 'a', email: 'b@acme.test' },
      { externalIdentifier: 'b', email: 'C@acme.test' },
      { externalIdentifier: 'c', email: 'a@acme.test' },
      { externalIdentifier: 'ada', email: parked.email.toUpperCase() },
    ]);

    expect(swapped.map(({ outcome, user }) => [outcome, user?.email])).toEqual([
      ['UPDATED', 'b@acme.test'],
      ['UPDATED', 'C@acme.test'],
      ['UPDATED', 'a@acme.test'],
      ['UPDATED', parked.email.toUpperCase()],
    ]);
    const history = await asOwner(
      tenant,
      `select c.before ->> 'email' as before, c.after ->> 'email' as after, c.columns from audit.changes c
       where c.organization_id = $1 and c.id > ${before[0]?.id} order by 1`,
    );
    expect(history).toEqual([
      { before: parked.email, after: parked.email.toUpperCase(), columns: ['email'] },
      { before: 'a@acme.test', after: 'b@acme.test', columns: ['email'] },
      { before: 'b@acme.test', after: 'C@acme.test', columns: ['email'] },
      { before: 'c@acme.test', after: 'a@acme.test', columns: ['email'] },
    ]);
    const feed = await asOwner(
      tenant,
      `select c.operation, c.columns from feed.changes c where c.organization_id = $1 and c.id > ${last[0]?.id}`,
    );
    expect(feed).toEqual(Array(4).fill({ operation: 'UPDATE', columns: ['email'] }));
  });

  it('leaves an address that is taken to a mutation by itself: CONFLICT, at once', async () => {
    await sync([ada, bob]);
    const query = `mutation {
      first: userUpdate(externalIdentifier: "ada", email: "BOB@acme.test") { user { email } }
      second: userUpdate(externalIdentifier: "bob", email: "free@acme.test") { user { email } }
      third: userUpdate(externalIdentifier: "ada", email: "bob@acme.test") { user { email } } }`;

    const { body } = await ask(graph, tenant.app, query);

    expect(body).toMatchObject({
      data: { first: null, second: { user: { email: 'free@acme.test' } }, third: { user: { email: 'bob@acme.test' } } },
      errors: [{ path: ['first'], extensions: { code: 'CONFLICT', argument: 'email' } }],
    });
  });

  it('creates a user anew whom another change deletes meanwhile, if the row has all that it needs', async () => {
    await sync([ada, bob]);
    const client = await tenant.owner.connect();
    try {
      await client.query('begin');
      await client.query('delete from app_public.users where organization_id = $1', [tenant.organizationId]);
      const syncing = sync([
        { ...ada, fullName: 'Ada Lovelace' },
        { externalIdentifier: 'bob', fullName: 'Bob Kahn' },
      ]);
      await untilBlocked(tenant.owner);
      await client.query('commit');

      expect((await syncing).map(({ outcome, error }) => [outcome, error?.argument])).toEqual([
        ['CREATED', undefined],
        ['REFUSED', 'email'],
      ]);
    } finally {
      client.release();
    }
    expect(Object.keys(await rows())).toEqual(['ada']);
  });

  it('seals tokens, knows one that is the same, lets them change hands and clears them', async () => {
    const [one, other] = [newExternalToken(), newExternalToken()];
    const tokens = (first: string | null, second: string | null) => [
      { ...ada, externalAuthenticationToken: first },
      { ...bob, externalAuthenticationToken: second },
    ];
    const read = async (users: object[]) =>
      (await syncUsers(graph, tenant, users, false, 'externalAuthenticationToken')).map(({ outcome, user }) => [
        outcome,
        user?.externalAuthenticationToken,
      ]);

    expect(await read(tokens(one, other))).toEqual([
      ['CREATED', one],
      ['CREATED', other],
    ]);
    const before = await rows();
    expect(await read(tokens(one, other))).toEqual([
      ['UNCHANGED', one],
      ['UNCHANGED', other],
    ]);
    expect(await rows()).toEqual(before);
    expect(await read(tokens(other, one))).toEqual([
      ['UPDATED', other],
      ['UPDATED', one],
    ]);
    expect(await read([ada, ...tokens(null, null).slice(1)])).toEqual([
      ['UNCHANGED', other],
      ['UPDATED', null],
    ]);
    expect(
      JSON.stringify(
        await asOwner(tenant, 'select to_jsonb(u) as u from app_public.users u where organization_id = $1'),
      ),
    ).not.toContain(other);
  });
});
