import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Use } from '../../src/token/uses.ts';
import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  expectErrors,
  type GraphTest,
  newExternalToken,
  read,
  type Tenant,
} from './support.ts';
import { asOwner, type SyncResult, syncUsers, untilBlocked } from './sync.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

const sync = (users: object[], dryRun?: boolean) => syncUsers(graph, tenant, users, dryRun);
const [ada, bob] = [
  { externalIdentifier: 'ada', fullName: 'Ada', email: 'ada@acme.test' },
  { externalIdentifier: 'bob', fullName: 'Bob', email: 'bob@acme.test' },
];

describe('usersSync', () => {
  it('creates what is new, changes what differs, leaves the rest untouched, in the order of the rows', async () => {
    const created = await sync([bob, { ...ada, fullName: ' Ada ', locale: 'de', timeZone: 'Berlin' }]);

    expect(created).toEqual([
      { ...result('bob', 'CREATED'), user: { ...bob, locale: 'en', timeZone: 'UTC' } },
      { ...result('ada', 'CREATED'), user: { ...ada, locale: 'de', timeZone: 'Berlin' } },
    ]);
    const versions = await rows();
    const changed = await sync([{ externalIdentifier: 'ada', email: 'ADA@acme.test' }, bob]);
    expect(changed).toEqual([
      { ...result('ada', 'UPDATED'), user: { ...ada, email: 'ADA@acme.test', locale: 'de', timeZone: 'Berlin' } },
      { ...result('bob', 'UNCHANGED'), user: { ...bob, locale: 'en', timeZone: 'UTC' } },
    ]);
    expect((await rows()).bob).toEqual(versions.bob);
    expect((await rows()).ada?.xmin).not.toBe(versions.ada?.xmin);
  });

  it('reads outcomes and errors in its one statement', async () => {
    const query = `mutation($users: [UserSyncInput!]!) {
      usersSync(users: $users) { results { outcome error { code } } } }`;
    const texts: string[] = [];
    const note = (use: unknown) => void texts.push((use as Use).text);
    subscribe('statement:sent', note);
    const data = await read(graph, tenant.app, query, { users: [ada, { ...bob, email: 'ada@acme.test' }] });
    unsubscribe('statement:sent', note);

    const results = [
      { outcome: 'CREATED', error: null },
      { outcome: 'REFUSED', error: { code: 'CONFLICT' } },
    ];
    expect(data).toEqual({ usersSync: { results } });
    // On a slow machine the plan is asked for, too.
    const isAside = (text: string) => /verify_access_token|require_access_token|note_uses|^explain/i.test(text);
    expect(texts.filter((text) => !isAside(text))).toEqual([expect.stringContaining('users_sync')]);
  });

  it('writes nothing in a dry run, and says what would come of it', async () => {
    await sync([ada]);
    const before = await rows();
    const users = [
      { externalIdentifier: 'ada', fullName: 'Countess' },
      bob,
      { externalIdentifier: 'eve', fullName: 'Eve', email: 'bob@acme.test' },
    ];

    const results = await sync(users, true);

    expect(results.map(({ outcome }) => outcome)).toEqual(['UPDATED', 'CREATED', 'REFUSED']);
    expect(results.map(({ user }) => user?.fullName ?? null)).toEqual(['Ada', null, null]);
    expect(await rows()).toEqual(before);
    expect((await sync(users, false)).map(({ outcome }) => outcome)).toEqual(['UPDATED', 'CREATED', 'REFUSED']);
  });

  it('takes null for a dry run as no dry run', async () => {
    const query =
      'mutation($users: [UserSyncInput!]!) { usersSync(users: $users, dryRun: null) { results { outcome } } }';

    await read(graph, tenant.app, query, { users: [ada] });

    expect(Object.keys(await rows())).toEqual(['ada']);
  });

  it('refuses a row by itself, in the words of userCreate', async () => {
    await sync([ada]);
    const bad: [argument: string, value: string][] = [
      ['locale', 'german language'],
      ['timeZone', 'Brelin'],
      ['email', 'no address'],
      ['email', ADA],
      ['fullName', ' '],
      ['fullName', 'a\u0007b'],
      ['fullName', 'a'.repeat(201)],
      ['externalIdentifier', ''],
      ['externalIdentifier', 'a'.repeat(201)],
      ['externalAuthenticationToken', 'too short'],
    ];
    for (const [argument, value] of bad) {
      const row = { ...bob, externalIdentifier: 'bob', [argument]: value };

      const { errors } = await create(row);
      const [good, refused] = await sync([{ externalIdentifier: 'ada' }, row]);

      expect({ ...refused?.error }).toEqual({ ...told(errors?.[0]), argument });
      expect(refused?.outcome).toBe('REFUSED');
      expect(good?.outcome).toBe('UNCHANGED');
    }
    expect(Object.keys(await rows())).toEqual(['ada']);
    expect((await sync([bob]))[0]?.outcome).toBe('CREATED');
  });

  it('refuses null where userUpdate does, in its words, and takes it for absent in a new user', async () => {
    await sync([ada]);
    for (const argument of ['fullName', 'email', 'locale', 'timeZone']) {
      const query = `mutation { userUpdate(externalIdentifier: "ada", ${argument}: null) { user { id } } }`;
      const { body } = await ask(graph, tenant.app, query);

      const [refused] = await sync([{ externalIdentifier: 'ada', [argument]: null }]);

      expect(refused?.error).toEqual(told(body.errors?.[0]));
    }
    expect(await sync([{ ...bob, locale: null, timeZone: null, accessibleUnits: null }])).toMatchObject([
      { outcome: 'CREATED', user: { locale: 'en', timeZone: 'UTC' } },
    ]);
  });

  it('asks for the name and the address of a new user', async () => {
    const results = await sync([
      { externalIdentifier: 'ada', email: 'ada@acme.test' },
      { externalIdentifier: 'bob', fullName: 'Bob' },
    ]);

    expect(results.map(({ error }) => [error?.code, error?.argument])).toEqual([
      ['BAD_USER_INPUT', 'fullName'],
      ['BAD_USER_INPUT', 'email'],
    ]);
  });

  it('refuses the later of two rows of one user, one address or one token', async () => {
    const token = newExternalToken();

    const results = await sync([
      { ...ada, externalAuthenticationToken: token },
      { externalIdentifier: 'ada', fullName: 'Again' },
      { ...bob, email: 'ADA@acme.test' },
      { externalIdentifier: 'eve', fullName: 'Eve', email: 'eve@acme.test', externalAuthenticationToken: token },
    ]);

    expect(results.map(({ outcome, error }) => [outcome, error?.code, error?.argument])).toEqual([
      ['CREATED', undefined, undefined],
      ['REFUSED', 'CONFLICT', 'externalIdentifier'],
      ['REFUSED', 'CONFLICT', 'email'],
      ['REFUSED', 'CONFLICT', 'externalAuthenticationToken'],
    ]);
    expect(Object.keys(await rows())).toEqual(['ada']);
  });

  it('refuses no row for what a refused one wants', async () => {
    const token = newExternalToken();
    const named = (name: string) => ({ externalIdentifier: name, fullName: name, email: `${name}@acme.test` });

    const results = await sync([
      ada,
      { ...bob, email: ada.email, externalAuthenticationToken: token },
      { ...named('eve'), externalAuthenticationToken: token },
      { ...named('dan'), email: 'EVE@acme.test' },
      { ...named('fay'), externalAuthenticationToken: token },
    ]);

    expect(results.map(({ outcome, error }) => [outcome, error?.argument])).toEqual([
      ['CREATED', undefined],
      ['REFUSED', 'email'],
      ['CREATED', undefined],
      ['REFUSED', 'email'],
      ['REFUSED', 'externalAuthenticationToken'],
    ]);
    expect(Object.keys(await rows()).sort()).toEqual(['ada', 'eve']);
  });

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

  it('makes the grants exactly those that are given, and leaves them when none are', async () => {
    await createUnit(tenant, { externalIdentifier: 'north' });
    await createUnit(tenant, { externalIdentifier: 'south' });
    const grantsAfter = async (given: object) => {
      const [row] = await sync([{ ...ada, ...given }]);
      const units = await asOwner<{ name: string }>(
        tenant,
        `select u.external_identifier as name from app_hidden.unit_access a join app_public.units u on u.id = a.unit_id where a.organization_id = $1 order by 1`,
      );
      return [row?.outcome, row?.error?.code, ...units.map(({ name }) => name)];
    };

    expect(await grantsAfter({ accessibleUnits: ['north'] })).toEqual(['CREATED', undefined, 'north']);
    expect(await grantsAfter({})).toEqual(['UNCHANGED', undefined, 'north']);
    expect(await grantsAfter({ accessibleUnits: ['north', 'north'] })).toEqual(['UNCHANGED', undefined, 'north']);
    expect(await grantsAfter({ accessibleUnits: ['south', 'nowhere'] })).toEqual(['REFUSED', 'NOT_FOUND', 'north']);
    expect(await grantsAfter({ accessibleUnits: ['south'] })).toEqual(['UPDATED', undefined, 'south']);
    expect(await grantsAfter({ accessibleUnits: ['south', 'north'] })).toEqual([
      'UPDATED',
      undefined,
      'north',
      'south',
    ]);
    expect(await grantsAfter({ accessibleUnits: [] })).toEqual(['UPDATED', undefined]);
    expect(await grantsAfter({ accessibleUnits: ['north'] })).toEqual(['UPDATED', undefined, 'north']);
    expect(await grantsAfter({ accessibleUnits: null })).toEqual(['UPDATED', undefined]);
  });

  it('neither sees, changes nor tells apart what another organization has', async () => {
    const stranger = await createTenant(graph);
    const theirs = await createUser(stranger, {
      externalIdentifier: 'ada',
      email: 'ada@acme.test',
      fullName: 'Theirs',
    });
    await createUnit(stranger, { externalIdentifier: 'north' });
    const before = await asOwner(stranger, 'select u.xmin, u.* from app_public.users u where organization_id = $1');

    const results = await sync([
      { ...ada, accessibleUnits: ['north'] },
      { ...bob, accessibleUnits: ['nowhere'] },
      { ...ada, externalIdentifier: 'ada-2' },
    ]);

    const [foreign, unknown] = results.map(({ error }) => error);
    expect(foreign).toEqual(unknown);
    expect(foreign?.code).toBe('NOT_FOUND');
    expect(results[2]?.outcome).toBe('CREATED');
    expect(await asOwner(stranger, 'select u.xmin, u.* from app_public.users u where organization_id = $1')).toEqual(
      before,
    );
    expect(theirs.fullName).toBe('Theirs');
  });

  it('is for app tokens', async () => {
    const person = await createViewer(tenant, { externalIdentifier: 'eve' });
    const query = (users: string) => `mutation { usersSync(users: ${users}) { results { outcome } } }`;
    for (const token of [person.token, tenant.basic]) {
      for (const users of [
        '[{externalIdentifier: "eve", locale: "fr"}]',
        '[{externalIdentifier: "x", externalAuthenticationToken: "y"}]',
      ]) {
        expectErrors(
          await ask(graph, token, query(users)),
          { usersSync: null },
          { code: 'FORBIDDEN', path: ['usersSync'] },
        );
      }
    }
    expect(await asOwner(tenant, 'select locale from app_public.users where organization_id = $1')).toEqual([
      { locale: 'en' },
    ]);
  });

  it('has 1 to 1,000 rows', async () => {
    const query = 'mutation($users: [UserSyncInput!]!) { usersSync(users: $users) { results { outcome } } }';
    const users = Array.from({ length: 1001 }, (_, number) => ({ ...ada, externalIdentifier: `u-${number}` }));
    for (const wrong of [[], users]) {
      const refusal = { code: 'BAD_USER_INPUT', argument: 'users', path: ['usersSync'] };
      expectErrors(await ask(graph, tenant.app, query, { users: wrong }), { usersSync: null }, refusal);
    }
    expect(await rows()).toEqual({});
    const results = await sync(
      users.slice(1).map((user) => ({ ...user, email: `${user.externalIdentifier}@acme.test` })),
    );
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['CREATED']));
    expect(results).toHaveLength(1000);
  });

  it('lets several syncs of the same users go on at once', async () => {
    const users = Array.from({ length: 100 }, (_, number) => ({
      externalIdentifier: `u-${number}`,
      fullName: `User ${number}`,
      email: `u-${number}@acme.test`,
      externalAuthenticationToken: `token-of-user-number-${number}`,
    }));
    const turns = Array.from({ length: 8 }, (_, turn) => {
      const own = users.map((user) => ({ ...user, fullName: `${user.fullName} ${turn}` }));
      return turn % 2 ? own.reverse() : own;
    });

    const answers = await Promise.all(turns.map((turn) => sync(turn)));

    const refused = answers.flat().filter(({ outcome }) => outcome === 'REFUSED');
    expect(refused).toEqual([]);
    expect(answers.flat().filter(({ outcome }) => outcome === 'CREATED')).toHaveLength(100);
    expect(Object.keys(await rows())).toHaveLength(100);
  });

  it('refuses the row whose address another change takes meanwhile, and writes the others', async () => {
    const client = await tenant.owner.connect();
    try {
      await client.query('begin');
      await client.query(
        `insert into app_public.users (organization_id, external_identifier, full_name, email) values ($1, 'eve', 'Eve', 'ada@acme.test')`,
        [tenant.organizationId],
      );
      const syncing = sync([ada, bob]);
      await untilBlocked(tenant.owner);
      await client.query('commit');

      expect((await syncing).map(({ outcome }) => outcome)).toEqual(['REFUSED', 'CREATED']);
    } finally {
      client.release();
    }
  });
});

const ADA = 'ADA@acme.test';

const result = (externalIdentifier: string, outcome: string) => ({ externalIdentifier, outcome, error: null });

type Told = { message: string; extensions: { code: string; argument?: string } };

const told = (error: Told | undefined) => ({
  code: error?.extensions.code,
  argument: error?.extensions.argument,
  message: error?.message,
});

async function create(row: object) {
  const query = `mutation($fullName: String!, $email: String!, $locale: String, $timeZone: String, $externalIdentifier: String, $externalAuthenticationToken: String) {
    userCreate(fullName: $fullName, email: $email, locale: $locale, timeZone: $timeZone, externalIdentifier: $externalIdentifier, externalAuthenticationToken: $externalAuthenticationToken) { user { id } } }`;
  return (await ask(graph, tenant.app, query, { ...row })).body;
}

/** The users' rows with their versions, by external identifier. */
async function rows() {
  const found = await asOwner<NonNullable<SyncResult['user']> & { xmin: string; external_identifier: string }>(
    tenant,
    'select xmin, ctid, u.* from app_public.users u where organization_id = $1 order by external_identifier',
  );
  return Object.fromEntries(found.map((row) => [row.external_identifier, row]));
}
