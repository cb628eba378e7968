import { shareService } from '../../support/sharedService.ts';
import { type Mutate, mutating } from '../mutating.ts';
import { ask, createTenant, type GraphTest, globalId, newExternalToken, type Tenant } from '../support.ts';
import { asOwner, syncUnits, syncUsers } from '../sync.ts';
import { type Change, changesInShort, follow, inShort, present } from './feed.ts';

let graph: GraphTest;
let tenant: Tenant;
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  mutate = mutating(graph, tenant);
});

/** The id of what a mutation has written. */
async function write(field: string, args: object, payload: string): Promise<string> {
  const written = (await mutate(field, args, `${payload} { id }`)) as Record<string, { id: string } | undefined>;
  const { id } = written[payload] ?? {};
  if (id === undefined) throw new Error(`${field}: ${JSON.stringify(written)}`);
  return id;
}

/** The changes that one mutation adds to the feed. */
async function changesOf(field: string, args: object, payload: string): Promise<[id: string, changes: Change[]]> {
  const before = await present(graph, tenant);
  return [await write(field, args, payload), await follow(graph, tenant, before)];
}

const ada = { fullName: 'Ada', email: 'ada@acme.test', externalIdentifier: 'ada' };
const beacon = { name: 'Phone', proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', major: 0, minor: 1 };

describe('what is followed', () => {
  it.each<[string, string, object, string, string]>([
    ['User', 'userCreate', ada, 'user', 'userDelete'],
    ['Unit', 'unitCreate', { name: 'HQ' }, 'unit', 'unitDelete'],
    ['BeaconCard', 'beaconCardCreate', beacon, 'card', 'cardDelete'],
    ['NfcCard', 'nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }, 'card', 'cardDelete'],
    ['IdentificationCode', 'identificationCodeCreate', { name: 'PIN' }, 'card', 'cardDelete'],
  ])('%s: created, and deleted', async (typeName, create, args, payload, remove) => {
    const before = await present(graph, tenant);
    const [id, created] = await changesOf(create, args, payload);

    expect(created).toEqual([
      {
        ...{ operation: 'CREATE', typeName, id, fields: [], relatedIds: [], node: { __typename: typeName, id } },
        ...{ cursor: expect.any(String), at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+00:00$/) },
      },
    ]);
    const [, deleted] = await changesOf(remove, { id }, payload);
    expect(deleted).toMatchObject([{ operation: 'DELETE', typeName, id, fields: [], node: null }]);
    // The object is gone, also in the change that created it.
    expect(await follow(graph, tenant, before)).toMatchObject([
      { operation: 'CREATE', id, node: null },
      { operation: 'DELETE', id, node: null },
    ]);
  });

  it('a card that is assigned, and no longer', async () => {
    await write('userCreate', ada, 'user');
    const cardId = await write('identificationCodeCreate', { name: 'PIN' }, 'card');
    const pair = { cardId, userExternalIdentifier: 'ada' };

    const [id, created] = await changesOf('cardAssign', pair, 'cardAssignment');
    expect(created).toMatchObject([{ operation: 'CREATE', typeName: 'CardAssignment', id, node: { id } }]);
    // Again: it is the same assignment.
    expect((await changesOf('cardAssign', pair, 'cardAssignment'))[1]).toEqual([]);
    const [, deleted] = await changesOf('cardUnassign', { id }, 'cardAssignment');
    expect(deleted).toMatchObject([{ operation: 'DELETE', typeName: 'CardAssignment', id, node: null }]);
  });

  it('access that is granted, and revoked, and granted again', async () => {
    const userId = await write('userCreate', ada, 'user');
    const unitId = await write('unitCreate', { name: 'HQ' }, 'unit');

    const [id, created] = await changesOf('accessGrant', { userId, unitId }, 'accessGrant');
    expect(created).toMatchObject([{ operation: 'CREATE', typeName: 'AccessGrant', id, node: { id } }]);
    expect((await changesOf('accessGrant', { userId, unitId }, 'accessGrant'))[1]).toEqual([]);
    const [, deleted] = await changesOf('accessRevoke', { id }, 'accessGrant');
    expect(deleted).toMatchObject([{ operation: 'DELETE', typeName: 'AccessGrant', id, node: null }]);
    const [again, createdAgain] = await changesOf('accessGrant', { userId, unitId }, 'accessGrant');
    expect(createdAgain).toMatchObject([{ operation: 'CREATE', id: again, node: { id: again } }]);
    expect(again).not.toBe(id);
  });
});

describe('an update names the fields that changed', () => {
  it.each<[object, string[]]>([
    [{ fullName: 'Ada King' }, ['fullName']],
    [{ fullName: 'Ada' }, []],
    [{ timeZone: 'Berlin', locale: 'de', email: 'king@acme.test' }, ['email', 'locale', 'timeZone']],
    [{ externalAuthenticationToken: 'sixteen-characters-or-more' }, ['externalAuthenticationToken']],
    [{ externalIdentifier: null }, ['externalIdentifier']],
  ])('of a user: %j', async (args, fields) => {
    const id = await write('userCreate', ada, 'user');

    const [, changes] = await changesOf('userUpdate', { id, ...args }, 'user');

    expect(changes).toMatchObject(
      fields.length === 0 ? [] : [{ operation: 'UPDATE', typeName: 'User', id, fields, node: { id } }],
    );
  });

  it('of a user with a token: that it is another one, and that it is gone, and never the token', async () => {
    const externalAuthenticationToken = newExternalToken();
    const id = await write('userCreate', { ...ada, externalAuthenticationToken }, 'user');
    const next = newExternalToken();

    const ciphertext = () =>
      asOwner(
        tenant,
        'select external_authentication_token_ciphertext from app_public.users where organization_id = $1',
      );

    for (const [token, told] of [
      [next, ['UPDATE User externalAuthenticationToken']],
      [next, []],
      [null, ['UPDATE User externalAuthenticationToken']],
    ] as const) {
      const before = await ciphertext();
      const [, changes] = await changesOf('userUpdate', { id, externalAuthenticationToken: token }, 'user');
      expect(changes.map(inShort)).toEqual(told);
      // The same token is sealed again, too.
      expect(await ciphertext()).not.toEqual(before);
    }

    const { rows } = await tenant.owner.query('select c::text as row from feed.changes c where organization_id = $1', [
      tenant.organizationId,
    ]);
    expect(rows.length).toBe(3);
    for (const { row } of rows) expect(row).not.toMatch(new RegExp(`${externalAuthenticationToken}|${next}`));
  });

  it('of a card and a unit', async () => {
    const card = await write('nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }, 'card');
    const unit = await write('unitCreate', { name: 'HQ' }, 'unit');

    const [, ofCard] = await changesOf('cardUpdate', { id: card, name: 'B', externalIdentifier: 'b' }, 'card');
    const [, ofUnit] = await changesOf('unitUpdate', { id: unit, name: 'H', externalIdentifier: 'h' }, 'unit');

    expect(ofCard.map(inShort)).toEqual(['UPDATE NfcCard externalIdentifier name']);
    expect(ofUnit.map(inShort)).toEqual(['UPDATE Unit externalIdentifier name']);
    for (const [field, args, payload] of [
      ['cardUpdate', { id: card, name: 'B' }, 'card'],
      ['unitUpdate', { id: unit, name: 'H' }, 'unit'],
    ] as const)
      expect((await changesOf(field, args, payload))[1]).toEqual([]);
  });

  it('of a unit that moves: one change, of that unit, whatever is below it', async () => {
    await syncUnits(graph, tenant, [
      ...['a', 'b'].map((name) => ({ externalIdentifier: name, name, parentExternalIdentifier: null })),
      ...['c', 'd', 'e'].map((name) => ({ externalIdentifier: name, name, parentExternalIdentifier: 'a' })),
      { externalIdentifier: 'f', name: 'f', parentExternalIdentifier: 'e' },
    ]);
    const paths = () =>
      asOwner(tenant, 'select array_length(ancestor_ids, 1) as depth from app_public.units where organization_id = $1');
    const before = await paths();

    const [id, changes] = await changesOf(
      'unitUpdate',
      { externalIdentifier: 'a', parentExternalIdentifier: 'b' },
      'unit',
    );

    expect(changes).toMatchObject([{ operation: 'UPDATE', typeName: 'Unit', id, fields: ['parent'] }]);
    // Rows of those below did change.
    expect(await paths()).not.toEqual(before);
  });
});

describe('what goes along is changesInShort, too', () => {
  it('the assignments of a card', async () => {
    await write('userCreate', ada, 'user');
    const cardId = await write('identificationCodeCreate', { name: 'PIN' }, 'card');
    const assignment = await write('cardAssign', { cardId, userExternalIdentifier: 'ada' }, 'cardAssignment');

    const [id, changes] = await changesOf('cardDelete', { id: cardId }, 'card');

    expect(changes.map(inShort).sort()).toEqual(['DELETE CardAssignment', 'DELETE IdentificationCode']);
    expect(new Set(changes.map((change) => change.id))).toEqual(new Set([id, assignment]));
  });

  it('the units below a unit, and their grants', async () => {
    const userId = await write('userCreate', ada, 'user');
    const parentId = await write('unitCreate', { name: 'HQ' }, 'unit');
    const unitId = await write('unitCreate', { name: 'Floor', parentId }, 'unit');
    await write('accessGrant', { userId, unitId }, 'accessGrant');

    const [, changes] = await changesOf('unitDelete', { id: parentId, withDescendants: true }, 'unit');

    expect(changes.map(inShort).sort()).toEqual(['DELETE AccessGrant', 'DELETE Unit', 'DELETE Unit']);
    expect(changes.map(({ node }) => node)).toEqual([null, null, null]);
  });

  it('the assignments and grants of a user', async () => {
    const userId = await write('userCreate', ada, 'user');
    const unitId = await write('unitCreate', { name: 'HQ' }, 'unit');
    const cardId = await write('identificationCodeCreate', { name: 'PIN' }, 'card');
    await write('accessGrant', { userId, unitId }, 'accessGrant');
    await write('cardAssign', { userId, cardId }, 'cardAssignment');

    const [, changes] = await changesOf('userDelete', { id: userId }, 'user');

    expect(changes.map(inShort).sort()).toEqual(['DELETE AccessGrant', 'DELETE CardAssignment', 'DELETE User']);
  });
});

describe('syncs', () => {
  it('tell of the users and grants that they write, and of nothing that stays', async () => {
    await write('unitCreate', { name: 'HQ', externalIdentifier: 'hq' }, 'unit');
    const users = [
      { ...ada, accessibleUnits: ['hq'] },
      { externalIdentifier: 'grace', fullName: 'Grace', email: 'grace@acme.test' },
    ];
    const [begin, sync] = [
      await present(graph, tenant),
      (list: object[], dry = false) => syncUsers(graph, tenant, list, dry),
    ];

    await sync(users, true);
    expect(await changesInShort(graph, tenant, begin)).toEqual([]);
    await sync(users);
    expect((await changesInShort(graph, tenant, begin)).sort()).toEqual([
      'CREATE AccessGrant',
      'CREATE User',
      'CREATE User',
    ]);
    const then = await present(graph, tenant);
    await sync(users);
    expect(await changesInShort(graph, tenant, then)).toEqual([]);
    await sync([
      { externalIdentifier: 'ada', locale: 'de', accessibleUnits: [] },
      { externalIdentifier: 'grace', email: 'no' },
    ]);
    expect((await changesInShort(graph, tenant, then)).sort()).toEqual(['DELETE AccessGrant', 'UPDATE User locale']);
  });

  it('tell of units, of a move as one change, and of a refused one nothing', async () => {
    const begin = await present(graph, tenant);
    const row = (name: string, parent: string | null) => ({
      externalIdentifier: name,
      name,
      parentExternalIdentifier: parent,
    });

    await syncUnits(graph, tenant, [row('b', 'a'), row('a', null), row('c', 'b'), row('x', 'nowhere')]);
    expect(await changesInShort(graph, tenant, begin)).toEqual(['CREATE Unit', 'CREATE Unit', 'CREATE Unit']);
    const then = await present(graph, tenant);
    await syncUnits(graph, tenant, [row('b', null), row('a', null), row('c', 'b')]);
    expect(await changesInShort(graph, tenant, then)).toEqual(['UPDATE Unit parent']);
  });
});

test('a mutation that is refused, or fails as a whole, is in no change', async () => {
  const id = await write('userCreate', ada, 'user');
  await write('unitCreate', { name: 'HQ', externalIdentifier: 'hq' }, 'unit');
  const before = await present(graph, tenant);

  expect(await mutate('userCreate', ada, 'user { id }')).toHaveProperty('code', 'CONFLICT');
  expect(await mutate('userUpdate', { id, email: '@' }, 'user { id }')).toHaveProperty('code', 'BAD_USER_INPUT');
  expect(await mutate('userDelete', { id: globalId('User', tenant.organizationId) }, 'user { id }')).toEqual({
    code: 'NOT_FOUND',
  });
  const { body } = await ask(
    graph,
    tenant.app,
    'mutation { a: userUpdate(externalIdentifier: "ada", locale: "de") { user { id } } b: userUpdate(externalIdentifier: "ada", locale: "") { user { id } } }',
  );
  expect(body.errors).toHaveLength(1);

  // Each mutation field is a transaction: the feed has the one that succeeded.
  expect(await changesInShort(graph, tenant, before)).toEqual(['UPDATE User locale']);
});

test('what is rolled back is in no change, and what is committed is', async () => {
  const insert = (name: string) =>
    `insert into app_public.units (organization_id, name) values ('${tenant.organizationId}', '${name}')`;

  await tenant.owner.query(`begin; ${insert('A')}; rollback`);
  expect(await changesInShort(graph, tenant)).toEqual([]);
  await tenant.owner.query(`begin; ${insert('A')}; savepoint s; ${insert('B')}; rollback to s; commit`);
  expect(await changesInShort(graph, tenant)).toEqual(['CREATE Unit']);
});
