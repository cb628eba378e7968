import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { StatementUse } from '../../src/token/transaction.ts';
import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  expectErrors,
  type GraphTest,
  read,
  type Tenant,
} from './support.ts';
import { ada, asOwner, bob, syncUsers, untilBlocked, userRows } from './sync.ts';

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
    const note = (use: unknown) => void texts.push((use as StatementUse).text);
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

const result = (externalIdentifier: string, outcome: string) => ({ externalIdentifier, outcome, error: null });
