import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createCard,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  expectErrors,
  expectRefused,
  type GraphTest,
  grantAccess,
  read,
  type Tenant,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

const userDelete = (args: string, fields = 'id') => `mutation { userDelete(${args}) { user { ${fields} } } }`;

const userUpdate = (args: string) => `mutation { userUpdate(${args}) { user { id } } }`;

const expectRefusal = async (args: string, code: string, argument?: string) =>
  expectErrors(
    await ask(graph, tenant.app, userDelete(args)),
    { userDelete: null },
    { code, ...(argument && { argument }), path: ['userDelete'] },
  );

test('userDelete by id returns the user as it was, without cards', async () => {
  const user = await createUser(tenant, {
    fullName: 'Ada Lovelace',
    email: 'ada@acme.test',
    locale: 'de',
    timeZone: 'Berlin',
    externalIdentifier: 'u-1',
    externalAuthenticationToken: 'sixteen-characters-or-more',
  });
  await createCard(tenant, user, { type: 'IdentificationCode', name: 'PIN' });

  const data = await read(
    graph,
    tenant.app,
    userDelete(
      `id: "${user.id}"`,
      'id fullName email locale timeZone externalIdentifier externalAuthenticationToken cardAssignments { id }',
    ),
  );

  expect(data).toEqual({
    userDelete: {
      user: {
        id: user.id,
        fullName: 'Ada Lovelace',
        email: 'ada@acme.test',
        locale: 'de',
        timeZone: 'Berlin',
        externalIdentifier: 'u-1',
        externalAuthenticationToken: 'sixteen-characters-or-more',
        cardAssignments: [],
      },
    },
  });
  expect(await read(graph, tenant.app, `{ node(id: "${user.id}") { id } }`)).toEqual({ node: null });
  await expectRefusal(`id: "${user.id}"`, 'NOT_FOUND');
});

test('userDelete by external identifier, compared exactly', async () => {
  const user = await createUser(tenant, { externalIdentifier: ' Exact ' });

  await expectRefusal('externalIdentifier: "Exact"', 'NOT_FOUND');
  await expectRefusal('externalIdentifier: " exact "', 'NOT_FOUND');
  expect(await read(graph, tenant.app, userDelete('externalIdentifier: " Exact "'))).toEqual({
    userDelete: { user: { id: user.id } },
  });
  await expectRefusal('externalIdentifier: " Exact "', 'NOT_FOUND');
});

test('userDelete takes exactly one of the two, where null is none', async () => {
  const user = await createUser(tenant, { externalIdentifier: 'one-of-two' });
  const both = `id: "${user.id}", externalIdentifier: "one-of-two"`;

  await expectRefusal(both, 'BAD_USER_INPUT', 'id');
  await expectRefusal('id: null', 'BAD_USER_INPUT', 'id');
  await expectRefusal('id: null, externalIdentifier: null', 'BAD_USER_INPUT', 'id');
  expectErrors(
    await ask(graph, tenant.app, 'mutation { userDelete { user { id } } }'),
    { userDelete: null },
    { code: 'BAD_USER_INPUT', argument: 'id', path: ['userDelete'] },
  );
  expect(await read(graph, tenant.app, userDelete(`id: "${user.id}", externalIdentifier: null`))).toEqual({
    userDelete: { user: { id: user.id } },
  });
});

test('userDelete takes only ids and identifiers of users', async () => {
  const unit = await createUnit(tenant, { externalIdentifier: 'a-unit' });

  for (const id of ['', 'garbage']) await expectRefusal(`id: "${id}"`, 'BAD_USER_INPUT', 'id');
  await expectRefusal(`id: "${unit.id}"`, 'NOT_FOUND');
  await expectRefusal('externalIdentifier: "a-unit"', 'NOT_FOUND');
  const query = 'mutation($name: String) { userDelete(externalIdentifier: $name) { user { id } } }';
  for (const name of ['\0', 'half \ud83d pair'])
    expectErrors(
      await ask(graph, tenant.app, query, { name }),
      { userDelete: null },
      { code: 'BAD_USER_INPUT', argument: 'externalIdentifier', path: ['userDelete'] },
    );
});

test('userDelete deletes no user of another organization, and does not tell that there is one', async () => {
  const other = await createTenant(graph);
  const user = await createUser(other, { externalIdentifier: 'foreign' });

  await expectRefusal(`id: "${user.id}"`, 'NOT_FOUND');
  await expectRefusal('externalIdentifier: "foreign"', 'NOT_FOUND');

  expect(await read(graph, other.app, userDelete('externalIdentifier: "foreign"'))).toEqual({
    userDelete: { user: { id: user.id } },
  });
});

test('userDelete and userUpdate tell that there is no such user from the plan of a large table, too', async () => {
  // With these, PostgreSQL looks for the organization first, and finds that the tenant has no user at all.
  await tenant.owner.query(
    `with o as (insert into app_hidden.organizations (name) select 'Large ' || gen_random_uuid() from generate_series(1, 500) returning id)
     insert into app_public.users (organization_id, full_name, email) select id, 'Somebody', 'somebody@large.test' from o`,
  );
  await tenant.owner.query('analyze app_public.users');
  const { app } = await createTenant(graph);

  for (const [name, mutation] of [
    ['userDelete', userDelete('externalIdentifier: "u-1"')],
    ['userUpdate', userUpdate('externalIdentifier: "u-1", locale: "de"')],
  ] as const)
    expectErrors(await ask(graph, app, mutation), { [name]: null }, { code: 'NOT_FOUND', path: [name] });
});

test('every token of a deleted user ends with the next request', async () => {
  const viewer = await createViewer(tenant);
  const query = '{ viewer { id } }';
  expect(await read(graph, viewer.token, query)).toEqual({ viewer: { id: viewer.id } });

  await read(graph, tenant.app, userDelete(`id: "${viewer.id}"`));

  expectRefused(await ask(graph, viewer.token, query), 401, { code: 'UNAUTHENTICATED' });
});

test('what belongs to the user goes, what others share stays', async () => {
  const [user, colleague] = [await createViewer(tenant), await createUser(tenant)];
  const unit = await createUnit(tenant);
  await grantAccess(tenant, user, unit);
  const shared = await createCard(tenant, user, { type: 'IdentificationCode', name: 'Shared' });
  const { owner, organizationId } = tenant;
  await owner.query(
    `insert into app_public.card_assignments (organization_id, user_id, card_id)
     select organization_id, $2, card_id from app_public.card_assignments where organization_id = $1 and user_id = $3`,
    [organizationId, colleague.uuid, user.uuid],
  );

  await read(graph, tenant.app, userDelete(`id: "${user.id}"`));

  expect(
    await read(
      graph,
      tenant.app,
      `{ assignment: node(id: "${shared.assignmentId}") { id } card: node(id: "${shared.cardId}") { id }
         colleague: node(id: "${colleague.id}") { ... on User { cardAssignments { card { id } } } }
         unit: node(id: "${unit.id}") { id } }`,
    ),
  ).toEqual({
    assignment: null,
    card: { id: shared.cardId },
    colleague: { cardAssignments: [{ card: { id: shared.cardId } }] },
    unit: { id: unit.id },
  });
  const { rows } = await owner.query(
    `select (select count(*) from oauth.grants where user_id = $1)::int as grants,
            (select count(*) from app_hidden.unit_access where user_id = $1)::int as access,
            (select count(*) from app_public.card_assignments where user_id = $1)::int as assignments`,
    [user.uuid],
  );
  expect(rows).toEqual([{ grants: 0, access: 0, assignments: 0 }]);
});
