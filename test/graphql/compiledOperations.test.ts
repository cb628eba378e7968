import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  grantAccess,
  newExternalToken,
  read,
  type Tenant,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

/** How often plans were compiled, and compiled runs failed, while `work` ran. */
async function counted(work: () => Promise<unknown>) {
  const seen = { compiled: 0, failedRuns: 0 };
  const onCompiled = () => void seen.compiled++;
  const onFailedRun = () => void seen.failedRuns++;
  subscribe('grafast-compile:compiled', onCompiled);
  subscribe('grafast-compile:failed run', onFailedRun);
  await work();
  unsubscribe('grafast-compile:compiled', onCompiled);
  unsubscribe('grafast-compile:failed run', onFailedRun);
  return seen;
}

test('an operation that is known is not compiled again, and requests at once get each their own values', async () => {
  const users = await Promise.all(
    Array.from({ length: 40 }, (_, index) => createUser(tenant, { fullName: `User ${index}` })),
  );
  const byId =
    'query Known($ids: [ID!], $first: Int) { app { users(ids: $ids, first: $first) { nodes { id fullName } totalCount } } }';

  const once = { ids: [users[0]?.id], first: 5 };
  const first = await counted(async () => {
    await read(graph, tenant.app, byId, once);
    await read(graph, tenant.app, byId, once);
  });
  expect(first.compiled).toBeGreaterThan(0);

  const seen = await counted(async () => {
    const answers = await Promise.all(
      users.map(({ id }, index) => read(graph, tenant.app, byId, { ids: [id], first: 1 + (index % 3) })),
    );
    expect(answers).toEqual(
      users.map(({ id }, index) => ({ app: { users: { nodes: [{ id, fullName: `User ${index}` }], totalCount: 1 } } })),
    );
  });

  expect(seen).toEqual({ compiled: 0, failedRuns: 0 });
});

test("a statement whose text refers to another one's row is run compiled", async () => {
  const viewer = await createViewer(tenant, { fullName: 'Grace Hopper' });
  const unit = await createUnit(tenant, { name: 'Hall' });
  await grantAccess(tenant, viewer, unit);
  const units = '{ viewer { accessibleUnits(first: 20) { nodes { name } } } }';

  const seen = await counted(async () => {
    for (let n = 0; n < 2; n++)
      expect(await read(graph, viewer.token, units)).toEqual({
        viewer: { accessibleUnits: { nodes: [{ name: 'Hall' }] } },
      });
  });

  expect(seen.failedRuns).toBe(0);
});

test('an input object that the document writes, with variables in it, is run compiled', async () => {
  await createUnit(tenant, { name: 'Gate', externalIdentifier: 'gate' });
  const decisions = `query($user: String!, $uuid: UUID!) { app {
    user: accessDecision(unitExternalIdentifier: "gate", credential: { userExternalIdentifier: $user }) { reason }
    beacon: accessDecision(unitExternalIdentifier: "gate", credential: { beacon: { proximityUuid: $uuid, major: 1, minor: 2 } }) { reason }
  } }`;
  const variables = { user: 'nobody', uuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e' };
  await read(graph, tenant.app, decisions, variables);
  await read(graph, tenant.app, decisions, variables);
  await createUser(tenant, { fullName: 'Somebody', externalIdentifier: 'somebody' });

  const seen = await counted(async () => {
    const reasonsOf = async (user: string) => {
      const { app } = await read<{ app: Record<string, object> }>(graph, tenant.app, decisions, { ...variables, user });
      return app;
    };
    expect(await reasonsOf('nobody')).toEqual({ user: { reason: 'USER_UNKNOWN' }, beacon: { reason: 'CARD_UNKNOWN' } });
    expect(await reasonsOf('somebody')).toEqual({ user: { reason: 'NO_GRANT' }, beacon: { reason: 'CARD_UNKNOWN' } });
  });

  expect(seen).toEqual({ compiled: 0, failedRuns: 0 });
  const first = await counted(() => read(graph, tenant.app, `# another document\n${decisions}`, variables));
  expect(first.compiled).toBeGreaterThan(0);
});

test('each page of a walk by cursor has the rows behind its cursor', async () => {
  const walker = await createTenant(graph);
  const names = Array.from({ length: 7 }, (_, index) => `Walker ${index}`);
  for (const fullName of names) await createUser(walker, { fullName });
  const page =
    'query($after: Cursor) { app { users(first: 2, after: $after, orderBy: FULL_NAME_ASC) { nodes { fullName } pageInfo { endCursor hasNextPage } } } }';
  type Page = {
    app: { users: { nodes: { fullName: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } };
  };

  const found: string[] = [];
  for (let after: string | null = null, isMore = true; isMore; ) {
    const { nodes, pageInfo }: Page['app']['users'] = (await read<Page>(graph, walker.app, page, { after })).app.users;
    found.push(...nodes.map(({ fullName }) => fullName));
    after = pageInfo.endCursor;
    isMore = pageInfo.hasNextPage;
  }

  expect(found).toEqual(names);
});

test('a field of a mutation whose answer fails has changed nothing, each time, and says where it failed', async () => {
  const [broken, sound] = [
    await createUser(tenant, { externalAuthenticationToken: newExternalToken() }),
    await createUser(tenant, { externalAuthenticationToken: newExternalToken() }),
  ];
  const { owner } = graph.database;
  await owner.query(`update app_public.users set external_authentication_token_ciphertext = '\\x00' where id = $1`, [
    broken.uuid,
  ]);
  const rename = `mutation($broken: ID!, $sound: ID!, $name: String!) {
    one: userUpdate(id: $broken, fullName: $name) { user { fullName externalAuthenticationToken } }
    other: userUpdate(id: $sound, fullName: $name) { user { fullName } }
  }`;
  const names = ['First', 'Second', 'Third'];
  const seen = await counted(async () => {
    for (const name of names) {
      const answer = await ask(graph, tenant.app, rename, { broken: broken.id, sound: sound.id, name });
      expect(answer.body).toMatchObject({
        data: { one: null, other: { user: { fullName: name } } },
        errors: [{ path: ['one', 'user', 'externalAuthenticationToken'], extensions: { code: 'INTERNAL' } }],
      });
    }
  });

  expect(seen.failedRuns).toBe(names.length);
  const { rows: renamed } = await owner.query(
    `select key from feed.changes where organization_id = $1 and 'full_name' = any (columns)`,
    [tenant.organizationId],
  );
  expect(renamed).toEqual(names.map(() => ({ key: [sound.uuid] })));
  const third = await owner.query(
    `select id from app_public.users where organization_id = $1 and full_name = 'Third'`,
    [tenant.organizationId],
  );
  expect(third.rows).toEqual([{ id: sound.uuid }]);
});
