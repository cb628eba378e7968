import {
  ask as askOver,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  grantAccess,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { until } from '../support/until.ts';
import { line, openOf, startProving } from './prove/support.ts';
import { findingsHere, undone } from './support.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest();
  tenant = await createTenant(graph);
});
afterAll(() => graph.stop());
afterEach(() => record('app_public.users', 0));

const query = async (statement: string, ...values: unknown[]) =>
  (await graph.database.owner.query(statement, values)).rows;
const record = (table: string, share = 1) => query('select audit.record_reads($1, $2)', table, share);

/** What was recorded of the reading of a table since the last entry before. */
async function readsDuring(work: () => Promise<unknown>, table = 'app_public.users') {
  const [{ last }] = await query('select coalesce(max(id), 0) as last from audit.changes');
  await work();
  return query(
    `select * from audit.changes where id > $1 and relation = $2 and command = 'select' order by id`,
    last,
    table,
  );
}

const users = '{ app { users(first: 5) { nodes { id fullName cardAssignments { id } } } } }';

describe('audit.record_reads', () => {
  it('records who has read a table, when and in which request, once for each statement', async () => {
    for (let count = 0; count < 20; count += 1) await createUser(tenant);
    await record('app_public.users');

    let requestId: string | null = null;
    const reads = await readsDuring(async () => {
      const { headers } = await askOver(graph, tenant.app, users);
      requestId = headers.get('X-Request-Id');
    });

    expect(reads).toHaveLength(1);
    expect(reads[0]).toMatchObject({
      organization_id: tenant.organizationId,
      relation: 'app_public.users',
      command: 'select',
      role: 'graph_app',
      login: 'graph_authenticator',
      application_id: tenant.applicationId,
      user_id: null,
      request_id: requestId,
      before: null,
      after: { share: 1 },
    });
    expect(Date.now() - reads[0].occurred_at.getTime()).toBeLessThan(60_000);
  });

  it('names the person, and says what there was to see then', async () => {
    const viewer = await createViewer(tenant, { fullName: 'Grace' });
    const other = await createUser(tenant);
    await record('app_public.users');

    const [entry] = await readsDuring(() => read(graph, viewer.token, '{ viewer { fullName } }'));

    expect(entry).toMatchObject({ role: 'graph_user', user_id: viewer.uuid });
    const visible = await query(
      `select key from audit.visible_at('me:' || $1, $2) where relation = 'app_public.users'::regclass`,
      ...[viewer.uuid, entry.occurred_at],
    );
    expect(visible).toEqual([{ key: viewer.uuid }]);
    expect(await query('select from app_public.users where id = $1', other.uuid)).toHaveLength(1);
  });

  it('records the reading of several statements in one snapshot, and of a change that reads', async () => {
    await record('app_public.users');
    const twice = '{ app { users { totalCount } rootUnits { nodes { id } } } other: app { users { totalCount } } }';
    const change = 'mutation { userCreate(fullName: "Ada", email: "reads@acme.test") { user { id } } }';

    const reads = `select from audit.changes where command = 'select' and relation = 'app_public.users'`;
    const before = (await query(reads)).length;
    await read(graph, tenant.app, twice);
    // It commits while its answer is on its way.
    await until(async () => (await query(reads)).length > before);

    expect((await readsDuring(() => read(graph, tenant.app, change))).length).toBeGreaterThan(0);
  });

  it('records nothing of what is not chosen, nor what a statement does not read, nor after its end', async () => {
    await record('app_public.users');
    const units = '{ app { rootUnits { nodes { id name } } } }';

    expect(await readsDuring(() => read(graph, tenant.app, units))).toEqual([]);
    expect(await readsDuring(() => read(graph, tenant.app, users), 'app_public.cards')).toEqual([]);
    expect(await readsDuring(() => read(graph, tenant.app, users))).toHaveLength(1);
    await record('app_public.users', 0);
    expect(await readsDuring(() => read(graph, tenant.app, users))).toEqual([]);
  });

  it('records a share of the statements', async () => {
    await record('app_public.users', 0.3);
    const many = async () => {
      for (let count = 0; count < 200; count += 1) await read(graph, tenant.app, users);
    };

    const reads = await readsDuring(many);

    // Of 200, less than once in a million times.
    expect(reads.length).toBeGreaterThan(25);
    expect(reads.length).toBeLessThan(100);
    expect(reads[0]?.after).toEqual({ share: 0.3 });
  });

  it('hides no row and shows none', async () => {
    const other = await createTenant(graph);
    const [foreign, person] = [await createUser(other), await createViewer(tenant)];
    const unit = await createUnit(tenant);
    await grantAccess(tenant, person, unit);
    const counts = `select relation::text, rows from audit.visible($1)`;
    const of = async (principal: string) => query(counts, principal);
    const principals = [
      `app:client-${tenant.applicationId}`,
      `basic:client-${tenant.applicationId}`,
      `me:${person.uuid}`,
    ];
    const before = await Promise.all(principals.map(of));

    for (const table of ['app_public.users', 'app_public.units', 'app_hidden.unit_access']) await record(table);
    const after = await Promise.all(principals.map(of));
    const found = await read(
      graph,
      tenant.app,
      `{ node(id: "${foreign.id}") { id } own: node(id: "${person.id}") { id } }`,
    );
    const findings = await query(findingsHere);
    for (const table of ['app_public.units', 'app_hidden.unit_access']) await record(table, 0);

    expect(after).toEqual(before);
    expect(found).toEqual({ node: null, own: { id: person.id } });
    expect(findings).toEqual([]);
  });

  it('is proven to open nothing', async () => {
    await record('app_public.users');
    await record('app_public.units', 0.01);
    const proving = await startProving(graph.database);

    // What the other tables show does not change, and is proven in prove/prove.test.ts.
    const changed = ['app_public.users', 'app_public.units'];
    const judgements = await proving.judgeAfter('', { isAsked: ({ relation }) => changed.includes(relation) });
    await proving.stop();
    await record('app_public.units', 0);

    expect(openOf(judgements).map(line)).toEqual([]);
    expect(judgements.filter((one) => changed.includes(one.relation) && !one.isByPrivilege).length).toBeGreaterThan(20);
  });

  it('counts for nothing in what the rows were', async () => {
    await record('app_public.users');
    const person = await createViewer(tenant, { fullName: 'Before' });
    const [{ now }] = await query('select clock_timestamp()::text as now');
    await read(graph, person.token, '{ viewer { fullName } }');
    await query(`update app_public.users set full_name = 'After' where id = $1`, person.uuid);

    const visible = await query(
      `select value ->> 'full_name' as name from audit.visible_at('me:' || $1, $2) where relation = 'app_public.users'::regclass`,
      ...[person.uuid, now],
    );
    expect(visible).toEqual([{ name: 'Before' }]);
  });

  it('refuses what is no share, a view, and all but the owner', async () => {
    const refused = (statement: string, role = 'none') =>
      expect(undone(graph.database.owner, `set local role ${role}`, `select ${statement}`)).rejects;

    await refused(`audit.record_reads('app_public.users', 1.1)`).toMatchObject({ code: '22023' });
    await refused(`audit.record_reads('app_public.users', 'nan')`).toMatchObject({ code: '22023' });
    await refused(`audit.record_reads('app_public.app')`).toMatchObject({ code: '22023' });
    for (const role of ['graph_app', 'graph_user', 'graph_oauth', 'graph_auditor']) {
      await refused(`audit.record_reads('app_public.users')`, role).toMatchObject({ code: '42501' });
      await refused(`audit.record_read('app_public.users', 1)`, role).toMatchObject({ code: '42501' });
    }
  });
});
