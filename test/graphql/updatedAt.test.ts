import { shareService } from '../support/sharedService.ts';
import { createHeadquarters } from './headquarters.ts';
import { createCard, createTenant, createUser, type GraphTest, read } from './support.ts';

// The time of an object's last change.

let graph: GraphTest;
beforeAll(async () => {
  graph = await shareService();
});

test('updatedAt follows what is changed of an object itself, and nothing else', async () => {
  const { tenant, headquarters, floor, annex } = await createHeadquarters(graph);
  const times = async () => {
    const { app } = await read<{ app: { units: { nodes: { name: string; createdAt: string; updatedAt: string }[] } } }>(
      graph,
      tenant.app,
      '{ app { units { nodes { name createdAt updatedAt } } } }',
    );
    return app.units.nodes.filter(({ createdAt, updatedAt }) => createdAt !== updatedAt).map(({ name }) => name);
  };
  const set = (assignment: string, unit: { uuid: string }) =>
    tenant.owner.query(`update app_public.units set ${assignment} where id = $1`, [unit.uuid]);

  expect(await times()).toEqual([]);
  await set('name = name', headquarters);
  expect(await times()).toEqual([]);
  await set(`parent_id = '${annex.uuid}'`, floor);
  expect(await times()).toEqual(['Floor 1']);
  await set(`name = 'HQ'`, headquarters);
  expect(await times()).toEqual(['HQ', 'Floor 1']);
});

test('updatedAt of a card and of a user moves with what is changed, and with nothing else', async () => {
  const tenant = await createTenant(graph);
  const user = await createUser(tenant, {
    externalIdentifier: 'ada',
    externalAuthenticationToken: 'sixteen characters',
  });
  const kinds = [
    { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2' },
    { type: 'BeaconCard', name: 'Phone', proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', major: 1, minor: 2 },
    { type: 'IdentificationCode', name: 'Code' },
  ] as const;

  type Times = { createdAt: string; updatedAt: string };
  const write = async (mutation: string) => {
    const data = await read<Record<string, Record<string, Times>>>(graph, tenant.app, `mutation { ${mutation} }`);
    return Object.values(Object.values(data)[0] ?? {})[0] as Times;
  };
  const times = '{ createdAt updatedAt }';

  for (const kind of kinds) {
    const { cardId } = await createCard(tenant, user, kind);
    const same = await write(`cardUpdate(id: "${cardId}", name: "${kind.name}") { card ${times} }`);
    expect(same.updatedAt).toBe(same.createdAt);
    const changed = await write(`cardUpdate(id: "${cardId}", name: "Other") { card ${times} }`);
    expect(changed.updatedAt > changed.createdAt).toBe(true);
    expect(changed.createdAt).toBe(same.createdAt);
  }
  const update = (token: string) =>
    write(`userUpdate(externalIdentifier: "ada", externalAuthenticationToken: "${token}") { user ${times} }`);
  const same = await update('sixteen characters');
  expect(same.updatedAt).toBe(same.createdAt);
  const changed = await update('another of sixteen');
  expect(changed.updatedAt > changed.createdAt).toBe(true);
});
