import { shareService } from '../support/sharedService.ts';
import { until } from '../support/until.ts';
import { seenBy } from './grants.ts';
import { type Mutate, mutating } from './mutating.ts';
import {
  ask,
  createTenant,
  createUnit,
  createViewer,
  type GraphTest,
  globalId,
  read,
  type Tenant,
  type TestUnit,
  type TestUser,
} from './support.ts';

// When a grant that has a time or a source gives access, whatever has written it.

let graph: GraphTest;
let tenant: Tenant;
let ada: TestUser & { token: string };
let [floor, room]: TestUnit[] = [];
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  ada = await createViewer(tenant, { fullName: 'Ada', externalIdentifier: 'ada' });
  floor = await createUnit(tenant, { name: 'Floor', externalIdentifier: 'floor' });
  room = await createUnit(tenant, { name: 'Room', parent: floor });
  mutate = mutating(graph, tenant);
});

const grant = 'accessGrant { id user { fullName } unit { name } createdAt }';
const seen = () => seenBy(graph, ada.token);

describe('a grant that has a time or a source', () => {
  const give = async (unit: TestUnit | undefined, source: string | null, from: string, end: string) => {
    const { rows } = await tenant.owner.query<{ id: string }>(
      `insert into app_hidden.unit_access (organization_id, user_id, unit_id, source, valid_from, valid_until)
       values ($1, $2, $3, $4, ${from}, ${end}) returning id`,
      [tenant.organizationId, ada.uuid, unit?.uuid, source],
    );
    return globalId('AccessGrant', String(rows[0]?.id));
  };
  const names = ({ nodes }: { nodes: { name: string }[] }) => nodes.map(({ name }) => name);
  /** Every way by which the graph shows who may enter. */
  const everywhere = async () => {
    const asked = `accessibleUnits { nodes { name } totalCount } byName: accessibleUnits(orderBy: NAME_ASC) { nodes { name } }`;
    const unit = 'node(id: $room) { ... on Unit { name usersWithAccess { totalCount nodes { fullName } } } }';
    const variables = { room: room?.id, ada: ada.id };
    type Units = { nodes: { name: string }[]; totalCount: number };
    type Answer = {
      person: { accessibleUnits: Units; byName: Units };
      node: { usersWithAccess: { totalCount: number; nodes: { fullName: string }[] } } | null;
    };
    const person = await read<Answer>(graph, ada.token, `query($room: ID!) { person: viewer { ${asked} } ${unit} }`, {
      room: room?.id,
    });
    const app = await read<Answer>(
      graph,
      tenant.app,
      `query($room: ID!, $ada: ID!) { person: node(id: $ada) { ... on User { ${asked} } } ${unit} }`,
      variables,
    );
    expect(app.person).toEqual(person.person);
    expect(names(person.person.byName).sort()).toEqual(names(person.person.accessibleUnits).sort());
    expect(person.person.accessibleUnits.totalCount).toBe(person.person.accessibleUnits.nodes.length);
    expect(person.node === null).toBe(app.node?.usersWithAccess.totalCount === 0);
    expect(person.node?.usersWithAccess ?? { nodes: [], totalCount: 0 }).toEqual(app.node?.usersWithAccess);
    return names(person.person.accessibleUnits);
  };
  type Grants = { person: { accessGrants: { nodes: { id: string }[] } } };
  const listed = 'accessGrants { nodes { id unit { name } } }';
  const grants = async () => {
    const query = `query($id: ID!) { person: node(id: $id) { ... on User { ${listed} } } }`;
    return (await read<Grants>(graph, tenant.app, query, { id: ada.id })).person.accessGrants.nodes;
  };
  const ownGrants = async () =>
    (await read<Grants>(graph, ada.token, `{ person: viewer { ${listed} } }`)).person.accessGrants.nodes;

  it.each([
    ['null', 'null', true],
    [`'-infinity'`, `'infinity'`, true],
    [`now() - interval '1 day'`, 'null', true],
    ['null', `now() + interval '1 day'`, true],
    [`now() - interval '1 day'`, `now() + interval '1 day'`, true],
    [`now() + interval '1 day'`, 'null', false],
    ['null', `now() - interval '1 day'`, false],
    [`now() - interval '2 days'`, `now() - interval '1 day'`, false],
    [`now() + interval '1 day'`, `now() + interval '2 days'`, false],
  ])('from %s to %s gives access: %s', async (from, end, isValid) => {
    const id = await give(floor, 'hr', from, end);

    expect(await everywhere()).toEqual(isValid ? ['Floor', 'Room'] : []);

    // It can be read, in the list and by itself: by the person as long as its unit can be.
    expect(await grants()).toEqual([{ id, unit: { name: 'Floor' } }]);
    expect(await ownGrants()).toEqual(isValid ? await grants() : []);
    const query = 'query($id: ID!) { node(id: $id) { ... on AccessGrant { id unit { name } user { fullName } } } }';
    expect(await read(graph, tenant.app, query, { id })).toEqual({
      node: { id, unit: { name: 'Floor' }, user: { fullName: 'Ada' } },
    });
  });

  it('begins and ends by itself', async () => {
    await give(floor, null, `clock_timestamp() + interval '1 second'`, `clock_timestamp() + interval '2 seconds'`);
    expect(await everywhere()).toEqual([]);

    await until(async () => (await seen()).length === 2);
    await until(async () => (await seen()).length === 0);

    expect(await everywhere()).toEqual([]);
  });

  it('gives access as long as one of several does, each unit once', async () => {
    await give(floor, 'hr', 'null', `now() - interval '1 day'`);
    await give(floor, 'HR', 'null', 'null');
    const last = await give(floor, null, 'null', 'null');
    expect(await everywhere()).toEqual(['Floor', 'Room']);

    expect(await mutate('accessRevoke', { id: last }, 'accessGrant { id }')).toEqual({ accessGrant: { id: last } });
    expect(await everywhere()).toEqual(['Floor', 'Room']);
    await tenant.owner.query(
      `update app_hidden.unit_access set valid_until = now() where organization_id = $1 and source = 'HR'`,
      [tenant.organizationId],
    );
    expect(await everywhere()).toEqual([]);
  });

  it('of a source is no other than that given by hand, which mutations mean', async () => {
    const pair = { userId: ada.id, unitId: floor?.id };
    const ofHr = await give(floor, 'hr', 'null', 'null');

    expect(await mutate('accessRevoke', pair, grant)).toEqual({ code: 'NOT_FOUND' });
    const made = await mutate('accessGrant', pair, 'accessGrant { id }');
    expect(made).not.toEqual({ accessGrant: { id: ofHr } });
    expect(await mutate('accessGrant', pair, 'accessGrant { id }')).toEqual(made);
    expect(await grants()).toHaveLength(2);
    expect(await mutate('accessRevoke', pair, 'accessGrant { id }')).toEqual(made);
    expect((await grants()).map(({ id }) => id)).toEqual([ofHr]);
    expect(await mutate('accessRevoke', { id: ofHr }, 'accessGrant { id }')).toEqual({ accessGrant: { id: ofHr } });
  });

  it('stays as it is in a sync of users, which makes those given by hand what it says, without a time', async () => {
    const ofHr = await give(floor, 'hr', 'null', `now() + interval '1 day'`);
    const sync = async (accessibleUnits: string[]) => {
      const users = `[{ externalIdentifier: "ada", accessibleUnits: ${JSON.stringify(accessibleUnits)} }]`;
      const { body } = await ask(graph, tenant.app, `mutation { usersSync(users: ${users}) { results { outcome } } }`);
      return (body as { data: { usersSync: { results: { outcome: string }[] } } }).data.usersSync.results[0]?.outcome;
    };

    expect(await sync([])).toBe('UNCHANGED');
    expect(await sync(['floor'])).toBe('UPDATED');
    expect(await sync(['floor'])).toBe('UNCHANGED');
    await tenant.owner.query(
      `update app_hidden.unit_access set valid_until = now() where organization_id = $1 and source is null`,
      [tenant.organizationId],
    );
    expect(await sync(['floor'])).toBe('UPDATED');
    const { rows } = await tenant.owner.query(
      `select source, valid_until is null as forever from app_hidden.unit_access where organization_id = $1 order by source`,
      [tenant.organizationId],
    );
    expect(rows).toEqual([
      { source: 'hr', forever: false },
      { source: null, forever: true },
    ]);
    expect(await sync([])).toBe('UPDATED');
    expect((await grants()).map(({ id }) => id)).toEqual([ofHr]);
  });

  it('is one of a user, a unit and a source', async () => {
    for (const source of [null, 'hr', 'HR', 'x'.repeat(200)]) {
      await give(floor, source, 'null', 'null');
      await expect(give(floor, source, 'null', `now()`)).rejects.toMatchObject({
        constraint: 'unit_access_user_id_unit_id_source_key',
      });
    }
    for (const source of ['', 'x'.repeat(201)])
      await expect(give(floor, source, 'null', 'null')).rejects.toMatchObject({
        constraint: 'unit_access_source_length',
      });
    for (const end of ['now()', `now() - interval '1 second'`])
      await expect(give(room, 'hr', 'now()', end)).rejects.toMatchObject({ constraint: 'unit_access_validity' });
    expect(await grants()).toHaveLength(4);
  });
});
